// ConnectionLimits: accounts for the clients the process serves, over all protocols and per address, including unauthenticated
// ones. Every client must have a place before it is served. Refusals are logged, one line per reason every few seconds. Each
// worker accounts for its own clients, and the limits hold for all workers (share()). The memory of these clients is accounted
// for in memory().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "base/net/ip_network.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/workers/shared_limits.hpp"
#include "session/limits/limit_options.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/limits/per_address_limits.hpp"
#include "session/limits/proxy_rules.hpp"
#include "session/limits/refusals.hpp"

namespace live::session {

class ConnectionLimits final : private AddressGroups, public ProxyRules {
public:
    // Half of the places: the other half is for new clients.
    static constexpr std::size_t kCrowdedShare = 2;
    // In addition to max(), for the API: an operator gets in when everything else is taken.
    static constexpr std::size_t kKeptForControl = 10;

    enum class Kind : std::uint8_t {
        client,     // a connection
        control,    // a connection to a listener with the API but without streams
        either,     // a connection to a listener with both: a trusted address may get a reserved place
        half_open,  // an offer of WebRTC, until its client has proved its address: has its own bound, not a client yet
        viewer,     // an HLS or DASH player, whose connections are counted anyway: bounded per address only
    };

    // Named after the options that set the bounds.
    enum class Reason : std::uint8_t {
        max_connections,
        connections_per_ip,
        new_connections_per_ip,
        rtc_half_open,
        rtc_half_open_per_ip,
        rtc_offers_per_ip,
        hls_sessions_per_ip,
        handshakes,  // bounds of the worker thread for handshakes, without an option
        handshakes_per_ip,
    };
    static constexpr std::size_t kReasons = 9;

    // The place of one client; released when destroyed, which must be before the ConnectionLimits are.
    class Place {
    public:
        Place(Place&& other) noexcept;
        Place& operator=(Place&&) = delete;
        ~Place();

        // For a half-open one: its client has connected, and counts as a client from now on. Errc::limit when there is no place
        // for it.
        Result<void> arrive(TimePoint now);
        // Sets the size of the object that has the place, after the place was moved to another object.
        void set_bytes(std::size_t bytes);

    private:
        friend class ConnectionLimits;
        Place(ConnectionLimits& places, Kind kind, std::optional<IpAddress> group, std::size_t bytes);

        ConnectionLimits* places_;
        Kind kind_;
        std::optional<IpAddress> group_;  // none: trusted
        std::size_t bytes_;
    };

    // The log outlives this.
    ConnectionLimits(std::size_t max, const Log& log, const LimitOptions& options = {});
    ConnectionLimits(const ConnectionLimits&) = delete;
    ConnectionLimits& operator=(const ConnectionLimits&) = delete;

    // Call before the first client. From then on, the counts of other workers apply too.
    void share(engine::workers::SharedLimits& shared_limits) { shared_limits_ = &shared_limits; }

    // For a client at `ip`, whose object takes `bytes`. Errc::limit.
    Result<Place> take(Kind kind, std::string_view ip, std::size_t bytes, TimePoint now);

    // A further place for a client that has one, for a request beside others on one connection: not counted as a new connection.
    // Errc::limit.
    Result<Place> take_another(Kind kind, std::string_view ip, std::size_t bytes, TimePoint now);

    // Lower limits only refuse new clients; they disconnect none.
    void set_limits(std::size_t max, const LimitOptions& options);
    std::size_t max() const { return max_; }
    std::size_t used() const { return used_; }
    std::size_t half_open() const { return half_open_; }
    // Reports whether so many places are taken, here and on other workers, that idle clients should not keep theirs.
    bool is_crowded() const;
    // Total size of the objects that have a place, without other memory that they own.
    std::size_t bytes() const { return bytes_; }
    const PerAddressLimits& addresses() const { return addresses_; }
    MemoryBudget& memory() { return memory_; }
    const MemoryBudget& memory() const { return memory_; }
    const LimitOptions& limits() const { return options_; }
    // Returns the address whose limits apply; nullopt if the address is trusted. All clients without an IP address share one.
    std::optional<IpAddress> group_of(std::string_view ip) const override;
    // limits.proxy_protocol: whether this address is in `trusted`.
    bool sends_proxy_header(std::string_view ip) const override;
    // For limits that are counted elsewhere: as Refusals::add.
    Error refuse(Reason reason, std::string_view ip, std::size_t bound, TimePoint now);
    // For a limit of one protocol, which owns its refusals.
    Error refuse(Refusals& by, std::string_view ip, std::size_t bound, TimePoint now) const {
        return by.add(ip, bound, log_, now);
    }
    std::uint64_t refused(Reason reason) const { return refusals_[static_cast<std::size_t>(reason)].count(); }
    std::span<const Refusals, kReasons> refusals() const { return refusals_; }

private:
    bool is_trusted(const IpAddress& address) const;
    std::size_t connections_per_address() const;
    std::size_t places_for(Kind kind, bool is_trusted) const;
    Result<Place> try_take(Kind kind, std::string_view ip, std::size_t bytes, PerAddressLimits::Pace pace, TimePoint now);
    // Reports whether there is room for one more than `own`. Workers that take a place at the same time never use the same room.
    bool has_room(engine::workers::SharedLimits::Sum sum, std::size_t own, std::size_t bound);
    void tell_others();
    PerAddressLimits::Answer enter_everywhere(const IpAddress& group, PerAddressLimits::Use use, PerAddressLimits::Pace pace,
                                              TimePoint now);
    void leave_address(const IpAddress& group, PerAddressLimits::Use use);
    Result<void> enter_address(Kind kind, const IpAddress& group, std::string_view ip, PerAddressLimits::Pace pace,
                               TimePoint now);
    void count(const Place& place, int change);

    const Log& log_;
    LimitOptions options_;
    std::vector<IpNetwork> trusted_;
    std::vector<IpNetwork> proxies_;
    std::size_t max_;
    std::size_t used_ = 0;
    std::size_t half_open_ = 0;
    std::size_t bytes_ = 0;
    PerAddressLimits addresses_;
    engine::workers::SharedLimits* shared_limits_ = nullptr;
    std::array<Refusals, kReasons> refusals_;
    MemoryBudget memory_{*this};
};

}  // namespace live::session
