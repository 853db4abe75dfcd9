#include "api/streams/transcodes_handler.hpp"

#include "api/common/rows.hpp"
#include "io/process/process_usage.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;

namespace {

std::string_view name_of(service::ladder::Ladder::Phase phase) {
    using enum service::ladder::Ladder::Phase;
    switch (phase) {
        case waiting: return "waiting";
        case running: return "running";
        case pausing: return "pausing";
        case unusable: break;
    }
    return "unusable";
}

Rows rungs_of(const service::ladder::Ladder::State& state) {
    Rows rows;
    for (const service::ladder::Rung& rung : state.rungs)
        rows.push_back({{"name", rung.name}, {"codec", rung.vcodec}, {"height", rung.height}, {"kbps", rung.kbps}});
    return rows;
}

Row row_of(const service::ladder::LadderService::Listed& one) {
    using Child = service::ladder::LadderChild::State;
    const std::optional<Child>& child = one.child;
    const auto usage = child ? io::usage_of(child->pid) : std::nullopt;
    const auto of_child = [&child](auto read) {
        return child ? std::optional(read(*child)) : std::optional<decltype(read(*child))>();
    };
    return {{"stream_url", one.url},
            {"kind", "ladder"},
            {"state", name_of(one.state.phase)},
            {"renditions", rungs_of(one.state)},
            {"starts", one.state.starts},
            {"last_end", one.state.last_end.empty() ? std::nullopt : std::optional(one.state.last_end)},
            {"dropped_packets", one.state.dropped_packets + (child ? child->dropped_packets : 0)},
            {"pid", of_child([](const Child& its) { return its.pid; })},
            {"frames", of_child([](const Child& its) { return its.progress.frames; })},
            {"fps", of_child([](const Child& its) { return its.progress.fps; })},
            {"speed", of_child([](const Child& its) { return its.progress.speed; })},
            {"dropped_frames", of_child([](const Child& its) { return its.progress.dropped; })},
            {"output_bytes", of_child([](const Child& its) { return its.output_bytes; })},
            {"cpu_seconds", usage ? std::optional(usage->cpu_seconds) : std::nullopt},
            {"memory_bytes", usage ? std::optional(usage->resident_bytes) : std::nullopt},
            {"worker", engine::workers::Workers()}};
}

}  // namespace

Reply TranscodesHandler::handle(const Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const auto all = ladders_.list();
    ListAnswer answer(request);
    for (std::size_t i = page->start; i < all.size() && answer.size() < page->count; ++i)
        answer.add(row_of(all[i]));
    return answer.reply(server_, "transcodes", *page, all.size());
}

}  // namespace live::api
