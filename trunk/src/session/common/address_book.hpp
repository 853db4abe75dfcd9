// AddressBook: how much each address has of what there are bounds for, and how fast it asks for more. An IPv6 address counts as
// its network of 64 bits, which is what one customer gets. Dry: the time is given.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>

#include "base/ip_network.hpp"
#include "base/time.hpp"

namespace live::session {

class AddressBook {
public:
    enum class Use : std::uint8_t { connection, half_open, viewer };
    static constexpr std::size_t kUses = 3;

    // Of one address.
    struct Bounds {
        std::size_t at_once = 0;
        std::uint32_t per_second = 0;  // 0: as fast as it likes
    };
    // An address that was quiet may ask for as much at once as for the rate in this time.
    static constexpr std::chrono::seconds kBurst{10};
    // Addresses that have nothing at the moment and are only remembered for their rate. Beyond it the oldest is forgotten.
    static constexpr std::size_t kRestingMax = 16'384;

    enum class Answer : std::uint8_t { taken, too_many, too_fast };
    // Whether asking counts for the rate.
    enum class Pace : bool { counts, is_free };

    static IpAddress group_of(const IpAddress& address);

    void set_bounds(Use use, Bounds bounds) { bounds_[index_of(use)] = bounds; }
    Bounds bounds(Use use) const { return bounds_[index_of(use)]; }
    // For an address that group_of() gave. What was taken is given back with leave().
    Answer enter(const IpAddress& group, Use use, Pace pace, TimePoint now);
    void leave(const IpAddress& group, Use use);

    std::size_t in_use(const IpAddress& group, Use use) const;
    // Addresses that are remembered: at most those that have something, and kRestingMax.
    std::size_t size() const { return entries_.size(); }
    std::size_t bytes() const;

private:
    struct Entry {
        std::array<std::uint32_t, kUses> in_use{};
        // When so much time has gone by without a question that a whole burst is allowed again.
        std::array<TimePoint, kUses> rested_at{};
        std::list<IpAddress>::iterator resting{};  // while it has nothing
        bool is_resting = false;

        bool has_nothing() const;
        bool is_rested(TimePoint now) const;
    };
    using Entries = std::map<std::array<std::uint8_t, 16>, Entry>;

    static constexpr std::size_t index_of(Use use) { return static_cast<std::size_t>(use); }
    void rest(Entries::iterator at);
    void forget(const IpAddress& group);

    std::array<Bounds, kUses> bounds_{};
    // A tree: strangers choose the keys, and could choose those that a hash puts into one place.
    Entries entries_;
    std::list<IpAddress> resting_;  // the oldest first
    TimePoint now_;                 // when somebody last asked
};

}  // namespace live::session
