// UserService: verifies names and passwords by the users of the conf. Passwords are hashed off the loop, two at a time. A pair
// that was right is remembered until the next reload, as a keyed hash, and costs nothing then. An address that has sent wrong
// pairs must wait before a remembered pair too: otherwise its guesses would be compared with it at any rate. An address that has
// sent this pair itself need not wait.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/log/log.hpp"
#include "service/service.hpp"
#include "service/users/password_attempts.hpp"
#include "service/users/user.hpp"
#include "session/common/credentials.hpp"

namespace live::service::users {

class UserService final : public Service, public session::PasswordSource {
public:
    // Returns the users of the settings, the coming ones during a reload. Must not suspend.
    using Source = std::function<std::vector<UserOptions>()>;
    // Beyond this, no further pair is remembered, and no further address of one.
    static constexpr std::size_t kRememberedMax = 4096;
    static constexpr std::chrono::seconds kCheckLimit{10};

    UserService(Source source, const Log& log);

    // The user of that name and password. Errc::unauthenticated for a wrong one and for an address outside of the user's
    // networks, Errc::limit for an address that must wait, and while too many others are checked.
    Result<UserRef> check(std::string_view name, std::string_view password, std::string_view ip, io::Deadline deadline);
    // The same for a pair that was right before; nullptr for another one, and while the address must wait. Does not suspend.
    UserRef find_verified(std::string_view name, std::string_view password, std::string_view ip) const;
    // For credentials that the caller has compared itself: counts a wrong one like a wrong password. Errc::limit while the
    // address must wait, whether they are right or not. Does not suspend.
    Result<void> note_compared(std::string_view ip, bool is_right);
    // Whether the last reload has changed its password.
    bool has_new_password(const std::string& name) const { return changed_.contains(name); }
    // nullptr for an unknown name.
    UserRef find(std::string_view name) const { return users_.find(name); }
    const PasswordAttempts& attempts() const { return attempts_; }

    // session::PasswordSource
    bool has_users() const override { return !users_.empty(); }
    bool has_all_as(Form form) const override { return users_.has_all_as(form); }
    Result<void> prove(std::string_view user, std::string_view ip, Form form,
                       const std::function<bool(const session::StoredPassword& password)>& is_right) override;

    // Service
    std::string_view name() const override { return "users"; }
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    Result<void> prepare(io::Deadline deadline) override;
    void apply(io::Deadline deadline) override;
    void write_metrics(MetricsText& text) const override;

private:
    using Pair = std::string;  // a keyed hash

    Pair hash_of(std::string_view name, std::string_view password) const;
    UserRef find_pair(const Pair& pair, std::string_view name, std::string_view ip) const;
    Pair hash_from(const Pair& pair, const IpAddress& address) const;
    // An address that sends a right pair need not wait before its next one.
    void remember_address(const Pair& pair, const IpAddress& address);
    bool must_wait(const Pair& pair, const IpAddress& address) const;
    Result<bool> verify(const UserRef& user, const UserRef& slowest, std::string_view password, const IpAddress& address,
                        io::Deadline deadline) const;

    const Source source_;
    const Log& log_;
    std::array<std::uint8_t, 32> key_{};
    UserTable users_;
    UserTable coming_;
    std::unordered_set<std::string> changed_;
    PasswordAttempts attempts_;
    std::unordered_map<Pair, std::string> verified_;  // the names
    std::unordered_set<Pair> right_from_;             // a pair that was right, with an address that has sent it
};

}  // namespace live::service::users
