// Places: the one accountant of how many clients the process serves, over all protocols and for each address, and of those that
// want to be one and have proved nothing yet. Everybody who begins to serve somebody asks here. It writes what it refuses into
// the log, a line for each reason every few seconds. The memory that those clients may take is accounted for in memory().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ip_network.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "session/common/address_book.hpp"
#include "session/common/limit_options.hpp"
#include "session/common/memory_budget.hpp"

namespace live::session {

class Places final : private AddressGroups {
public:
    // A half of the places: the rest is always free for who comes anew.
    static constexpr std::size_t kCrowdedShare = 2;
    // Behind max(), for the API: an operator gets in when everything else is taken.
    static constexpr std::size_t kKeptForControl = 10;
    static constexpr std::chrono::seconds kLogEvery{10};

    enum class Kind : std::uint8_t {
        client,     // a connection
        control,    // one to a listener that has the API, not the streams
        either,     // one to a listener that has both: a trusted address may get a kept place
        half_open,  // an offer of WebRTC, until its client has proved that it has come: bounded by itself, no client yet
        viewer,     // a player of HLS or DASH, whose connections are counted anyway: bounded for each address alone
    };

    // Named as the options that say how much.
    enum class Reason : std::uint8_t {
        max_connections,
        connections_per_ip,
        new_connections_per_ip,
        rtc_half_open,
        rtc_half_open_per_ip,
        rtc_offers_per_ip,
        hls_sessions_per_ip,
    };
    static constexpr std::size_t kReasons = 7;
    static std::string_view name_of(Reason reason);

    // What one client has; given back when destroyed, and before the Places go.
    class Place {
    public:
        Place(Place&& other) noexcept;
        Place& operator=(Place&&) = delete;
        ~Place();

        // Of a half-open one: its client has come, and is a client from now on. Errc::limit when there is no place for it.
        Result<void> arrive(TimePoint now);
        // What its object takes, when another has it now.
        void set_bytes(std::size_t bytes);

    private:
        friend class Places;
        Place(Places& places, Kind kind, std::optional<IpAddress> group, std::size_t bytes);

        Places* places_;
        Kind kind_;
        std::optional<IpAddress> group_;  // none: trusted
        std::size_t bytes_;
    };

    // The log outlives this.
    Places(std::size_t max, const Log& log, const LimitOptions& options = {});
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;

    // For a client at `ip`, whose object takes so many bytes. Errc::limit.
    Result<Place> take(Kind kind, std::string_view ip, std::size_t bytes, TimePoint now);

    // Lower limits send nobody away; they only let nobody in.
    void set_limits(std::size_t max, const LimitOptions& options);
    std::size_t max() const { return max_; }
    std::size_t used() const { return used_; }
    std::size_t half_open() const { return half_open_; }
    // So many places are taken that nobody should keep one without being served now.
    bool is_crowded() const { return used_ > max_ / kCrowdedShare; }
    // Of the objects that have a place, without what they own elsewhere.
    std::size_t bytes() const { return bytes_; }
    const AddressBook& addresses() const { return addresses_; }
    MemoryBudget& memory() { return memory_; }
    const MemoryBudget& memory() const { return memory_; }
    std::uint64_t refused(Reason reason) const { return refusals_[static_cast<std::size_t>(reason)].count; }

private:
    struct Refusals {
        std::uint64_t count = 0;
        std::uint64_t told = 0;  // of these, in the log
        std::optional<TimePoint> told_at;
    };

    // What has no address of a network is one stranger.
    std::optional<IpAddress> group_of(std::string_view ip) const override;
    bool is_trusted(const IpAddress& address) const;
    std::size_t connections_per_address() const;
    std::size_t places_for(Kind kind, bool is_trusted) const;
    Result<void> enter_address(Kind kind, const IpAddress& group, std::string_view ip, AddressBook::Pace pace, TimePoint now);
    void count(const Place& place, int change);
    Error refuse(Reason reason, std::string_view ip, std::size_t bound, TimePoint now);

    const Log& log_;
    LimitOptions options_;
    std::vector<IpNetwork> trusted_;
    std::size_t max_;
    std::size_t used_ = 0;
    std::size_t half_open_ = 0;
    std::size_t bytes_ = 0;
    AddressBook addresses_;
    std::array<Refusals, kReasons> refusals_{};
    MemoryBudget memory_{*this};
};

}  // namespace live::session
