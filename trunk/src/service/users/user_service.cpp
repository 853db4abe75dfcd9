#include "service/users/user_service.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/text/metrics_text.hpp"
#include "engine/crypto/hmac_sha256.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "session/limits/per_address_limits.hpp"

namespace live::service::users {

namespace {

Error refusal() { return {Errc::unauthenticated, "the name or the password is wrong"}; }

// The pair of credentials that others compare. No pair has this hash.
constexpr const char* kCompared = "";

IpAddress address_of(std::string_view ip) {
    const auto parsed = parse_ip(ip);
    return parsed.ok() ? *parsed : IpAddress();
}

}  // namespace

UserService::UserService(Source source, const Log& log) : source_(std::move(source)), log_(log) { fill_random(key_); }

Result<void> UserService::start(io::Scope&, io::Deadline) {
    users_ = UserTable::of(source_());
    return {};
}

Result<void> UserService::prepare(io::Deadline) {
    coming_ = UserTable::of(source_());
    return {};
}

void UserService::apply(io::Deadline) {
    changed_.clear();
    users_.for_each([this](const User& user) {
        const UserRef next = coming_.find(user.name);
        if (next != nullptr && !(next->password == user.password))
            changed_.insert(user.name);
    });
    users_ = std::exchange(coming_, {});
    verified_.clear();
    right_from_.clear();
}

Result<void> UserService::prove(std::string_view user, std::string_view ip, Form form,
                                const std::function<bool(const session::StoredPassword& password)>& is_right) {
    using Scheme = engine::crypto::PasswordHash::Scheme;
    const IpAddress address = address_of(ip);
    TRY(attempts_.begin(address, io::now()));
    const UserRef found = users_.find(user);
    const Scheme scheme = found == nullptr ? Scheme::argon2id : found->password.scheme();
    const bool can_prove = scheme == Scheme::plain || (scheme == Scheme::ha1 && form == Form::plain_or_ha1);
    // An unknown name takes as long as a known one.
    session::StoredPassword stored{.password = "-"};
    if (can_prove)
        stored = {found->password.plain(), found->password.ha1_md5(), found->password.ha1_sha256()};
    const bool is_equal = is_right(stored);
    const bool is_proven = is_equal && can_prove && found->may_come_from(ip);
    attempts_.end(address, is_proven ? PasswordAttempts::Outcome::right : PasswordAttempts::Outcome::wrong, io::now());
    if (is_proven)
        return {};
    LOG_WARN(log_, "wrong name or password, ip={}", ip);
    return refusal();
}

Result<void> UserService::note_compared(std::string_view ip, bool is_right) {
    const IpAddress address = address_of(ip);
    if (is_right && !must_wait(kCompared, address)) {
        remember_address(kCompared, address);
        return {};
    }
    TRY(attempts_.begin(address, io::now()));
    attempts_.end(address, is_right ? PasswordAttempts::Outcome::right : PasswordAttempts::Outcome::wrong, io::now());
    return {};
}

UserRef UserService::find_verified(std::string_view name, std::string_view password, std::string_view ip) const {
    return find_pair(hash_of(name, password), name, ip);
}

UserRef UserService::find_pair(const Pair& pair, std::string_view name, std::string_view ip) const {
    const auto known = verified_.find(pair);
    if (known == verified_.end() || known->second != name || must_wait(pair, address_of(ip)))
        return nullptr;
    UserRef user = users_.find(name);
    return user != nullptr && user->may_come_from(ip) ? user : nullptr;
}

Result<UserRef> UserService::check(std::string_view name, std::string_view password, std::string_view ip, io::Deadline deadline) {
    const IpAddress address = address_of(ip);
    const Pair pair = hash_of(name, password);
    if (UserRef user = find_pair(pair, name, ip)) {
        remember_address(pair, address);
        return user;
    }
    const UserRef stand_in = users_.stand_in();
    if (stand_in == nullptr)
        return refusal();
    TRY(attempts_.begin(address, io::now()));
    const UserRef user = users_.find(name);
    const auto verified = verify(user == nullptr ? stand_in : user, stand_in, password, address, deadline);
    // A reload may have removed the user meanwhile.
    const bool is_right = verified.ok() && *verified && user != nullptr && user->may_come_from(ip) && users_.find(name) == user;
    using Outcome = PasswordAttempts::Outcome;
    const Outcome outcome = is_right ? Outcome::right : verified.ok() ? Outcome::wrong : Outcome::not_checked;
    attempts_.end(address, outcome, io::now());
    if (!verified.ok())
        return verified.error();
    if (!is_right) {
        LOG_WARN(log_, "wrong name or password, ip={}", ip);
        return refusal();
    }
    if (verified_.size() < kRememberedMax)
        verified_.emplace(pair, name);
    remember_address(pair, address);
    return user;
}

void UserService::remember_address(const Pair& pair, const IpAddress& address) {
    if (right_from_.size() < kRememberedMax)
        right_from_.insert(hash_from(pair, address));
}

bool UserService::must_wait(const Pair& pair, const IpAddress& address) const {
    return attempts_.must_wait(address, io::now()) && !right_from_.contains(hash_from(pair, address));
}

// The time must not show which names there are: a wrong password takes as long as an unknown name.
Result<bool> UserService::verify(const UserRef& user, const UserRef& slowest, std::string_view password, const IpAddress& address,
                                 io::Deadline deadline) const {
    const auto limit = deadline.sooner(io::Deadline::after(kCheckLimit));
    const io::Party party = session::PerAddressLimits::group_of(address).bytes;
    return io::off_loop(
        [user, slowest, text = std::string(password)] {
            const bool is_right = user->password.verify(user->name, text);
            if (!is_right && user->password.scheme() != slowest->password.scheme())
                static_cast<void>(slowest->password.verify(slowest->name, text));
            return is_right;
        },
        limit, io::Work::password, party);
}

UserService::Pair UserService::hash_of(std::string_view name, std::string_view password) const {
    // No name has a colon.
    const std::string text = std::string(name) + ":" + std::string(password);
    const auto tag = engine::crypto::hmac_sha256(key_, as_bytes(text));
    return tag.ok() ? std::string(as_text(*tag)) : std::string();
}

UserService::Pair UserService::hash_from(const Pair& pair, const IpAddress& address) const {
    const auto group = session::PerAddressLimits::group_of(address).bytes;
    return pair + std::string(group.begin(), group.end());
}

void UserService::write_metrics(MetricsText& text) const {
    text.family("millrace_wrong_passwords_total", MetricsText::Type::counter, "Names and passwords that were wrong.")
        .sample(attempts_.failures());
    text.family("millrace_refused_password_attempts_total", MetricsText::Type::counter,
                "Passwords that were not checked because their address has sent wrong ones.")
        .sample(attempts_.refused());
}

}  // namespace live::service::users
