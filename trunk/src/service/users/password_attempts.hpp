// PasswordAttempts: slows down addresses that send wrong passwords: each failure of an address doubles the time until its next
// check. An IPv6 address counts as its /64 network. Dry: the caller passes the time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>

#include "base/net/ip_network.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace live::service::users {

class PasswordAttempts {
public:
    static constexpr Duration kFirstPause = std::chrono::milliseconds(100);
    static constexpr Duration kPauseMax = std::chrono::seconds(30);
    // An address without failures for so long begins anew.
    static constexpr Duration kForgottenAfter = std::chrono::minutes(10);
    // Checks of one address at once.
    static constexpr std::size_t kPendingMax = 4;
    // Beyond this, the address whose last failure is the oldest is forgotten.
    static constexpr std::size_t kAddressesMax = 16'384;

    // Reports whether a check of the address is refused at this time because of its failures.
    bool must_wait(const IpAddress& address, TimePoint now) const;
    // Errc::limit while the address must wait. Otherwise end() must follow.
    Result<void> begin(const IpAddress& address, TimePoint now);
    enum class Outcome : std::uint8_t { right, wrong, not_checked };
    void end(const IpAddress& address, Outcome outcome, TimePoint now);

    std::size_t size() const { return entries_.size(); }
    std::uint64_t failures() const { return failures_; }
    // Attempts that had to wait.
    std::uint64_t refused() const { return refused_; }

private:
    using Key = std::array<std::uint8_t, 16>;
    struct Entry {
        std::size_t pending = 0;
        std::uint32_t failures = 0;
        TimePoint failed_at{};
        TimePoint free_at{};
        std::list<Key>::iterator age{};
    };
    using Entries = std::map<Key, Entry>;  // strangers choose the keys, and could choose colliding ones for a hash table

    void erase(Entries::iterator at);
    void make_room();

    Entries entries_;
    std::list<Key> by_age_;  // by the last failure, oldest first
    std::uint64_t failures_ = 0;
    std::uint64_t refused_ = 0;
};

}  // namespace live::service::users
