#include "session/rtc/transport/players.hpp"

#include <algorithm>
#include <utility>

namespace live::session::rtc {

void RtpLogPlayer::Alarm::on_due(TimePoint) { player.become_pending(); }

void RtpLogPlayer::become_pending() { group_->players_.add_pending(*this); }

RtpLogGroup::RtpLogGroup(Players& players, Ref<media::Source> source, Packing packing, const media::TrackChoice& tracks,
                         const Log& log)
    : players_(players),
      source_(std::move(source)),
      packing_(packing),
      tracks_(tracks),
      rtp_log_(packing == Packing::any ? source_->rtp_logs().hold(tracks)
                                       : single_.emplace(source_->rtp_logs().hold(tracks), log).rtp_log()) {
    rtp_log_.add_listener(*this);
}

RtpLogGroup::~RtpLogGroup() {
    rtp_log_.remove_listener(*this);
    single_.reset();
    source_->rtp_logs().release(tracks_);
}

void RtpLogGroup::on_rtp() { players_.wake(*this); }

Result<void> Players::start(io::Scope& scope) {
    return scope.start("rtc-players", [this](io::Deadline forever) { run(forever); });
}

// Stream names contain no blank.
std::string Players::key_of(const media::Source& source, Packing packing, const media::TrackChoice& tracks) {
    std::string key = source.url();
    if (packing == Packing::single_nal)
        key += " single";
    if (tracks.audio)
        key += " a" + std::to_string(static_cast<unsigned>(*tracks.audio));
    if (tracks.video)
        key += " v" + std::to_string(static_cast<unsigned>(*tracks.video));
    return key;
}

RtpLogGroup& Players::join(const Ref<media::Source>& source, RtpLogPlayer& player, Packing packing, const Log& log,
                           const media::TrackChoice& tracks) {
    CHECK(player.group_ == nullptr);
    auto& group = groups_[key_of(*source, packing, tracks)];
    if (group == nullptr)
        group = std::make_unique<RtpLogGroup>(*this, source, packing, tracks, log);
    player.group_ = group.get();
    player.index_ = group->members_.size();
    group->members_.push_back({&player, {}});
    if (group->left_ > 0)
        ++group->left_;
    return *group;
}

void Players::leave(RtpLogPlayer& player) {
    RtpLogGroup* const group = std::exchange(player.group_, nullptr);
    if (group == nullptr)
        return;
    remove_pending(player);
    alarms_.cancel(player.alarm_);
    auto& members = group->members_;
    members[player.index_] = members.back();
    members[player.index_].player->index_ = player.index_;
    members.pop_back();
    // The last member may have moved to an index that was already served: another round costs little, since players that are up
    // to date send nothing.
    if (group->left_ > 0)
        group->left_ = members.size();
    if (!members.empty())
        return;
    std::erase(waiting_, group);
    groups_.erase(groups_.find(key_of(group->source(), group->packing_, group->tracks_)));
}

void Players::wake(RtpLogPlayer& player) {
    if (player.group_ == nullptr)
        return;
    HotLines& lines = player.group_->members_[player.index_].lines;
    lines.clear();
    player.add_hot_lines(lines);
    alarms_.cancel(player.alarm_);
    add_pending(player);
    wake_.raise();
}

void Players::add_pending(RtpLogPlayer& player) {
    if (player.pending_index_ != RtpLogPlayer::kNotPending)
        return;
    player.pending_index_ = pending_.size();
    pending_.push_back(&player);
}

void Players::remove_pending(RtpLogPlayer& player) {
    if (player.pending_index_ != RtpLogPlayer::kNotPending)
        pending_[std::exchange(player.pending_index_, RtpLogPlayer::kNotPending)] = nullptr;
}

void Players::wake(RtpLogGroup& group) {
    group.left_ = group.members_.size();
    if (!std::exchange(group.is_waiting_, true))
        waiting_.push_back(&group);
    wake_.raise();
}

// Groups may be added and removed whenever this suspends. They take turns, by time slices.
void Players::run(io::Deadline deadline) {
    for (;;) {
        const auto due = alarms_.next();
        const auto woken = io::wait(wake_, due ? io::Deadline::at(*due) : deadline);
        if (!woken.ok() && woken.code() != Errc::timed_out)
            return;
        alarms_.advance(io::now());
        slice_ = io::Deadline::after(kSlice);
        while (!waiting_.empty()) {
            turn_ %= waiting_.size();
            RtpLogGroup& group = *waiting_[turn_];
            if (group.left_ == 0) {
                group.is_waiting_ = false;
                waiting_[turn_] = waiting_.back();
                waiting_.pop_back();
                continue;
            }
            --group.left_;
            group.next_ = group.following(group.next_);
            // Prefetches the following member meanwhile: thousands do not fit into the processor's cache.
            group.members_[group.following(group.next_)].lines.fetch();
            serve(*group.members_[group.next_].player);
            const auto slice = pause(deadline);
            if (!slice.ok())
                return;
            if (*slice == Slice::is_over)
                ++turn_;
        }
        if (!serve_pending(deadline).ok())
            return;
        port_.flush();
    }
}

Result<void> Players::serve_pending(io::Deadline deadline) {
    for (; pending_served_ < pending_.size(); ++pending_served_) {
        RtpLogPlayer* const player = pending_[pending_served_];
        if (player == nullptr)
            continue;
        remove_pending(*player);
        serve(*player);
        TRY(pause(deadline));
    }
    pending_.clear();
    pending_served_ = 0;
    return {};
}

void Players::serve(RtpLogPlayer& player) {
    const TimePoint now = io::now();
    const auto again = player.serve(now);
    // It may have left.
    if (again && player.group_ != nullptr)
        alarms_.set(player.alarm_, std::max(*again, now + kPace));
    else
        alarms_.cancel(player.alarm_);
}

Result<Players::Slice> Players::pause(io::Deadline deadline) {
    if (port_.output().gso_batches() >= kGathered || port_.output().bytes() >= kGatheredBytes)
        port_.flush();
    if (!slice_.expired())
        return Slice::goes_on;
    port_.flush();
    TRY(io::yield(deadline));
    slice_ = io::Deadline::after(kSlice);
    return Slice::is_over;
}

}  // namespace live::session::rtc
