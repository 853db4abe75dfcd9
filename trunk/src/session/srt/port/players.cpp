#include "session/srt/port/players.hpp"

#include <algorithm>
#include <utility>

#include "io/fibers/loop.hpp"

namespace live::session::srt {

PlayGroup::PlayGroup(Players& players, Ref<media::Source> source)
    : players_(players),
      source_(std::move(source)),
      wire_log_(source_->wire_logs().hold(kTransportStream, false, media::Audience::none)),
      seen_(wire_log_.next()) {
    source_->readers().add_listener(*this);
}

PlayGroup::~PlayGroup() {
    source_->readers().remove_listener(*this);
    source_->wire_logs().release(kTransportStream, media::Audience::none);
}

void PlayGroup::on_packets() {
    const Duration wait = next_wait();
    if (wait == Duration::zero())
        return wake_all();
    const TimePoint due = io::now() + wait;
    if (due >= due_)
        return;
    due_ = due;
    players_.port_.timers().call_at(*this, due);
}

void PlayGroup::on_due(TimePoint /*now*/) { wake_all(); }

// Chooses the wait by the new packets in the log, because a large frame is encoded some time after it was appended. If there is
// no new packet, the new data is a piece of a frame.
Duration PlayGroup::next_wait() {
    const media::Ring& ring = source_->ring();
    const media::Sequence first = std::max(std::exchange(seen_, wire_log_.next()), ring.first());
    for (media::Sequence at = first; at < seen_; ++at)
        if (ring.at(at).kind == MediaKind::video)
            return Duration::zero();
    return std::min<Duration>(wait_max_, first < seen_ ? kAudioWait : kPieceWait);
}

void PlayGroup::limit_wait(const Link& link) {
    if (link.connection() != nullptr)
        wait_max_ = std::min<Duration>(wait_max_, link.connection()->figures().send_latency / kWaitPart);
}

void PlayGroup::wake_all() {
    if (std::exchange(due_, TimePoint::max()) != TimePoint::max())
        players_.port_.timers().cancel(*this);
    units_.begin_round();
    for (GroupPlayer* const player : members_)
        players_.wake(*player);
}

Result<void> Players::start(io::Scope& scope) {
    return scope.start("srt-players", [this](io::Deadline forever) { run(forever); });
}

PlayGroup& Players::join(const Ref<media::Source>& source, GroupPlayer& player) {
    CHECK(player.group_ == nullptr);
    auto& group = groups_[source.get()];
    if (group == nullptr)
        group = std::make_unique<PlayGroup>(*this, source);
    player.group_ = group.get();
    player.index_ = group->members_.size();
    group->members_.push_back(&player);
    group->limit_wait(player.link());
    return *group;
}

void Players::leave(GroupPlayer& player) {
    PlayGroup* const group = std::exchange(player.group_, nullptr);
    if (group == nullptr)
        return;
    if (player.due_index_ != GroupPlayer::kNotDue)
        due_[std::exchange(player.due_index_, GroupPlayer::kNotDue) - served_] = nullptr;
    auto& members = group->members_;
    members[player.index_] = members.back();
    members[player.index_]->index_ = player.index_;
    members.pop_back();
    if (members.empty())
        groups_.erase(&group->source());
}

void Players::wake(GroupPlayer& player) {
    if (player.group_ == nullptr || player.due_index_ != GroupPlayer::kNotDue)
        return;
    player.due_index_ = served_ + due_.size();
    due_.push_back(&player);
    wake_.raise();
}

std::size_t Players::held_bytes() const {
    std::size_t bytes = 0;
    for (const auto& [source, group] : groups_)
        bytes += group->units_.held_bytes();
    return bytes;
}

void Players::run(io::Deadline deadline) {
    while (io::wait(wake_, deadline).ok() && serve_due(deadline).ok())
        continue;
}

// Players may leave and become due whenever this suspends.
Result<void> Players::serve_due(io::Deadline deadline) {
    io::Deadline slice = io::Deadline::after(kSlice);
    while (!due_.empty()) {
        GroupPlayer* const player = due_.front();
        due_.pop_front();
        ++served_;
        if (player == nullptr)
            continue;
        player->due_index_ = GroupPlayer::kNotDue;
        const TimePoint now = io::now();
        player->serve(now);
        if (player->link().connection() != nullptr)
            port_.service(player->link(), now);
        if (port_.output().batch().gso_batches() >= kGathered || port_.output().batch().bytes() >= kGatheredBytes)
            port_.output().flush();
        if (!slice.expired())
            continue;
        port_.output().flush();
        TRY(io::yield(deadline));
        slice = io::Deadline::after(kSlice);
    }
    port_.output().flush();
    return {};
}

}  // namespace live::session::srt
