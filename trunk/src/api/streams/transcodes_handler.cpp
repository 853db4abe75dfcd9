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
        case idle: return "idle";
        case waiting: return "waiting";
        case running: return "running";
        case pausing: return "pausing";
        case unusable: break;
    }
    return "unusable";
}

std::string_view name_of(service::engines::EngineJob::Phase phase) {
    using enum service::engines::EngineJob::Phase;
    switch (phase) {
        case waiting: return "waiting";
        case running: return "running";
        case pausing: return "pausing";
        case idle: break;
    }
    return "idle";
}

Rows rungs_of(const service::ladder::Ladder::State& state) {
    Rows rows;
    for (const service::ladder::Rung& rung : state.rungs)
        rows.push_back({{"name", rung.name}, {"codec", rung.vcodec}, {"height", rung.height}, {"kbps", rung.kbps}});
    return rows;
}

// Adds the fields that both kinds have: those of the state, and of the running child.
template <class State, class Child>
void add_process(Row& row, const State& state, const std::optional<Child>& child) {
    const auto usage = child ? io::usage_of(child->pid) : std::nullopt;
    const auto of_child = [&child](auto read) {
        return child ? std::optional(read(*child)) : std::optional<decltype(read(*child))>();
    };
    const Row more = {{"state", name_of(state.phase)},
                      {"starts", state.starts},
                      {"last_end", state.last_end.empty() ? std::nullopt : std::optional(state.last_end)},
                      {"dropped_packets", state.dropped_packets + (child ? child->dropped_packets : 0)},
                      {"pid", of_child([](const Child& its) { return its.pid; })},
                      {"frames", of_child([](const Child& its) { return its.progress.frames; })},
                      {"fps", of_child([](const Child& its) { return its.progress.fps; })},
                      {"speed", of_child([](const Child& its) { return its.progress.speed; })},
                      {"dropped_frames", of_child([](const Child& its) { return its.progress.dropped; })},
                      {"output_bytes", of_child([](const Child& its) { return its.output_bytes; })},
                      {"cpu_seconds", usage ? std::optional(usage->cpu_seconds) : std::nullopt},
                      {"memory_bytes", usage ? std::optional(usage->resident_bytes) : std::nullopt},
                      {"worker", engine::workers::Workers()}};
    row.fields.insert(row.fields.end(), more.fields.begin(), more.fields.end());
}

Row row_of(const service::ladder::LadderService::Listed& one) {
    Row row = {{"stream_url", one.url},
               {"kind", "ladder"},
               {"engine", std::optional<std::string>()},
               {"output", std::optional<std::string>()},
               {"renditions", rungs_of(one.state)}};
    add_process(row, one.state, one.child);
    return row;
}

Row row_of(const service::engines::EngineService::Listed& one) {
    Row row = {{"stream_url", one.url},
               {"kind", "engine"},
               {"engine", std::optional(one.engine)},
               {"output", std::optional(one.output)},
               {"renditions", Rows()}};
    add_process(row, one.state, one.child);
    return row;
}

}  // namespace

Reply TranscodesHandler::handle(const Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const auto ladders = ladders_.list();
    const auto engines = engines_.list();
    const std::size_t total = ladders.size() + engines.size();
    ListAnswer answer(request);
    for (std::size_t i = page->start; i < total && answer.size() < page->count; ++i)
        answer.add(i < ladders.size() ? row_of(ladders[i]) : row_of(engines[i - ladders.size()]));
    return answer.reply(server_, "transcodes", *page, total);
}

}  // namespace live::api
