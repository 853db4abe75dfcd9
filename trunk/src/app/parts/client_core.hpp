// ClientCore: the clients of this process over all protocols: their table, their limits and memory budget, their tokens, their
// statistics, and the access log.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "app/parts/part.hpp"
#include "app/vhosts/vhost_table.hpp"
#include "app/wiring/server_names.hpp"
#include "base/bytes/bytes.hpp"
#include "base/log/log.hpp"
#include "media/source/stream_table.hpp"
#include "service/access_log/access_log.hpp"
#include "service/admission/access_policy.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/stats/stream_stats.hpp"
#include "service/tokens/token_service.hpp"
#include "service/users/user_service.hpp"
#include "session/common/client_table.hpp"
#include "session/limits/connection_limits.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class ClientCore final : public Part {
public:
    // All must outlive this.
    ClientCore(const settings::CurrentSettings& settings, const ServerNames& names, media::StreamTable& streams,
               std::size_t connections_max, const Log& log);
    ClientCore(const ClientCore&) = delete;
    ClientCore& operator=(const ClientCore&) = delete;

    session::ClientTable& table() { return table_; }
    session::ConnectionLimits& places() { return places_; }
    const session::ConnectionLimits& places() const { return places_; }
    service::stats::StreamStats& stats() { return stats_; }
    service::access_log::AccessLog& access_log() { return access_log_; }
    const service::tokens::KeyRing& keys() const { return tokens_.keys(); }
    service::users::UserService& users() { return users_; }
    const VhostTable& vhosts() const { return vhosts_; }
    // The read buffer of all clients, used between two suspensions.
    MutBytes scratch() const { return scratch_->bytes; }

    // Applies the limits of the current settings.
    void set_limits(std::size_t connections_max);
    // Kicks clients of removed or disabled virtual hosts. For the others, applies the options of their streams that may change at
    // runtime.
    void apply_vhosts(const service::admission::VhostPolicy& vhosts);
    // Kicks clients whose rights a reload has taken away.
    void apply_access(const service::admission::AccessPolicy& access);
    // Kicks the publisher of a stream; a pull of this server continues.
    void kick_publisher(const std::string& url, const std::string& why);
    // Asks every publisher to end its session.
    void ask_publishers_to_leave();

    void add_services(service::ServiceList& services) override;

private:
    // malloc would place it 16 bytes into a page, where a copy from the page cache takes three times as long.
    struct alignas(4096) Scratch {
        std::array<std::uint8_t, 128 * 1024> bytes;
    };

    const settings::CurrentSettings& settings_;
    const ServerNames& names_;
    media::StreamTable& streams_;
    const Log& log_;
    VhostTable vhosts_;
    service::stats::StreamStats stats_;
    service::access_log::AccessLog access_log_;
    session::ClientTable table_;
    service::tokens::TokenService tokens_;
    service::users::UserService users_;
    session::ConnectionLimits places_;
    const std::unique_ptr<Scratch> scratch_ = std::make_unique<Scratch>();
};

}  // namespace live::app
