// /api/v1/valgrind, in builds with valgrind support: requests a leak check. The request only stores the mode, the newest wins; a
// fiber runs the check after the response was sent, so that the request's own memory is not in the report.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "api/common/server_info.hpp"
#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "io/process/leak_check.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class ValgrindHandler final : public session::http::Handler {
public:
    // From the request to the check.
    static constexpr std::chrono::milliseconds kPause{1500};
    using Check = std::function<void(io::LeakCheck)>;

    // All outlive this. `check` must not suspend.
    ValgrindHandler(const ServerInfo& server, const Log& log, Check check)
        : server_(server), log_(log), check_(std::move(check)) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;
    // Runs requested checks, until cancelled.
    void run(io::Deadline deadline, std::chrono::milliseconds pause = kPause);

private:
    const ServerInfo& server_;
    const Log& log_;
    Check check_;
    std::optional<io::LeakCheck> requested_;
    Signal is_requested_;
};

}  // namespace live::api
