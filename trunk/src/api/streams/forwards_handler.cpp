#include "api/streams/forwards_handler.hpp"

#include "io/fibers/loop.hpp"

namespace live::api {

session::http::Reply ForwardsHandler::handle(const session::http::Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const auto all = forwards_.list();
    ListAnswer answer(request);
    for (std::size_t i = page->start; i < all.size() && answer.size() < page->count; ++i) {
        Row forward = forward_row(all[i], io::now());
        forward.fields.insert(forward.fields.begin(), {"stream_url", all[i].url});
        forward.add("worker", engine::workers::Workers());
        answer.add(forward);
    }
    return answer.reply(server_, "forwards", *page, all.size());
}

}  // namespace live::api
