#include "api/debug/memory_handler.hpp"

#include <chrono>
#include <utility>

#include "api/common/rows.hpp"
#include "io/fibers/deadline.hpp"
#include "wire/http/status.hpp"

namespace live::api {
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

namespace {

using wire::http::Status;

struct Growth {
    std::int64_t objects = 0;
    std::optional<std::int64_t> bytes;
};

std::int64_t growth(std::uint64_t before, std::uint64_t now) { return static_cast<std::int64_t>(now - before); }

Growth growth_of(const MemoryKind& before, const MemoryKind& now) {
    Growth grown{growth(before.objects, now.objects), {}};
    if (before.bytes && now.bytes)
        grown.bytes = growth(*before.bytes, *now.bytes);
    return grown;
}

template <class Counts>
Row row_of(const Counts& counts) {
    return {{"objects", counts.objects, kAdd}, {"bytes", counts.bytes, kAdd}};
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
    Row shown;
    MemoryKind all{{}, 0, 0};
    Growth all_growth{.bytes = 0};
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        Row kind = row_of(kinds[i]);
        all.objects += kinds[i].objects;
        *all.bytes += kinds[i].bytes.value_or(0);
        if (since) {
            const Growth grown = growth_of(mark_->kinds[i], kinds[i]);
            all_growth.objects += grown.objects;
            *all_growth.bytes += grown.bytes.value_or(0);
            kind.add("growth", row_of(grown));
        }
        shown.add(kinds[i].name, std::move(kind));
    }
    const auto lasted = since ? std::optional(std::chrono::duration<double>(now - mark_->when).count()) : std::nullopt;
    Row data = {{"since_seconds", lasted}, {"kinds", std::move(shown)}};
    if (asks_report(request)) {  // the sum lists each worker's own
        Row own = row_of(all);
        own.fields.insert(own.fields.begin(), {"worker", engine::workers::Workers()});
        if (since)
            own.add("growth", row_of(all_growth));
        data.add("workers", Rows{std::move(own)}, kAdd);
    }
    if (request.target.query.get("mark") == "1")
        mark_ = Mark{now, std::move(kinds)};
    return row_reply(request, server_, "data", data);
}

}  // namespace live::api
