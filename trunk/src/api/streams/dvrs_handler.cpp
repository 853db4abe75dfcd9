#include "api/streams/dvrs_handler.hpp"

#include <chrono>

#include "api/common/rows.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;

namespace {

Row row_of(const service::dvr::DvrService::Listed& recording) {
    const auto& state = recording.state;
    return {{"stream_url", recording.url},
            {"active", recording.is_active},
            {"file", state.file},
            {"duration", std::chrono::duration<double>(state.duration).count()},
            {"bytes", state.bytes},
            {"files", state.files},
            {"error", state.error.empty() ? std::nullopt : std::optional(state.error)},
            {"worker", engine::workers::Workers()}};
}

}  // namespace

Reply DvrsHandler::handle(const Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const auto all = recordings_.list();
    ListAnswer answer(request);
    for (std::size_t i = page->start; i < all.size() && answer.size() < page->count; ++i)
        answer.add(row_of(all[i]));
    return answer.reply(server_, "dvrs", *page, all.size());
}

}  // namespace live::api
