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

HalfOpen::Place::Place(HalfOpen& all, std::string ip, std::optional<IpAddress> group, std::size_t vhost_bound)
    : all_(&all), vhost_bound_(vhost_bound), ip_(std::move(ip)), group_(group) {
    ++all_->size_;
    if (group_)
        ++all_->addresses_[group_->bytes];
}

HalfOpen::Place::Place(Place&& other) noexcept
    : all_(std::exchange(other.all_, nullptr)),
      vhost_bound_(other.vhost_bound_),
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
    if (count_of(all_->vhosts_, vhost) >= vhost_bound_)
        return all_->refuse(Limit::vhost, ip_, vhost_bound_, now);
    ++all_->vhosts_[vhost];
    vhost_ = vhost;
    return {};
}

Result<HalfOpen::Place> HalfOpen::take(const IpAddress& from, const SrtLimitOptions& limits, TimePoint now) {
    std::string ip = ip_text(from);
    if (size_ >= limits.srt_half_open)
        return refuse(Limit::all, ip, limits.srt_half_open, now);
    const auto group = places_.group_of(ip);
    if (group && count_of(addresses_, group->bytes) >= limits.srt_half_open_per_ip)
        return refuse(Limit::address, ip, limits.srt_half_open_per_ip, now);
    return Place(*this, std::move(ip), group, std::max<std::size_t>(limits.srt_half_open / kVhostShare, 1));
}

Error HalfOpen::refuse(Limit by, std::string_view ip, std::size_t bound, TimePoint now) {
    return places_.refuse(refusals_[static_cast<std::size_t>(by)], ip, bound, now);
}

}  // namespace live::session::srt
