#include "api/streams/forwards_handler.hpp"

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "api/common/page.hpp"
#include "base/text/json_text.hpp"
#include "io/fibers/loop.hpp"

namespace live::api {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

session::http::Reply ForwardsHandler::handle(const session::http::Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const auto all = forwards_.list();
    Json shown = Json::array();
    for (std::size_t i = page->start; i < all.size() && shown.size() < page->count; ++i) {
        Json forward = {{"stream_url", all[i].url}};
        forward.update(forward_json<Json>(all[i], io::now()));
        shown.push_back(std::move(forward));
    }
    return json_reply(request, list_envelope(server_, "forwards", text_of(shown), *page, all.size()));
}

}  // namespace live::api
