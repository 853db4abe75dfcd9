#include "service/segments/segmenter.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bytes/hash.hpp"

namespace live::service::segments {

using media::Packet;

namespace {

// A part may end this much earlier than its duration: timestamps are whole milliseconds.
constexpr MediaTime kPartSlack = 5ms;
// 8216bis, 4.4.4.9: the minimum, in percent of the part target.
constexpr int kPartPercentMin = 85;

}  // namespace

Segmenter::Segmenter(const CutRules& rules, Layout layout, MakeMuxer make_muxer) : rules_(rules), tracks_(rules.waits_for_key) {
    rules_.cut_at = std::max(rules_.cut_at, kCutMin);
    rules_.audio_cut_at = std::max(rules_.audio_cut_at, kCutMin);
    if (rules_.hard_cut_at)
        rules_.hard_cut_at = std::max(*rules_.hard_cut_at, kCutMin);
    restart(layout, std::move(make_muxer));
}

void Segmenter::push(const Packet& packet) {
    const bool is_left_out = tracks_.layout() == Layout::together && packet.extra;
    if (packet.kind == MediaKind::data)
        return push_event(packet);
    if (packet.content == media::Content::other || is_left_out)
        return;
    const auto index = tracks_.index_of(packet);
    if (!index)
        return;
    if (tracks_.representation(*index).muxer->may_change_format(packet))
        note_format(*index, packet);
    if (packet.is_config() || !tracks_.representation(*index).muxer->knows(packet.kind))
        return;
    // A track whose first key frame came within a segment joins the next one, however long that takes.
    TrackSet::Track& track = tracks_[*index];
    track.begun = track.begun || tracks_.is_decodable(track, packet);
    if (!track.begun)
        return;
    track.arrived = packet.dts;
    if (!tracks_.is_decodable(track, packet))
        return;
    tracks_.first() = tracks_.first().value_or(packet.dts);
    const Cut cut = open_ ? cut_before(*index, packet) : Cut::none;
    if (cut != Cut::none)
        close(packet.dts, *index);
    else if (open_ && (tracks_[*index].needs_segment || !tracks_.representation(*index).in_segment))
        return;  // the open segment cannot carry it, and the next one has not begun
    else if (open_ && ends_part(*index, packet))
        end_part(packet.dts, *index);
    if (!open_ && cut != Cut::hard && !resumed_ && !tracks_.may_begin(*index, packet)) {
        next_discontinuity_ = next_discontinuity_ || cut != Cut::none;
        return;
    }
    if (!open_)
        open(*index, packet);
    if (tracks_.representation(*index).in_segment)
        add(*index, packet);
}

// Among separate tracks, those of video carry events; without video, audio carries them.
void Segmenter::push_event(const Packet& packet) {
    auto event = media::read_timed_event(packet);
    if (!event)
        return;
    if (event->kind == media::TimedEvent::Kind::splice)
        splices_.add(*event);
    const bool by_track = tracks_.layout() == Layout::by_track;
    const MediaKind carrier = tracks_.has_video() ? MediaKind::video : MediaKind::audio;
    for (TrackSet::Representation& of : tracks_.representations()) {
        if (!open_ || !of.in_segment || (by_track && of.id.kind != carrier))
            continue;
        const std::size_t before = of.output.size();
        of.muxer->add_event(*event, of.output);
        of.bytes += of.output.size() - before;
        bytes_ += of.output.size() - before;
    }
    events_.emplace_back(EventFound{*std::move(event), splices_.lead()});
}

bool Segmenter::is_cut_by_splice(const Packet& packet) const {
    return packet.dts - start_ >= kKeptMin && splices_.is_cut_due(packet.dts + packet.cts);
}

void Segmenter::add(std::size_t index, const Packet& packet) {
    TrackSet::Representation& of = tracks_.representation(index);
    const std::size_t before = of.output.size();
    const bool carried = of.muxer->add(packet, of.output);
    of.bytes += of.output.size() - before;
    bytes_ += of.output.size() - before;
    if (!carried)
        return;
    TrackSet::Track& track = tracks_[index];
    const bool is_start = packet.kind == MediaKind::video ? packet.key : of.id.kind || !tracks_.has_video();
    of.independent = of.independent || is_start;
    if (packet.kind == MediaKind::video && !std::exchange(of.has_video, true))
        of.starts_with_key = packet.key;
    has_frames_ = part_has_frames_ = true;
    part_has_leader_ = part_has_leader_ || tracks_.leads(index);
    frames_hash_ = fnv1a_step(frames_hash_, static_cast<std::uint64_t>(packet.dts.count()) ^ packet.frame_bytes() << 40U);
    if (track.seen && packet.dts > track.last)
        track.step = packet.dts - track.last;
    track.seen = true;
    track.last = packet.dts;
    if (of.output.size() >= kBlockBytes)
        seal(of);
}

void Segmenter::note_format(std::size_t index, const Packet& packet) {
    TrackSet::Track& track = tracks_[index];
    if (packet.is_config()) {
        const std::uint64_t hash = fnv1a(packet.frame());
        if (packet.codec == track.codec && hash == track.config_hash)
            return;  // some encoders send it with every key frame
        track.codec = packet.codec;
        track.config_hash = hash;
    }
    const Muxer::Change change = tracks_.representation(index).muxer->configure(packet);
    if (change == Muxer::Change::none)
        return;
    if (open_ && !has_frames_)
        abandon();
    if (!open_)
        next_discontinuity_ = true;
    else if (change == Muxer::Change::new_segment)
        track.needs_segment = true;
    else if (!has_emitted_parts_)
        discontinuity_ = true;
}

// Discards the open segment, which contains no frames.
void Segmenter::abandon() {
    open_ = false;
    for (TrackSet::Representation& of : tracks_.representations())
        of.output.clear();
}

Segmenter::Cut Segmenter::cut_before(std::size_t index, const Packet& packet) const {
    if (!has_frames_)
        return Cut::none;
    if (bytes_ >= kSegmentBytesMax && (tracks_.layout() == Layout::together || tracks_.leads(index)))
        return tracks_.layout() == Layout::together ? Cut::hard : Cut::segment;
    if (packet.kind == MediaKind::audio)
        return audio_cut(index, packet);
    if (!tracks_.can_begin_with(packet))
        return Cut::none;
    // Video joins an audio-only segment, and leads from here on.
    if (!tracks_.leads(index))
        return !tracks_[index].extra && tracks_[tracks_.leader()].kind == MediaKind::audio ? Cut::segment : Cut::none;
    const bool is_due = packet.dts - start_ >= rules_.cut_at || tracks_.needs_segment({}) || tracks_.joins({}, packet.dts) ||
                        is_cut_by_splice(packet);
    return is_due ? Cut::segment : Cut::none;
}

Segmenter::Cut Segmenter::audio_cut(std::size_t index, const Packet& packet) const {
    const MediaTime length = packet.dts - start_;
    const bool has_leading_video =
        tracks_.layout() == Layout::together ? tracks_.has_video() : tracks_[tracks_.leader()].kind == MediaKind::video;
    if (!has_leading_video) {
        const bool is_due = length >= rules_.audio_cut_at || tracks_.needs_segment(MediaKind::audio) ||
                            tracks_.joins(MediaKind::audio, packet.dts) || is_cut_by_splice(packet);
        return tracks_.leads(index) && is_due ? Cut::segment : Cut::none;
    }
    if ((rules_.hard_cut_at && length >= *rules_.hard_cut_at) || (tracks_[index].needs_segment && !rules_.waits_for_key))
        return Cut::hard;
    const bool has_stopped =
        tracks_.layout() == Layout::by_track && packet.dts - tracks_[tracks_.leader()].last >= rules_.cut_at + kSilence;
    return has_stopped ? Cut::segment : Cut::none;
}

// Part boundaries follow the leader, until it has stopped. A part ends before the frame that would make it too long, unless it
// were too short then.
bool Segmenter::ends_part(std::size_t index, const Packet& packet) const {
    if (!rules_.part || !part_has_frames_)
        return false;
    const MediaTime length = packet.dts - part_start_;
    if (!tracks_.leads(index) && part_has_leader_)
        return length >= 2 * *rules_.part;
    if (length >= *rules_.part - kPartSlack)
        return true;
    return length * 100 >= *rules_.part * kPartPercentMin && length + tracks_[index].step > *rules_.part + kPartSlack;
}

void Segmenter::open(std::size_t index, const Packet& packet) {
    const MediaTime at = packet.dts;
    open_ = true;
    start_ = part_start_ = tracks_.layout() == Layout::together ? std::max(at, covered_) : at;
    discontinuity_ = std::exchange(next_discontinuity_, false) || tracks_.needs_segment({});
    if (tracks_.needs_segment({}) && !emitted_headers_.empty())
        number_ += rules_.named_ahead;
    has_frames_ = part_has_frames_ = part_has_leader_ = has_emitted_parts_ = false;
    bytes_ = 0;
    for (TrackSet::Track& track : tracks_)
        track.needs_segment = false;
    if (tracks_.layout() == Layout::by_track)
        tracks_.leader() = tracks_.leader_at(at).value_or(tracks_.leader());
    for (std::size_t i = 0; i < tracks_.representations().size(); ++i) {
        TrackSet::Representation& of = tracks_.representations()[i];
        of.in_segment = tracks_.layout() == Layout::together || tracks_.is_present(i, at);
        of.part_block = 0;
        of.independent = of.has_video = false;
        of.starts_with_key = true;
        if (of.in_segment)
            of.muxer->begin_segment(of.output, resumed_ && i < resumed_->size() ? &(*resumed_)[i] : nullptr);
        of.bytes = of.output.size();
        bytes_ += of.bytes;
    }
    const bool is_resumed = std::exchange(resumed_, std::nullopt).has_value();
    splices_.begin_segment(at + packet.cts, packet.cts);
    note_state(index, packet);
    if (is_resumed)
        emit_restored_splices();
    frames_hash_ = 0;
}

void Segmenter::note_state(std::size_t index, const Packet& packet) {
    SegmentState state;
    state.number = number_;
    state.by_track = tracks_.layout() == Layout::by_track;
    state.discontinuity = discontinuity_;
    state.kind = tracks_[index].kind;
    state.track = tracks_[index].id;
    state.at = packet.dts;
    state.covered = covered_;
    state.first = tracks_.first();
    state.leader = tracks_.leader();
    for (const TrackSet::Track& track : tracks_)
        state.tracks.push_back({track.kind, track.id, track.extra, track.seen, track.last, track.step, track.arrived});
    for (const TrackSet::Representation& of : tracks_.representations())
        state.muxers.push_back(of.in_segment ? of.muxer->state() : MuxerState());
    state.frames_before = frames_hash_;
    state.splices = splices_.splices();
    events_.emplace_back(SegmentOpened{std::move(state)});
}

void Segmenter::drop_open() {
    if (open_ && has_emitted_parts_)
        events_.emplace_back(SegmentDropped{number_});
    open_ = false;
    for (TrackSet::Representation& of : tracks_.representations())
        of.output.clear();
    drop_blocks();
}

void Segmenter::drop_blocks() {
    for (TrackSet::Representation& of : tracks_.representations()) {
        std::ranges::move(of.blocks, std::back_inserter(dropped_blocks_));
        of.blocks.clear();
    }
}

void Segmenter::give_buffer(const Packet& next, std::vector<std::uint8_t> room) {
    const auto is_its = [&next](const TrackSet::Track& track) { return track.kind == next.kind && track.id == next.track; };
    const auto track = std::ranges::find_if(tracks_, is_its);
    if (track == tracks_.end())
        return;
    TrackSet::Representation& of = tracks_.representation(static_cast<std::size_t>(track - tracks_.begin()));
    if (of.output.capacity() - of.output.size() >= room.capacity())
        return;
    seal(of);
    of.output = std::move(room);
}

void Segmenter::resume(const SegmentState& state, const std::vector<Packet>& formats) {
    drop_open();
    restart();
    forget_headers();
    for (const SegmentState::Track& said : state.tracks) {
        Packet known;
        known.kind = said.kind;
        known.track = said.id;
        known.extra = said.extra;
        const auto index = tracks_.index_of(known);
        if (!index)
            continue;
        for (const Packet& format : formats)
            if (format.kind == said.kind && format.track == said.id)
                note_format(*index, format);
        TrackSet::Track& track = tracks_[*index];
        track.seen = said.seen;
        track.last = said.last;
        track.step = said.step;
        track.arrived = said.arrived;
        track.begun = said.arrived.has_value();
        track.needs_segment = false;
    }
    number_ = state.number;
    covered_ = state.covered;
    tracks_.first() = state.first;
    tracks_.leader() = std::min<std::size_t>(state.leader, tracks_.empty() ? 0 : tracks_.size() - 1);
    next_discontinuity_ = state.discontinuity;
    frames_hash_ = state.frames_before;
    resumed_ = state.muxers;
    splices_.restore(state.splices);
}

// The messages of these splices precede the first packet.
void Segmenter::emit_restored_splices() {
    for (const media::SplicePoints::Splice& splice : splices_.splices())
        events_.emplace_back(EventFound{
            {.kind = media::TimedEvent::Kind::splice, .at = splice.at, .data = Slice::copy_of(splice.section)}, splices_.lead()});
}

void Segmenter::close(MediaTime at, std::optional<std::size_t> next) {
    if (!open_)
        return;
    at = std::max(at, part_start_);  // tracks interleave by a few milliseconds
    const MediaTime duration = at - start_;
    const bool is_kept = has_frames_ && (duration >= kKeptMin || has_emitted_parts_);
    part_has_frames_ = part_has_frames_ && is_kept;
    end_part(at, next);
    open_ = false;
    if (is_kept && has_emitted_parts_ && rules_.whole_only && tracks_.lacks_a_track()) {
        events_.emplace_back(SegmentDropped{number_++});
    } else if (is_kept) {
        const auto representations = tracks_.in_order(has_emitted_parts_);
        emit_headers(representations);
        SegmentMade made{number_++, discontinuity_, start_, duration, {}, {}};
        for (TrackSet::Representation* of : representations)
            made.pieces.push_back({std::exchange(of->blocks, {}), of->bytes, false, of->starts_with_key,
                                   of->muxer->extent().value_or(Extent{start_, duration})});
        events_.emplace_back(std::move(made));
        covered_ = at;
    } else {
        next_discontinuity_ = next_discontinuity_ || discontinuity_;
    }
    drop_blocks();
}

void Segmenter::end_part(MediaTime at, std::optional<std::size_t> next) {
    at = std::max(at, part_start_);
    for (TrackSet::Representation& of : tracks_.representations()) {
        const bool has_next = next && &tracks_.representation(*next) == &of;
        const std::size_t before = of.output.size();
        of.muxer->end_part(at, has_next ? std::optional(tracks_[*next].kind) : std::nullopt, of.output);
        of.bytes += of.output.size() - before;
        bytes_ += of.output.size() - before;
        seal(of);
    }
    if (rules_.part && part_has_frames_) {
        const auto representations = tracks_.in_order(true);
        emit_headers(representations);
        PartMade made{
            number_, !std::exchange(has_emitted_parts_, true), discontinuity_, start_, part_start_, part_duration(at), {}, {}};
        for (const TrackSet::Representation* of : representations) {
            Piece& piece = made.pieces.emplace_back();
            piece.blocks.assign(of->blocks.begin() + static_cast<std::ptrdiff_t>(of->part_block), of->blocks.end());
            for (const Block& block : piece.blocks)
                piece.bytes += block->size();
            piece.independent = of->independent;
            piece.starts_with_key = of->starts_with_key;
        }
        events_.emplace_back(std::move(made));
    }
    part_start_ = at;
    part_has_frames_ = part_has_leader_ = false;
    for (TrackSet::Representation& of : tracks_.representations()) {
        of.part_block = of.blocks.size();
        of.independent = false;
    }
}

// 8216bis, 4.4.4.9: no part may be longer than the part target in the playlist. If frames are missing, or timestamps jump, the
// part ends before the gap: with the leader's last frame, or at the part target. The gap is in no part.
MediaTime Segmenter::part_duration(MediaTime end) const {
    const MediaTime length = end - part_start_;
    if (length <= *rules_.part + kPartSlack)
        return std::min(length, *rules_.part);
    MediaTime covered{};  // by frames of the leader
    for (std::size_t i = 0; i < tracks_.size(); ++i)
        if (tracks_[i].seen && tracks_.leads(i))
            covered = std::max(covered, tracks_[i].step > MediaTime{} ? tracks_[i].last + tracks_[i].step - part_start_ : length);
    return std::min(length, std::max(covered, *rules_.part));
}

// Emitted only when the headers have changed.
void Segmenter::emit_headers(const std::vector<TrackSet::Representation*>& representations) {
    std::vector<Header> headers;
    bool is_same = representations.size() == emitted_headers_.size();
    for (const TrackSet::Representation* of : representations) {
        const auto name = of->id.name();
        const auto known =
            std::ranges::find_if(emitted_headers_, [&name](const Header& header) { return header.id.name() == name; });
        auto init = of->muxer->init();
        is_same = is_same && known == emitted_headers_.begin() + static_cast<std::ptrdiff_t>(headers.size());
        Header& header = headers.emplace_back(Header{of->id, of->muxer->format(), nullptr});
        if (known != emitted_headers_.end() && (known->init == nullptr ? init.empty() : *known->init == init))
            header.init = known->init;
        else
            is_same = false;
        if (header.init == nullptr && !init.empty())
            header.init = std::make_shared<const std::vector<std::uint8_t>>(std::move(init));
    }
    if (is_same)
        return;
    emitted_headers_ = headers;
    events_.emplace_back(HeadersChanged{std::move(headers)});
}

void Segmenter::seal(TrackSet::Representation& of) {
    if (of.output.empty())
        return;
    if (of.output.capacity() - of.output.size() > of.output.size() / 8)
        of.output.shrink_to_fit();
    of.blocks.push_back(std::make_shared<const std::vector<std::uint8_t>>(std::exchange(of.output, {})));
}

void Segmenter::interrupt() {
    close(tracks_.end_of_last(start_), {});
    next_discontinuity_ = true;
    for (TrackSet::Track& track : tracks_)
        track.seen = track.begun = false;
}

void Segmenter::restart() {
    interrupt();
    resumed_.reset();
    splices_ = {};
    tracks_.restart();
}

void Segmenter::restart(Layout layout, MakeMuxer make_muxer) {
    interrupt();
    resumed_.reset();
    tracks_.restart(layout, std::move(make_muxer));
}

}  // namespace live::service::segments
