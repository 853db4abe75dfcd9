#include "session/rtc/players.hpp"

#include <algorithm>
#include <utility>

#include "io/loop.hpp"

namespace live::session::rtc {

LaneGroup::LaneGroup(Players& players, Ref<media::Source> source)
    : players_(players), source_(std::move(source)), lane_(source_->hold_rtp_lane()) {
    lane_.add_listener(*this);
}

LaneGroup::~LaneGroup() {
    lane_.remove_listener(*this);
    source_->release_rtp_lane();
}

void LaneGroup::on_rtp() { players_.wake(*this); }

Result<void> Players::start(io::Scope& scope) {
    return scope.start("rtc-players", [this](io::Deadline forever) { run(forever); });
}

LaneGroup& Players::join(const Ref<media::Source>& source, LanePlayer& player) {
    CHECK(player.group_ == nullptr);
    auto& group = groups_[source->url()];
    if (group == nullptr)
        group = std::make_unique<LaneGroup>(*this, source);
    player.group_ = group.get();
    player.index_ = group->members_.size();
    group->members_.push_back(&player);
    return *group;
}

void Players::leave(LanePlayer& player) {
    LaneGroup* const group = std::exchange(player.group_, nullptr);
    if (group == nullptr)
        return;
    if (std::exchange(player.again_at_, std::nullopt))
        std::erase(paced_, &player);
    auto& members = group->members_;
    LanePlayer* const last = members.back();
    members[player.index_] = last;
    last->index_ = player.index_;
    members.pop_back();
    // The last one may have come to a place that was served already.
    if (group->is_waiting_)
        group->next_ = std::min(group->next_, player.index_);
    if (!members.empty())
        return;
    std::erase(waiting_, group);
    groups_.erase(groups_.find(group->source().url()));
}

void Players::wake(LanePlayer& player) {
    if (player.group_ == nullptr || player.again_at_)
        return;
    player.again_at_ = io::now();
    paced_.push_back(&player);
    wake_.raise();
}

void Players::wake(LaneGroup& group) {
    group.next_ = 0;
    if (!std::exchange(group.is_waiting_, true))
        waiting_.push_back(&group);
    wake_.raise();
}

void Players::run(io::Deadline deadline) {
    for (;;) {
        const auto due = next_paced();
        const auto woken = io::wait(wake_, due ? io::Deadline::at(*due) : deadline);
        if (!woken.ok() && woken.code() != Errc::timed_out)
            return;
        slice_ = io::Deadline::after(kSlice);
        if (!serve_groups(deadline).ok() || !serve_paced(deadline).ok())
            return;
        port_.flush();
    }
}

// A group may go, and others may come, whenever this suspends.
Result<void> Players::serve_groups(io::Deadline deadline) {
    while (!waiting_.empty()) {
        LaneGroup& group = *waiting_.back();
        if (group.next_ >= group.members_.size()) {
            group.is_waiting_ = false;
            waiting_.pop_back();
            continue;
        }
        serve(*group.members_[group.next_++]);
        TRY(pause(deadline));
    }
    return {};
}

Result<void> Players::serve_paced(io::Deadline deadline) {
    const TimePoint now = io::now();
    for (std::size_t i = 0; i < paced_.size();) {
        LanePlayer& player = *paced_[i];
        if (*player.again_at_ > now) {
            ++i;
            continue;
        }
        paced_[i] = paced_.back();
        paced_.pop_back();
        player.again_at_.reset();
        serve(player);
        TRY(pause(deadline));
    }
    return {};
}

void Players::serve(LanePlayer& player) {
    const TimePoint now = io::now();
    const auto again = player.serve(now);
    // It may have left.
    if (!again || player.again_at_ || player.group_ == nullptr)
        return;
    player.again_at_ = std::max(*again, now + kPace);
    paced_.push_back(&player);
}

Result<void> Players::pause(io::Deadline deadline) {
    if (port_.output().datagrams() >= kGathered)
        port_.flush();
    if (!slice_.expired())
        return {};
    port_.flush();
    TRY(io::yield(deadline));
    slice_ = io::Deadline::after(kSlice);
    return {};
}

std::optional<TimePoint> Players::next_paced() const {
    if (paced_.empty())
        return std::nullopt;
    return (*std::ranges::min_element(paced_, {}, [](const LanePlayer* player) { return *player->again_at_; }))->again_at_;
}

}  // namespace live::session::rtc
