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

// Reports whether the segment's first frame cannot follow the packet.
bool has_reached(const SegmentState& state, const Packet& packet) {
    return !packet.is_config() && packet.kind == state.kind && packet.track == state.track && packet.dts >= state.at;
}

bool is_media(const Packet& packet) { return packet.kind != MediaKind::data && !packet.is_config(); }

// Compares the same fields as the hash of a segment's frames.
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

// If the sync message has arrived already, there is no open segment.
void OriginFollower::begin_next() {
    if (state_ == State::ending)
        push_next();
    const bool is_at_segment = state_ == State::following || state_ == State::returning;
    if (!is_at_segment || !segmenter_.is_open())
        return restart();
    early_.clear();  // their frames are missing
    state_ = State::ending;
    pending_.reset();
    next_ = 0;
    waiting_from_.reset();
}

// Handles the next publisher's packets as if they had arrived after the sync message.
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
    early_.clear();  // the connection begins with the newest message
    pending_.reset();
    repeated_.reset();
}

// A connection may repeat sync messages, too.
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

// Reports whether the packet is to be segmented. If packets may be missing before it, this restarts first.
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

// The first repeated packet may be any kept one; the next ones must be in order.
bool OriginFollower::is_repeated(const Packet& packet) {
    const auto from = packets_.begin() + static_cast<std::ptrdiff_t>(repeated_.value_or(0));
    const auto is_it = [&packet](const Packet& kept) { return is_media(kept) && are_one(kept, packet); };
    const auto found = repeated_ ? std::find_if(from, packets_.end(), is_media) : std::find_if(from, packets_.end(), is_it);
    if (found == packets_.end() || !is_it(*found))
        return false;
    repeated_ = static_cast<std::size_t>(found - packets_.begin()) + 1;
    return true;
}

// Reports whether the packet is older than the kept ones: a connection may begin with a GOP of several segments.
bool OriginFollower::is_older(const Packet& packet) const {
    const auto is_its = [&packet](const Packet& kept) {
        return is_media(kept) && kept.kind == packet.kind && kept.track == packet.track;
    };
    const auto oldest = std::ranges::find_if(packets_, is_its);
    return !repeated_ && oldest != packets_.end() && packet.dts < oldest->dts;
}

// Reports whether the new packet directly follows the kept ones.
bool OriginFollower::continues(const Packet& packet) const {
    if (repeated_)
        return std::none_of(packets_.begin() + static_cast<std::ptrdiff_t>(*repeated_), packets_.end(), is_media);
    const auto& state = std::get<SegmentState>(pending_->event);
    return begins(state, packet) && segmenter_.number() + 1 == state.number && segmenter_.frames_hash() == state.frames_before;
}

// Checks after a new packet whether this node has reached the segment of the pending message.
void OriginFollower::try_to_arrive() {
    const auto& state = std::get<SegmentState>(pending_->event);
    repeated_ = packets_.size();
    const bool is_there = std::ranges::find(opened_, state) != opened_.end();
    if (!is_there && !opened_.empty() && opened_.back().number < state.number)
        return;
    state_ = State::following;
    const SegmentSync sync = *std::exchange(pending_, std::nullopt);
    handle(std::get<SegmentState>(sync.event), sync);
}

// Drops the open segment, which cannot continue.
void OriginFollower::start_over() {
    const auto sync = std::exchange(pending_, std::nullopt);
    restart();
    if (sync)
        push(*sync);
}

void OriginFollower::go_alone() {
    state_ = State::alone;
    early_.clear();
    opened_.clear();
    pending_.reset();
    waiting_from_.reset();
    held_.release_all();
}

void OriginFollower::wait(std::optional<SegmentSync> pending) {
    if (state_ != State::waiting)
        waiting_from_.reset();
    state_ = State::waiting;
    early_.clear();
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
        return state_ == State::returning ? try_to_arrive() : dispatch_early(packet);
    }
    if (packet.kind == MediaKind::data)
        return;
    if (pending_) {
        const auto& state = std::get<SegmentState>(pending_->event);
        if (begins(state, packet))
            forget_before(packets_.size() - 1);
        if (begins(state, packets_.front()) && has_formats(state, 0))
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
        return handle_returning(sync);
    if (is_early(sync))
        return early_.push_back(sync);
    // All packets before the end have arrived.
    while (!early_.empty() && std::holds_alternative<SegmentsEnded>(sync.event)) {
        const SegmentSync early = std::move(early_.front());
        early_.pop_front();
        dispatch(early);
    }
    dispatch(sync);
}

void OriginFollower::dispatch(const SegmentSync& sync) {
    if (const auto* begins_here = std::get_if<SegmentState>(&sync.event))
        handle(*begins_here, sync);
    else
        handle(std::get<SegmentsEnded>(sync.event));
}

// Reports whether the message names the segment after the newest known one of the origin, whose first frame may still arrive.
bool OriginFollower::is_early(const SegmentSync& sync) const {
    const auto* state = std::get_if<SegmentState>(&sync.event);
    if (state_ != State::following || state == nullptr || sync.instance != instance_ || opened_.empty())
        return false;
    const std::uint64_t known = early_.empty() ? opened_.front().number : std::get<SegmentState>(early_.back().event).number;
    const auto has_passed = [state](const Packet& packet) { return has_reached(*state, packet); };
    return state->number == known + 1 && early_.size() < kEarlyMax && std::ranges::none_of(packets_, has_passed);
}

void OriginFollower::dispatch_early(const Packet& packet) {
    if (early_.empty() || !has_reached(std::get<SegmentState>(early_.front().event), packet))
        return;
    const SegmentSync sync = std::move(early_.front());
    early_.pop_front();
    dispatch(sync);
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

void OriginFollower::handle(const SegmentState& state, const SegmentSync& sync) {
    const auto ours = std::ranges::find(opened_, state);
    if (ours != opened_.end()) {
        state_ = state_ == State::ending ? State::ending : State::following;
        held_.confirm_below(state.number);
        instance_ = sync.instance;
        opened_.erase(opened_.begin(), ours);
        forget_before(find(state).value_or(0));
        return;
    }
    // A connection begins with the newest message, and may repeat older ones.
    if (is_following() && sync.instance == instance_ && !opened_.empty() && state.number < opened_.front().number)
        return;
    // The first message of the next publisher has arrived, and no end of the previous one.
    if (state_ == State::ending) {
        handle(SegmentsEnded{state.number, state.frames_before});
        return handle(state, sync);
    }
    const bool is_next = state_ == State::following && !opened_.empty() && opened_.front().number + 1 == state.number;
    if (is_next && remake(state.frames_before))
        held_.confirm_below(state.number);
    else if (!is_next && state_ == State::following)
        held_.drop_unconfirmed(segmenter_.has_parts());
    if (const auto at = find(state)) {
        if (has_formats(state, *at))
            return resume(sync);
        forget_before(*at);
    }
    segmenter_.drop_open();
    collect();
    wait(sync);
}

void OriginFollower::handle(const SegmentsEnded& state) {
    const bool has_next = state_ == State::ending;
    if (is_following() && !opened_.empty())
        end(state);
    if (has_next)
        push_next();
}

void OriginFollower::end(const SegmentsEnded& state) {
    const bool is_same =
        opened_.back().number + 1 == state.number && segmenter_.is_open() && segmenter_.frames_hash() == state.frames;
    if (is_same) {
        segmenter_.interrupt();
        collect();
        held_.confirm_below(state.number);
        opened_.clear();
        return;
    }
    // If there is no open segment, the output has switched to another layout for the next publisher.
    const bool is_over = state_ == State::ending && !segmenter_.is_open();
    if (is_over || opened_.front().number + 1 != state.number)
        held_.drop_unconfirmed(segmenter_.has_parts());
    else if (remake(state.frames))
        held_.confirm_below(state.number);
    wait({});
}

// Makes the oldest unconfirmed segment again, with the frames up to that hash: at the origin it ended earlier than here. Emitted
// parts must be the same again.
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
    const auto& state = std::get<SegmentState>(sync.event);
    const auto at = find(state);
    segmenter_.resume(state, formats_for(state, at.value_or(0)));
    collect();
    held_.add(Resumed{sync, std::exchange(instance_, sync.instance) == sync.instance});
    opened_.clear();
    forget_before(at.value_or(0));
    state_ = State::following;
    held_.confirm_below(state.number);
    pending_.reset();
    for (const Packet& packet : packets_)
        segmenter_.push(packet);
    collect();
    // This node does not support one of the codecs, for example.
    if (opened_.empty() || opened_.front() != state)
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

std::optional<std::size_t> OriginFollower::find(const SegmentState& state) const {
    const auto found = std::ranges::find_if(packets_, [&state](const Packet& packet) { return begins(state, packet); });
    return found == packets_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - packets_.begin()));
}

// Reports whether formats_for() has the formats of all tracks in the segment. If a codec has no configuration, this waits for the
// track's first frame, but not longer than a track may be silent.
bool OriginFollower::has_formats(const SegmentState& state, std::size_t at) const {
    if (packets_.back().dts - state.at >= Segmenter::kSilence)
        return true;
    const auto formats = formats_for(state, at);
    return std::ranges::all_of(state.tracks, [&](const SegmentState::Track& track) {
        const auto is_its = [&track](const Packet& one) { return one.kind == track.kind && one.track == track.id; };
        const bool is_there = track.arrived && state.at - *track.arrived < Segmenter::kSilence;
        return !is_there || std::ranges::any_of(formats, is_its);
    });
}

// Returns the configurations in force at `at`, and the next frame of each track without a configuration.
std::vector<Packet> OriginFollower::formats_for(const SegmentState& state, std::size_t at) const {
    auto newest = configs_;
    for (std::size_t i = 0; i < at; ++i)
        if (packets_[i].is_config() && packets_[i].kind != MediaKind::data)
            newest.insert_or_assign({packets_[i].kind, packets_[i].track}, packets_[i]);
    std::vector<Packet> formats;
    for (const auto& [track, config] : newest)
        formats.push_back(config);
    for (const SegmentState::Track& track : state.tracks) {
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
