// PerAddressLimits: how much of each bounded resource every address holds, and its request rate. An IPv6 address counts as its
// /64 network, the usual allocation of one customer. Dry: the caller passes the time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>

#include "base/net/ip_network.hpp"
#include "base/time.hpp"

namespace live::session {

class PerAddressLimits {
public:
    enum class Use : std::uint8_t { connection, half_open, viewer };
    static constexpr std::size_t kUses = 3;

    // The limits of one address.
    struct Bounds {
        std::size_t at_once = 0;
        std::uint32_t per_second = 0;  // 0: unlimited
    };
    // Burst size: a quiet address may make as many requests at once as the rate permits in this time.
    static constexpr std::chrono::seconds kBurst{10};
    // Addresses that hold nothing and are only remembered for their rate. Beyond this the oldest is forgotten.
    static constexpr std::size_t kRestingMax = 16'384;

    enum class Answer : std::uint8_t { taken, too_many, too_fast };
    // Whether a request counts towards the rate.
    enum class Pace : bool { counts, is_free };

    static IpAddress group_of(const IpAddress& address);

    void set_bounds(Use use, Bounds bounds) { bounds_[index_of(use)] = bounds; }
    Bounds bounds(Use use) const { return bounds_[index_of(use)]; }
    // For an address returned by group_of(). The caller must release a granted entry with leave().
    Answer enter(const IpAddress& group, Use use, Pace pace, TimePoint now);
    void leave(const IpAddress& group, Use use);

    std::size_t in_use(const IpAddress& group, Use use) const;
    // Remembered addresses: at most those that hold something, plus kRestingMax.
    std::size_t size() const { return entries_.size(); }
    std::size_t bytes() const;

private:
    struct Entry {
        std::array<std::uint32_t, kUses> in_use{};
        // When a full burst is allowed again, if there are no requests until then.
        std::array<TimePoint, kUses> rested_at{};
        std::list<IpAddress>::iterator resting{};  // while it holds nothing
        bool is_resting = false;

        bool has_nothing() const;
        bool is_rested(TimePoint now) const;
    };
    using Entries = std::map<std::array<std::uint8_t, 16>, Entry>;

    static constexpr std::size_t index_of(Use use) { return static_cast<std::size_t>(use); }
    void rest(Entries::iterator at);
    void forget(const IpAddress& group);

    std::array<Bounds, kUses> bounds_{};
    // A tree: strangers choose the keys, and could choose colliding ones for a hash table.
    Entries entries_;
    std::list<IpAddress> resting_;  // oldest first
    TimePoint now_;                 // time of the last request
};

}  // namespace live::session
