// /api/v1/upgrade: POST starts the program anew beside this process, which hands its new clients over to it, as SIGUSR2 does. GET
// reports the result, and the remaining clients of the old processes. The workers of one program are one entry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/common/server_info.hpp"
#include "api/system/drain_handler.hpp"
#include "service/workers/worker_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

struct UpgradeFacts {
    enum class State : std::uint8_t { serving, starting, draining };
    State state = State::serving;
    // The process of the pid file.
    std::int64_t pid = 0;
    // The result of the last attempt.
    std::optional<std::uint32_t> successor;
    std::string error{};
};

// app implements it.
class UpgradeControl {
public:
    virtual ~UpgradeControl() = default;
    virtual UpgradeFacts upgrade_facts() const = 0;
    // Returns the pid of the new program when it serves, or the reason why it does not. Errc::conflict during another upgrade.
    virtual Result<std::uint32_t> upgrade(io::Deadline deadline) = 0;
};

class UpgradeHandler final : public session::http::Handler {
public:
    static constexpr std::string_view kPath = "/api/v1/upgrade";
    static constexpr std::chrono::milliseconds kAnswerLimit{1'500};

    // All outlive this.
    UpgradeHandler(const ServerInfo& server, UpgradeControl& control, DrainControl& drain,
                   service::workers::WorkerService& workers)
        : server_(server), control_(control), drain_(drain), workers_(workers) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    std::string data(const UpgradeFacts& facts) const;
    std::string with_others(const std::string& own, io::Deadline deadline) const;

    const ServerInfo& server_;
    UpgradeControl& control_;
    DrainControl& drain_;
    service::workers::WorkerService& workers_;
};

}  // namespace live::api
