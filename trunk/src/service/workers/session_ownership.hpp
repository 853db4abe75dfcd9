// SessionOwnership: the worker that owns the session of an HLS or DASH player. Other workers request the player's admission from
// the owner, and report to it every second the bytes that they have sent to the player (service/files/homes.hpp).
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "service/files/homes.hpp"
#include "service/files/sessions.hpp"
#include "service/service.hpp"
#include "service/workers/worker_service.hpp"
#include "session/http/handler.hpp"

namespace live::service::workers {

class SessionOwnership final : public files::Homes, public session::http::Handler, public Service {
public:
    // On the connections between workers only.
    static constexpr std::string_view kPath = "/workers/sessions";
    static constexpr std::chrono::seconds kTellPeriod{1};
    static constexpr std::chrono::seconds kTellLimit{2};
    // An operator's callbacks may take as long.
    static constexpr std::chrono::seconds kOpenLimit{60};
    static constexpr std::size_t kUpdatesMax = 2'000;

    // All outlive this. `secret` is the workers'.
    SessionOwnership(WorkerService& workers, files::Sessions& sessions, std::string secret, Log log)
        : workers_(workers), sessions_(sessions), secret_(std::move(secret)), log_(std::move(log)) {}

    // files::Homes
    bool is_elsewhere(std::string_view name) const override;
    std::string name_for(std::string_view key) const override;
    Result<bool> open(const session::ClientRequest& request, Duration idle_limit, io::Deadline deadline) override;

    // session::http::Handler
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

    // Service
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    std::string_view name() const override { return "the sessions of all workers"; }

private:
    using SessionUpdate = files::Sessions::SessionUpdate;

    engine::workers::Worker home_of(std::string_view name) const;
    void run(io::Deadline deadline);
    void tell(engine::workers::Worker home, const std::vector<SessionUpdate>& updates, io::Deadline deadline);
    std::string admit(const std::string& body, io::Deadline deadline);
    std::string note(const std::string& body);

    WorkerService& workers_;
    files::Sessions& sessions_;
    const std::string secret_;
    const Log log_;
};

}  // namespace live::service::workers
