#include "session/srt/port/half_open.hpp"

#include <algorithm>
#include <utility>

namespace live::session::srt {

namespace {

template <class Counts, class Key>
void leave(Counts& counts, const Key& key) {
    const auto at = counts.find(key);
    if (--at->second == 0)
        counts.erase(at);
}

template <class Counts, class Key>
std::size_t count_of(const Counts& counts, const Key& key) {
    const auto at = counts.find(key);
    return at == counts.end() ? 0 : at->second;
}

}  // namespace

HalfOpen::Place::Place(HalfOpen& all, std::string ip, std::optional<IpAddress> group)
    : all_(&all), ip_(std::move(ip)), group_(group) {
    ++all_->size_;
    if (group_)
        ++all_->addresses_[group_->bytes];
}

HalfOpen::Place::Place(Place&& other) noexcept
    : all_(std::exchange(other.all_, nullptr)),
      ip_(std::move(other.ip_)),
      group_(other.group_),
      vhost_(std::move(other.vhost_)) {}

HalfOpen::Place::~Place() {
    if (all_ == nullptr)
        return;
    --all_->size_;
    if (group_)
        leave(all_->addresses_, group_->bytes);
    if (vhost_)
        leave(all_->vhosts_, *vhost_);
}

Result<void> HalfOpen::Place::enter_vhost(const std::string& vhost, TimePoint now) {
    CHECK(all_ != nullptr && !vhost_);
    const std::size_t bound = std::max<std::size_t>(all_->places_.limits().srt_half_open / kVhostShare, 1);
    if (count_of(all_->vhosts_, vhost) >= bound)
        return all_->places_.refuse(ConnectionLimits::Reason::srt_half_open_per_vhost, ip_, bound, now);
    ++all_->vhosts_[vhost];
    vhost_ = vhost;
    return {};
}

Result<HalfOpen::Place> HalfOpen::take(const IpAddress& from, TimePoint now) {
    const LimitOptions& limits = places_.limits();
    std::string ip = ip_text(from);
    if (size_ >= limits.srt_half_open)
        return places_.refuse(ConnectionLimits::Reason::srt_half_open, ip, limits.srt_half_open, now);
    const auto group = places_.group_of(ip);
    if (group && count_of(addresses_, group->bytes) >= limits.srt_half_open_per_ip)
        return places_.refuse(ConnectionLimits::Reason::srt_half_open_per_ip, ip, limits.srt_half_open_per_ip, now);
    return Place(*this, std::move(ip), group);
}

}  // namespace live::session::srt
