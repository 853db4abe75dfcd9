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
}

Result<void> UserService::prove(std::string_view user, std::string_view ip, Form form,
                                const std::function<bool(const session::StoredPassword& password)>& is_right) {
    using Scheme = engine::crypto::PasswordHash::Scheme;
    const auto parsed = parse_ip(ip);
    const IpAddress address = parsed.ok() ? *parsed : IpAddress();
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

UserRef UserService::find_verified(std::string_view name, std::string_view password, std::string_view ip) const {
    const auto known = verified_.find(hash_of(name, password));
    if (known == verified_.end() || known->second != name)
        return nullptr;
    UserRef user = users_.find(name);
    return user != nullptr && user->may_come_from(ip) ? user : nullptr;
}

Result<UserRef> UserService::check(std::string_view name, std::string_view password, std::string_view ip, io::Deadline deadline) {
    if (UserRef user = find_verified(name, password, ip))
        return user;
    const auto parsed = parse_ip(ip);
    const IpAddress address = parsed.ok() ? *parsed : IpAddress();
    const UserRef stand_in = users_.stand_in();
    if (stand_in == nullptr)
        return refusal();
    TRY(attempts_.begin(address, io::now()));
    const UserRef user = users_.find(name);
    const auto verified = verify(user == nullptr ? stand_in : user, password, address, deadline);
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
        verified_.emplace(hash_of(name, password), name);
    return user;
}

Result<bool> UserService::verify(const UserRef& user, std::string_view password, const IpAddress& address,
                                 io::Deadline deadline) const {
    const auto limit = deadline.sooner(io::Deadline::after(kCheckLimit));
    const io::Party party = session::PerAddressLimits::group_of(address).bytes;
    return io::off_loop([user, text = std::string(password)] { return user->password.verify(user->name, text); }, limit,
                        io::Work::password, party);
}

UserService::Pair UserService::hash_of(std::string_view name, std::string_view password) const {
    // No name has a colon.
    const std::string text = std::string(name) + ":" + std::string(password);
    const auto tag = engine::crypto::hmac_sha256(key_, as_bytes(text));
    return tag.ok() ? std::string(as_text(*tag)) : std::string();
}

void UserService::write_metrics(MetricsText& text) const {
    text.family("millrace_wrong_passwords_total", MetricsText::Type::counter, "Names and passwords that were wrong.")
        .sample(attempts_.failures());
    text.family("millrace_refused_password_attempts_total", MetricsText::Type::counter,
                "Passwords that were not checked because their address has sent wrong ones.")
        .sample(attempts_.refused());
}

}  // namespace live::service::users
