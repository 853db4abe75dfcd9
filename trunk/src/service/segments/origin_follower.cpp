#include "service/segments/origin_follower.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace live::service::segments {

using media::Packet;

namespace {

bool begins(const SegmentState& state, const Packet& packet) {
    return !packet.is_config() && packet.kind == state.kind && packet.track == state.track && packet.dts == state.at;
}

bool is_media(const Packet& packet) { return packet.kind != MediaKind::data && !packet.is_config(); }

// As far as the hash of a segment's frames tells them apart.
bool are_one(const Packet& a, const Packet& b) {
    return a.kind == b.kind && a.track == b.track && a.dts == b.dts && a.frame_bytes() == b.frame_bytes();
}

}  // namespace

void OriginFollower::restart() {
    if (state_ != State::alone) {
        held_.drop_unconfirmed(segmenter_.has_parts());
        segmenter_.drop_open();
    }
    segmenter_.restart();
    collect();
    forget_before(packets_.size());
    go_alone();
}

// After the mark there is no open segment.
void OriginFollower::begin_next() {
    if (state_ == State::ending)
        push_next();
    const bool is_at_segment = state_ == State::following || state_ == State::returning;
    if (!is_at_segment || !segmenter_.is_open())
        return restart();
    state_ = State::ending;
    pending_.reset();
    next_ = 0;
    waiting_from_.reset();
}

// As if they had come after the sync.
void OriginFollower::push_next() {
    const std::vector<Packet> next(packets_.end() - static_cast<std::ptrdiff_t>(next_), packets_.end());
    for (; next_ > 0; --next_) {
        bytes_ -= packets_.back().payload.size();
        packets_.pop_back();
    }
    restart();
    for (const Packet& packet : next)
        push(packet);
}

void OriginFollower::reconnect() {
    const bool is_at_segment =
        state_ == State::following || state_ == State::returning || (state_ == State::ending && next_ == 0);
    if (!is_at_segment || !segmenter_.is_open())
        return restart();
    state_ = State::returning;
    pending_.reset();
    repeated_.reset();
}

// Marks may be repeated, too.
void OriginFollower::handle_returning(const SegmentSync& sync) {
    const auto* ended = std::get_if<SegmentsEnded>(&sync.event);
    if (sync.instance != instance_) {
        start_over();
        push(sync);
    } else if (ended == nullptr) {
        const auto number_of = [](const SegmentSync& one) { return std::get<SegmentState>(one.event).number; };
        if (!pending_ || number_of(sync) > number_of(*pending_))
            pending_ = sync;
    } else if (!opened_.empty() && ended->number > opened_.back().number) {
        state_ = State::ending;
        next_ = 0;
        pending_.reset();
        handle(*ended);
    }
}

// Whether the packet is to be segmented. When something may be missing before it, it is the first one after restart().
bool OriginFollower::is_new(const Packet& packet) {
    if (packet.kind == MediaKind::data)
        return false;
    if (packet.is_config() ? is_in_force(packet) : pending_ && (is_repeated(packet) || is_older(packet)))
        return false;
    if (!pending_ || !continues(packet))
        start_over();
    return true;
}

bool OriginFollower::is_in_force(const Packet& config) const {
    const auto is_its = [&config](const Packet& packet) {
        return packet.is_config() && packet.kind == config.kind && packet.track == config.track;
    };
    const auto kept = std::find_if(packets_.rbegin(), packets_.rend(), is_its);
    const auto before = configs_.find({config.kind, config.track});
    if (kept == packets_.rend() && before == configs_.end())
        return false;
    const Packet& newest = kept != packets_.rend() ? *kept : before->second;
    return newest.codec == config.codec && std::ranges::equal(newest.payload.bytes(), config.payload.bytes());
}

// The first packet that is repeated may be any, and then one follows the other.
bool OriginFollower::is_repeated(const Packet& packet) {
    const auto from = packets_.begin() + static_cast<std::ptrdiff_t>(repeated_.value_or(0));
    const auto is_it = [&packet](const Packet& kept) { return is_media(kept) && are_one(kept, packet); };
    const auto found = repeated_ ? std::find_if(from, packets_.end(), is_media) : std::find_if(from, packets_.end(), is_it);
    if (found == packets_.end() || !is_it(*found))
        return false;
    repeated_ = static_cast<std::size_t>(found - packets_.begin()) + 1;
    return true;
}

// Than what is kept: a connection may begin with a GOP of several segments.
bool OriginFollower::is_older(const Packet& packet) const {
    const auto is_its = [&packet](const Packet& kept) {
        return is_media(kept) && kept.kind == packet.kind && kept.track == packet.track;
    };
    const auto oldest = std::ranges::find_if(packets_, is_its);
    return !repeated_ && oldest != packets_.end() && packet.dts < oldest->dts;
}

// Nothing is missing before the packet, which has not been here.
bool OriginFollower::continues(const Packet& packet) const {
    if (repeated_)
        return std::none_of(packets_.begin() + static_cast<std::ptrdiff_t>(*repeated_), packets_.end(), is_media);
    const auto& said = std::get<SegmentState>(pending_->event);
    return begins(said, packet) && segmenter_.number() + 1 == said.number && segmenter_.frames_hash() == said.frames_before;
}

// After a new packet: whether it is at the mark's segment.
void OriginFollower::try_to_arrive() {
    const auto& said = std::get<SegmentState>(pending_->event);
    repeated_ = packets_.size();
    const bool is_there = std::ranges::find(opened_, said) != opened_.end();
    if (!is_there && !opened_.empty() && opened_.back().number < said.number)
        return;
    state_ = State::following;
    const SegmentSync sync = *std::exchange(pending_, std::nullopt);
    handle(std::get<SegmentState>(sync.event), sync);
}

// The open segment cannot go on.
void OriginFollower::start_over() {
    const auto sync = std::exchange(pending_, std::nullopt);
    restart();
    if (sync)
        push(*sync);
}

void OriginFollower::go_alone() {
    state_ = State::alone;
    opened_.clear();
    pending_.reset();
    waiting_from_.reset();
    held_.release_all();
}

void OriginFollower::wait(std::optional<SegmentSync> pending) {
    if (state_ != State::waiting)
        waiting_from_.reset();
    state_ = State::waiting;
    opened_.clear();
    pending_ = std::move(pending);
}

void OriginFollower::push(const Packet& packet) {
    if (state_ == State::returning && !is_new(packet))
        return;
    keep(packet);
    if (state_ == State::ending) {
        next_ = std::min(next_ + 1, packets_.size());
        waiting_from_ = waiting_from_.value_or(packet.dts);
        if (packet.dts - *waiting_from_ >= kPatience)
            push_next();
        return;
    }
    if (state_ != State::waiting) {
        segmenter_.push(packet);
        collect();
        return state_ == State::returning ? try_to_arrive() : void();
    }
    if (packet.kind == MediaKind::data)
        return;
    if (pending_) {
        const auto& said = std::get<SegmentState>(pending_->event);
        if (begins(said, packet))
            forget_before(packets_.size() - 1);
        if (begins(said, packets_.front()) && has_formats(said, 0))
            return resume(SegmentSync(*pending_));
    }
    if (packet.is_config())
        return;
    waiting_from_ = waiting_from_.value_or(packet.dts);
    if (packet.dts - *waiting_from_ < kPatience)
        return;
    segmenter_.drop_open();
    segmenter_.restart();
    for (const Packet& config : formats_for({}, packets_.size()))
        segmenter_.push(config);
    collect();
    go_alone();
}

void OriginFollower::push(const SegmentSync& sync) {
    if (state_ == State::returning)
        handle_returning(sync);
    else if (const auto* begins_here = std::get_if<SegmentState>(&sync.event))
        handle(*begins_here, sync);
    else
        handle(std::get<SegmentsEnded>(sync.event));
}

void OriginFollower::interrupt() {
    if (state_ == State::alone)
        segmenter_.interrupt();
    collect();
}

void OriginFollower::shift(MediaTime by) {
    std::size_t count = state_ == State::ending ? next_ : state_ == State::returning ? 0 : packets_.size();
    for (auto packet = packets_.rbegin(); count > 0; --count, ++packet)
        packet->dts += by;
}

void OriginFollower::handle(const SegmentState& said, const SegmentSync& sync) {
    const auto ours = std::ranges::find(opened_, said);
    if (ours != opened_.end()) {
        state_ = state_ == State::ending ? State::ending : State::following;
        held_.confirm_below(said.number);
        instance_ = sync.instance;
        opened_.erase(opened_.begin(), ours);
        forget_before(find(said).value_or(0));
        return;
    }
    // A connection begins with the newest sync, and may repeat older ones.
    if (is_following() && sync.instance == instance_ && !opened_.empty() && said.number < opened_.front().number)
        return;
    // The next publisher's first sync, and no end of the one before.
    if (state_ == State::ending) {
        handle(SegmentsEnded{said.number, said.frames_before});
        return handle(said, sync);
    }
    const bool is_next = state_ == State::following && !opened_.empty() && opened_.front().number + 1 == said.number;
    if (is_next && remake(said.frames_before))
        held_.confirm_below(said.number);
    else if (!is_next && state_ == State::following)
        held_.drop_unconfirmed(segmenter_.has_parts());
    if (const auto at = find(said)) {
        if (has_formats(said, *at))
            return resume(sync);
        forget_before(*at);
    }
    segmenter_.drop_open();
    collect();
    wait(sync);
}

void OriginFollower::handle(const SegmentsEnded& said) {
    const bool has_next = state_ == State::ending;
    if (is_following() && !opened_.empty())
        end(said);
    if (has_next)
        push_next();
}

void OriginFollower::end(const SegmentsEnded& said) {
    const bool is_same =
        opened_.back().number + 1 == said.number && segmenter_.is_open() && segmenter_.frames_hash() == said.frames;
    if (is_same) {
        segmenter_.interrupt();
        collect();
        held_.confirm_below(said.number);
        opened_.clear();
        return;
    }
    // Without an open segment, the output has begun another layout for the next publisher.
    const bool is_over = state_ == State::ending && !segmenter_.is_open();
    if (is_over || opened_.front().number + 1 != said.number)
        held_.drop_unconfirmed(segmenter_.has_parts());
    else if (remake(said.frames))
        held_.confirm_below(said.number);
    wait({});
}

// Makes the oldest unconfirmed segment again, with the frames up to that hash: it ended earlier than it seemed here. Parts that
// have been handed out must be the same again.
bool OriginFollower::remake(std::uint64_t frames) {
    const SegmentState first = opened_.front();
    const auto at = find(first);
    if (!at)
        return false;
    held_.erase_segments(first.number);
    const std::size_t before = held_.size();
    const std::vector<std::size_t> parts = held_.released_parts(first.number);
    segmenter_.resume(first, formats_for(first, *at));
    held_.erase_from(before);
    for (std::size_t i = *at; i < packets_.size(); ++i) {
        segmenter_.push(packets_[i]);
        if (segmenter_.number() != first.number)
            break;
        if (!segmenter_.is_open() || segmenter_.frames_hash() != frames)
            continue;
        segmenter_.interrupt();
        collect();
        if (held_.erase_parts(parts, before))
            return true;
        break;
    }
    segmenter_.drop_open();
    held_.erase_from(before);
    if (!parts.empty())
        held_.add(SegmentDropped{first.number});
    return false;
}

void OriginFollower::resume(const SegmentSync& sync) {
    const auto& said = std::get<SegmentState>(sync.event);
    const auto at = find(said);
    segmenter_.resume(said, formats_for(said, at.value_or(0)));
    collect();
    held_.add(Resumed{sync, std::exchange(instance_, sync.instance) == sync.instance});
    opened_.clear();
    forget_before(at.value_or(0));
    state_ = State::following;
    held_.confirm_below(said.number);
    pending_.reset();
    for (const Packet& packet : packets_)
        segmenter_.push(packet);
    collect();
    // For example a codec that this node does not know.
    if (opened_.empty() || opened_.front() != said)
        go_alone();
}

void OriginFollower::collect() {
    held_.collect([this](SegmentState state) { note_opened(std::move(state)); });
    if (state_ == State::alone)
        held_.release_all();
    else if (state_ == State::following && held_.unconfirmed() > kUnconfirmedMax)
        go_alone();
}

void OriginFollower::note_opened(SegmentState state) {
    if (!opened_.empty() && opened_.back().number == state.number)
        opened_.pop_back();  // it was empty, or too short
    opened_.push_back(std::move(state));
    if (state_ != State::alone || opened_.size() <= kUnconfirmedMax)
        return;
    opened_.pop_front();
    forget_before(find(opened_.front()).value_or(0));
}

std::optional<std::size_t> OriginFollower::find(const SegmentState& said) const {
    const auto found = std::ranges::find_if(packets_, [&said](const Packet& packet) { return begins(said, packet); });
    return found == packets_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - packets_.begin()));
}

// Whether formats_for() has those of all tracks in the segment. A codec without a configuration shows its format by the first
// frame in it, which is not waited for longer than such a track may be silent.
bool OriginFollower::has_formats(const SegmentState& said, std::size_t at) const {
    if (packets_.back().dts - said.at >= Segmenter::kSilence)
        return true;
    const auto formats = formats_for(said, at);
    return std::ranges::all_of(said.tracks, [&](const SegmentState::Track& track) {
        const auto is_its = [&track](const Packet& one) { return one.kind == track.kind && one.track == track.id; };
        const bool is_there = track.arrived && said.at - *track.arrived < Segmenter::kSilence;
        return !is_there || std::ranges::any_of(formats, is_its);
    });
}

// The configurations in force at `at`; of tracks without one, their first frame from there on.
std::vector<Packet> OriginFollower::formats_for(const SegmentState& said, std::size_t at) const {
    auto newest = configs_;
    for (std::size_t i = 0; i < at; ++i)
        if (packets_[i].is_config() && packets_[i].kind != MediaKind::data)
            newest.insert_or_assign({packets_[i].kind, packets_[i].track}, packets_[i]);
    std::vector<Packet> formats;
    for (const auto& [track, config] : newest)
        formats.push_back(config);
    for (const SegmentState::Track& track : said.tracks) {
        if (newest.contains({track.kind, track.id}))
            continue;
        const auto is_its = [&track](const Packet& packet) { return packet.kind == track.kind && packet.track == track.id; };
        const auto frame = std::find_if(packets_.begin() + static_cast<std::ptrdiff_t>(at), packets_.end(), is_its);
        if (frame != packets_.end())
            formats.push_back(*frame);
    }
    return formats;
}

void OriginFollower::keep(const Packet& packet) {
    packets_.push_back(packet);
    bytes_ += packet.payload.size();
    while (packets_.size() > kPacketsMax || bytes_ > kBytesMax)
        forget_before(1);
}

void OriginFollower::forget_before(std::size_t at) {
    if (repeated_)
        *repeated_ -= std::min(*repeated_, at);
    for (; at > 0; --at) {
        Packet& packet = packets_.front();
        bytes_ -= packet.payload.size();
        const std::pair track(packet.kind, packet.track);
        if (packet.is_config() && packet.kind != MediaKind::data &&
            (configs_.contains(track) || configs_.size() < SegmentSync::kTracksMax))
            configs_.insert_or_assign(track, std::move(packet));
        packets_.pop_front();
    }
    next_ = std::min(next_, packets_.size());
}

}  // namespace live::service::segments
