#include "api/debug/valgrind_handler.hpp"

#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/log/log_format.hpp"
#include "base/text/json_text.hpp"
#include "io/fibers/loop.hpp"

namespace live::api {

namespace {

using Json = nlohmann::ordered_json;
using session::http::Reply;
using session::http::Request;

struct Mode {
    io::LeakCheck how;
    std::string_view name;
    std::string_view call;
};

// The first is also the default for an unknown name.
constexpr std::array kModes = {Mode{io::LeakCheck::full, "full", "VALGRIND_DO_LEAK_CHECK"},
                               Mode{io::LeakCheck::quick, "quick", "VALGRIND_DO_QUICK_LEAK_CHECK"},
                               Mode{io::LeakCheck::added, "added", "VALGRIND_DO_ADDED_LEAK_CHECK"},
                               Mode{io::LeakCheck::changed, "changed", "VALGRIND_DO_CHANGED_LEAK_CHECK"},
                               Mode{io::LeakCheck::fresh, "new", "VALGRIND_DO_NEW_LEAK_CHECK"}};

const Mode& mode_named(std::string_view name) {
    for (const Mode& mode : kModes)
        if (mode.name == name)
            return mode;
    return kModes.front();
}

}  // namespace

Reply ValgrindHandler::handle(const Request& request, io::Deadline) {
    const Mode& mode = mode_named(request.target.query.get("check"));
    requested_ = mode.how;
    is_requested_.raise();
    const Json data = {
        {"check", mode.name},
        {"help", "check=full, quick, added, changed or new; the report is memcheck's, in some seconds, where it reports"},
        {"see", "https://valgrind.org/docs/manual/mc-manual.html#mc-manual.clientreqs"},
        {"call", mode.call}};
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

void ValgrindHandler::run(io::Deadline deadline, std::chrono::milliseconds pause) {
    while (io::wait(is_requested_, deadline).ok()) {
        if (!io::sleep(deadline.sooner(io::Deadline::after(pause))).ok())
            return;
        const io::LeakCheck how = *std::exchange(requested_, std::nullopt);
        static_cast<void>(is_requested_.consume());
        for (const Mode& mode : kModes)
            if (mode.how == how)
                LOG_INFO(log_, "query check={}", mode.name);
        check_(how);
    }
}

}  // namespace live::api
