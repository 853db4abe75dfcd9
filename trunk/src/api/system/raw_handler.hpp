// /api/v1/raw: the API's settings, and reloads, for clients without a shell on the machine.
#pragma once

#include <cstdint>
#include <string>

#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// app implements it. Must not suspend.
class RawControl {
public:
    struct Settings {
        bool enabled = false;  // the API
        std::string listen;
        bool crossdomain = false;
        bool raw_enabled = false;
        bool allow_reload = false;
        bool allow_query = false;
        bool allow_update = false;
    };

    // Progress of the last reload.
    enum class Stage : std::uint8_t { none = 0, parsing = 10, checking = 20, applying = 30, finished = 90 };
    struct Reload {
        int error = 0;
        std::string message;
        Stage stage = Stage::none;
        std::string id;
    };

    virtual ~RawControl() = default;
    virtual Settings settings() const = 0;
    // The reload begins soon after this has returned.
    virtual void request_reload() = 0;
    virtual Reload last_reload() const = 0;
};

class RawHandler final : public session::http::Handler {
public:
    // Both outlive this.
    RawHandler(const ServerInfo& server, RawControl& control) : server_(server), control_(control) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    session::http::Reply raw(const session::http::Request& request) const;
    session::http::Reply last_reload(const session::http::Request& request) const;

    const ServerInfo& server_;
    RawControl& control_;
};

}  // namespace live::api
