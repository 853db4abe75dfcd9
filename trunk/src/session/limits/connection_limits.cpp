#include "session/limits/connection_limits.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/log/log_format.hpp"

namespace live::session {

namespace {

using Use = PerAddressLimits::Use;
using Kind = ConnectionLimits::Kind;
using Reason = ConnectionLimits::Reason;
using Sum = engine::workers::SharedLimits::Sum;
static_assert(PerAddressLimits::kUses == engine::workers::SharedLimits::kUses);

// In the order of the enumeration. 1074 is the reference's number for it, which scripts look for.
constexpr std::array<Refusals, ConnectionLimits::kReasons> kNone = {{
    {"max_connections", "{} connections are the limit (max_connections), code=1074"},
    {"connections_per_ip", "{} connections are the limit of one address (limits.connections_per_ip, max_connections)"},
    {"new_connections_per_ip", "{} new connections a second are the limit of one address (limits.new_connections_per_ip)"},
    {"rtc_half_open", "{} WebRTC sessions wait for their clients, which is the limit (limits.rtc_half_open)"},
    {"rtc_half_open_per_ip",
     "{} WebRTC sessions wait for their clients, which is the limit of one address (limits.rtc_half_open_per_ip)"},
    {"rtc_offers_per_ip", "{} WebRTC offers a second are the limit of one address (limits.rtc_offers_per_ip)"},
    {"hls_sessions_per_ip", "{} players of HLS and DASH are the limit of one address (limits.hls_sessions_per_ip)"},
    {"handshakes", "{} handshakes wait for the worker thread, which is the limit"},
    {"handshakes_per_ip", "{} handshakes wait for the worker thread, which is the limit of one address"},
}};

// For one kind, at one address.
struct AddressTerms {
    Use use;
    Reason too_many;
    Reason too_fast;
};

AddressTerms terms_of(Kind kind) {
    switch (kind) {
        case Kind::half_open: return {Use::half_open, Reason::rtc_half_open_per_ip, Reason::rtc_offers_per_ip};
        case Kind::viewer: return {Use::viewer, Reason::hls_sessions_per_ip, Reason::hls_sessions_per_ip};
        default: return {Use::connection, Reason::connections_per_ip, Reason::new_connections_per_ip};
    }
}

}  // namespace

ConnectionLimits::Place::Place(ConnectionLimits& places, Kind kind, std::optional<IpAddress> group, std::size_t bytes)
    : places_(&places), kind_(kind), group_(group), bytes_(bytes) {
    places_->count(*this, +1);
}

ConnectionLimits::Place::Place(Place&& other) noexcept
    : places_(std::exchange(other.places_, nullptr)), kind_(other.kind_), group_(other.group_), bytes_(other.bytes_) {}

ConnectionLimits::Place::~Place() {
    if (places_ == nullptr)
        return;
    places_->count(*this, -1);
    if (group_)
        places_->leave_address(*group_, terms_of(kind_).use);
}

Result<void> ConnectionLimits::Place::arrive(TimePoint now) {
    CHECK(places_ != nullptr && kind_ == Kind::half_open);
    const std::string_view whose = "a WebRTC client";
    if (!places_->has_room(Sum::places, places_->used_, places_->max_))
        return places_->refuse(Reason::max_connections, whose, places_->max_, now);
    if (group_) {
        if (auto entered = places_->enter_address(Kind::client, *group_, whose, PerAddressLimits::Pace::is_free, now);
            !entered.ok()) {
            places_->tell_others();
            return entered;
        }
        places_->leave_address(*group_, Use::half_open);
    }
    places_->count(*this, -1);
    kind_ = Kind::client;
    places_->count(*this, +1);
    return {};
}

void ConnectionLimits::Place::set_bytes(std::size_t bytes) {
    places_->bytes_ = places_->bytes_ - bytes_ + bytes;
    bytes_ = bytes;
}

ConnectionLimits::ConnectionLimits(std::size_t max, const Log& log, const LimitOptions& options) : log_(log), refusals_(kNone) {
    set_limits(max, options);
}

void ConnectionLimits::set_limits(std::size_t max, const LimitOptions& options) {
    max_ = max;
    options_ = options;
    trusted_ = {MUST(IpNetwork::parse("127.0.0.0/8")), MUST(IpNetwork::parse("::1"))};
    for (const std::string& text : options.trusted)
        trusted_.push_back(MUST(IpNetwork::parse(text)));
    // Loopback only if it is listed.
    proxies_.clear();
    for (const std::string& text : options.proxy_protocol ? options.trusted : std::vector<std::string>())
        proxies_.push_back(MUST(IpNetwork::parse(text)));
    addresses_.set_bounds(Use::connection, {connections_per_address(), options.new_connections_per_ip});
    addresses_.set_bounds(Use::half_open, {options.rtc_half_open_per_ip, options.rtc_offers_per_ip});
    addresses_.set_bounds(Use::viewer, {options.hls_sessions_per_ip, 0});
}

bool ConnectionLimits::is_trusted(const IpAddress& address) const {
    return std::ranges::any_of(trusted_, [&](const IpNetwork& network) { return network.contains(address); });
}

bool ConnectionLimits::sends_proxy_header(std::string_view ip) const {
    if (proxies_.empty()) [[likely]]
        return false;
    const auto address = parse_ip(ip);
    return address.ok() && std::ranges::any_of(proxies_, [&](const IpNetwork& network) { return network.contains(*address); });
}

// So that no address can take all of them.
std::size_t ConnectionLimits::connections_per_address() const {
    return std::min<std::size_t>(options_.connections_per_ip, (max_ + 1) / 2);
}

std::size_t ConnectionLimits::places_for(Kind kind, bool is_trusted) const {
    const bool has_kept = kind == Kind::control || (kind == Kind::either && is_trusted);
    return has_kept ? max_ + kKeptForControl : max_;
}

std::optional<IpAddress> ConnectionLimits::group_of(std::string_view ip) const {
    const auto parsed = parse_ip(ip);
    const IpAddress address = parsed.ok() ? *parsed : IpAddress();
    return is_trusted(address) ? std::nullopt : std::optional(PerAddressLimits::group_of(address));
}

bool ConnectionLimits::is_crowded() const {
    const std::uint64_t others = shared_limits_ == nullptr ? 0 : shared_limits_->others(Sum::places);
    return used_ + others > max_ / kCrowdedShare;
}

bool ConnectionLimits::has_room(Sum sum, std::size_t own, std::size_t bound) {
    if (shared_limits_ == nullptr)
        return own < bound;
    shared_limits_->set(sum, own + 1);
    if (own + 1 + shared_limits_->others(sum) <= bound)
        return true;
    shared_limits_->set(sum, own);
    return false;
}

void ConnectionLimits::tell_others() {
    if (shared_limits_ == nullptr)
        return;
    shared_limits_->set(Sum::places, used_);
    shared_limits_->set(Sum::half_open, half_open_);
}

Result<ConnectionLimits::Place> ConnectionLimits::take(Kind kind, std::string_view ip, std::size_t bytes, TimePoint now) {
    auto place = try_take(kind, ip, bytes, PerAddressLimits::Pace::counts, now);
    if (!place.ok())
        tell_others();
    return place;
}

Result<ConnectionLimits::Place> ConnectionLimits::take_another(Kind kind, std::string_view ip, std::size_t bytes, TimePoint now) {
    auto place = try_take(kind, ip, bytes, PerAddressLimits::Pace::is_free, now);
    if (!place.ok())
        tell_others();
    return place;
}

Result<ConnectionLimits::Place> ConnectionLimits::try_take(Kind kind, std::string_view ip, std::size_t bytes,
                                                           PerAddressLimits::Pace pace, TimePoint now) {
    const std::optional<IpAddress> group = group_of(ip);
    if (kind == Kind::half_open && !has_room(Sum::half_open, half_open_, options_.rtc_half_open))
        return refuse(Reason::rtc_half_open, ip, options_.rtc_half_open, now);
    // An offer takes no place, but without a free one its client would connect in vain.
    if (kind != Kind::viewer && !has_room(Sum::places, used_, places_for(kind, !group)))
        return refuse(Reason::max_connections, ip, max_, now);
    if (group)
        TRY(enter_address(kind, *group, ip, pace, now));
    return Place(*this, kind, group, bytes);
}

Result<void> ConnectionLimits::enter_address(Kind kind, const IpAddress& group, std::string_view ip, PerAddressLimits::Pace pace,
                                             TimePoint now) {
    const AddressTerms terms = terms_of(kind);
    const PerAddressLimits::Bounds bounds = addresses_.bounds(terms.use);
    switch (enter_everywhere(group, terms.use, pace, now)) {
        case PerAddressLimits::Answer::taken: break;
        case PerAddressLimits::Answer::too_many: return refuse(terms.too_many, ip, bounds.at_once, now);
        case PerAddressLimits::Answer::too_fast: return refuse(terms.too_fast, ip, bounds.per_second, now);
    }
    return {};
}

PerAddressLimits::Answer ConnectionLimits::enter_everywhere(const IpAddress& group, Use use, PerAddressLimits::Pace pace,
                                                            TimePoint now) {
    const std::size_t own = addresses_.in_use(group, use);
    const auto answer = addresses_.enter(group, use, pace, now);
    if (shared_limits_ == nullptr || answer != PerAddressLimits::Answer::taken)
        return answer;
    const auto index = static_cast<std::size_t>(use);
    const PerAddressLimits::Bounds bounds = addresses_.bounds(use);
    const bool is_paid = pace == PerAddressLimits::Pace::counts && bounds.per_second > 0;
    if (!shared_limits_->enter(index, group.bytes, own, bounds.at_once)) {
        addresses_.leave(group, use);
        return PerAddressLimits::Answer::too_many;
    }
    if (is_paid &&
        !shared_limits_->try_charge(index, group.bytes, {Duration(1s) / bounds.per_second, PerAddressLimits::kBurst}, now)) {
        leave_address(group, use);
        return PerAddressLimits::Answer::too_fast;
    }
    return answer;
}

void ConnectionLimits::leave_address(const IpAddress& group, Use use) {
    addresses_.leave(group, use);
    if (shared_limits_ != nullptr)
        shared_limits_->leave(static_cast<std::size_t>(use), group.bytes);
}

void ConnectionLimits::count(const Place& place, int change) {
    const auto by = static_cast<std::size_t>(change);  // wraps around for -1
    if (place.kind_ == Kind::half_open)
        half_open_ += by;
    else if (place.kind_ != Kind::viewer)
        used_ += by;
    bytes_ += by * place.bytes_;
    tell_others();
}

Error ConnectionLimits::refuse(Reason reason, std::string_view ip, std::size_t bound, TimePoint now) {
    return refuse(refusals_[static_cast<std::size_t>(reason)], ip, bound, now);
}

}  // namespace live::session
