#include "service/users/password_attempts.hpp"

#include <algorithm>

#include "session/limits/per_address_limits.hpp"

namespace live::service::users {

bool PasswordAttempts::must_wait(const IpAddress& address, TimePoint now) const {
    const auto found = entries_.find(session::PerAddressLimits::group_of(address).bytes);
    return found != entries_.end() && now < found->second.free_at;
}

Result<void> PasswordAttempts::begin(const IpAddress& address, TimePoint now) {
    const Key key = session::PerAddressLimits::group_of(address).bytes;
    auto found = entries_.find(key);
    if (found != entries_.end() && found->second.pending == 0 && now - found->second.failed_at >= kForgottenAfter) {
        erase(found);
        found = entries_.end();
    }
    if (found == entries_.end()) {
        make_room();
        found = entries_.emplace(key, Entry()).first;
        found->second.age = by_age_.insert(by_age_.end(), key);
    }
    Entry& entry = found->second;
    if (now < entry.free_at || entry.pending >= kPendingMax) {
        ++refused_;
        return Error(Errc::limit, "too many wrong passwords from this address: wait some seconds");
    }
    ++entry.pending;
    return {};
}

void PasswordAttempts::end(const IpAddress& address, Outcome outcome, TimePoint now) {
    const auto found = entries_.find(session::PerAddressLimits::group_of(address).bytes);
    if (found == entries_.end())
        return;
    Entry& entry = found->second;
    entry.pending -= std::min<std::size_t>(entry.pending, 1);
    if (outcome != Outcome::wrong) {
        if (entry.pending == 0 && entry.failures == 0)
            erase(found);
        return;
    }
    ++failures_;
    constexpr std::uint32_t kDoublings = 16;
    const Duration pause = kFirstPause * (1U << std::min(entry.failures, kDoublings));
    ++entry.failures;
    entry.failed_at = now;
    entry.free_at = std::max(entry.free_at, now + std::min(pause, kPauseMax));
    by_age_.splice(by_age_.end(), by_age_, entry.age);
}

void PasswordAttempts::erase(Entries::iterator at) {
    by_age_.erase(at->second.age);
    entries_.erase(at);
}

// The checks of addresses are far fewer than the table: one without a check is soon found.
void PasswordAttempts::make_room() {
    if (entries_.size() < kAddressesMax)
        return;
    for (const Key& key : by_age_) {
        const auto found = entries_.find(key);
        if (found->second.pending > 0)
            continue;
        erase(found);
        return;
    }
}

}  // namespace live::service::users
