// /api/v1/drain: POST empties this server and then stops it, as SIGQUIT does; GET reports the progress.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"

namespace live::api {

struct DrainFacts {
    struct Clients {
        std::size_t publishers = 0;
        std::size_t players = 0;
    };
    bool is_draining = false;
    std::chrono::milliseconds lasted{};
    std::chrono::milliseconds limit{};  // of the drain; then the stop
    Clients clients;
    std::size_t asked = 0;             // clients that were asked to reconnect to another node
    std::uint64_t sent_elsewhere = 0;  // players that came and were redirected, since the start
};

// app implements it. Must not suspend.
class DrainControl {
public:
    virtual ~DrainControl() = default;
    virtual DrainFacts facts() const = 0;
    // The drain starts after this has returned.
    virtual void request_drain() = 0;
    // Whether the API requires authentication.
    virtual bool is_api_guarded() const = 0;
};

class DrainHandler final : public session::http::Handler {
public:
    static constexpr std::string_view kPath = "/api/v1/drain";

    // Both outlive this.
    DrainHandler(const ServerInfo& server, DrainControl& control) : server_(server), control_(control) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    DrainControl& control_;
};

}  // namespace live::api
