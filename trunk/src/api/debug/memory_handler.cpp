#include "api/debug/memory_handler.hpp"

#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/json_text.hpp"
#include "io/fibers/deadline.hpp"
#include "wire/http/status.hpp"

namespace live::api {
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

namespace {

using Json = nlohmann::ordered_json;
using wire::http::Status;

Json bytes_of(const MemoryKind& kind) { return kind.bytes ? Json(*kind.bytes) : Json(nullptr); }

std::int64_t growth(std::uint64_t before, std::uint64_t now) { return static_cast<std::int64_t>(now - before); }

Json growth_of(const MemoryKind& before, const MemoryKind& now) {
    const bool has_bytes = before.bytes && now.bytes;
    return {{"objects", growth(before.objects, now.objects)},
            {"bytes", has_bytes ? Json(growth(*before.bytes, *now.bytes)) : Json(nullptr)}};
}

}  // namespace

Reply MemoryHandler::handle(const Request& request, io::Deadline) {
    const auto since = request.target.query.find("since");
    if (since && *since != "mark")
        return error_reply(Status::bad_request, "since is mark");
    if (since && !mark_)
        return error_reply(Status::bad_request, "there is no mark: ask with mark=1 first");
    std::vector<MemoryKind> kinds = counts_.count();
    const TimePoint now = io::now();
    Json shown = Json::object();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        Json& kind = shown[kinds[i].name] = {{"objects", kinds[i].objects}, {"bytes", bytes_of(kinds[i])}};
        if (since)
            kind["growth"] = growth_of(mark_->kinds[i], kinds[i]);
    }
    Json data = {{"since_seconds", nullptr}, {"kinds", std::move(shown)}};
    if (since)
        data["since_seconds"] = std::chrono::duration<double>(now - mark_->when).count();
    if (request.target.query.get("mark") == "1")
        mark_ = Mark{now, std::move(kinds)};
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

}  // namespace live::api
