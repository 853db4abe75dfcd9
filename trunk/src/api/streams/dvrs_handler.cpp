#include "api/streams/dvrs_handler.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "api/common/page.hpp"
#include "base/text/json_text.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const service::dvr::DvrService::Listed& recording) {
    const auto& state = recording.state;
    return {{"stream_url", recording.url},
            {"active", recording.is_active},
            {"file", state.file},
            {"duration", std::chrono::duration<double>(state.duration).count()},
            {"bytes", state.bytes},
            {"files", state.files},
            {"error", state.error.empty() ? Json(nullptr) : Json(state.error)}};
}

}  // namespace

Reply DvrsHandler::handle(const Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const auto all = recordings_.list();
    Json shown = Json::array();
    for (std::size_t i = page->start; i < all.size() && shown.size() < page->count; ++i)
        shown.push_back(json_of(all[i]));
    return json_reply(request, list_envelope(server_, "dvrs", text_of(shown), *page, all.size()));
}

}  // namespace live::api
