#include "api/debug/fibers_handler.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "api/common/page.hpp"
#include "base/text/json_text.hpp"
#include "io/fibers/loop.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;

namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(io::FiberState state) {
    switch (state) {
        case io::FiberState::running: return "running";
        case io::FiberState::runnable: return "runnable";
        case io::FiberState::waiting: return "waiting";
        default: return "waiting with a deadline";
    }
}

double seconds_of(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

Json json_of(const io::FiberInfo& fiber) {
    return {{"id", fiber.id},
            {"name", fiber.name},
            {"scope", fiber.scope},
            {"age_seconds", seconds_of(fiber.age)},
            {"state", name_of(fiber.state)},
            {"waits_for", fiber.waits_for},
            {"due_in_seconds", fiber.due_in ? Json(seconds_of(*fiber.due_in)) : Json(nullptr)},
            {"cancelled", fiber.cancelled},
            {"stack_high_water_bytes", fiber.stack_touched_bytes}};
}

}  // namespace

Reply FibersHandler::handle(const Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const io::LoopCounters counters = io::Loop::counters();
    Json fibers = Json::array();
    for (const io::FiberInfo& fiber : io::list_fibers(page->start, std::min(page->count, kMost)))
        fibers.push_back(json_of(fiber));
    const Json data = {{"total", counters.fibers + 1}, {"stack_bytes", counters.stack_bytes}, {"fibers", std::move(fibers)}};
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

}  // namespace live::api
