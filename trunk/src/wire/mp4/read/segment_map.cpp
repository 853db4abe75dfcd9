#include "wire/mp4/read/segment_map.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes/byte_writer.hpp"
#include "wire/mp4/read/box_head.hpp"
#include "wire/scte35/splice_info.hpp"

namespace live::wire::mp4 {

namespace {

constexpr std::int64_t kMicros = 1'000'000;

MediaTime duration_of(std::int64_t ticks, std::uint32_t timescale) {
    return MediaTime(ticks / timescale * kMicros + ticks % timescale * kMicros / timescale);
}

std::int64_t ticks_of(MediaTime time, std::uint32_t timescale) {
    const std::int64_t seconds = time.count() / kMicros;
    const std::int64_t rest = time.count() % kMicros;
    const std::int64_t half = rest < 0 ? -kMicros / 2 : kMicros / 2;
    return seconds * timescale + (rest * timescale + half) / kMicros;
}

// Video if there is any.
std::size_t leading_track(const FragmentedHeader& header) {
    const auto video = std::ranges::find(header.tracks, MediaKind::video, &FragmentedTrack::kind);
    return video == header.tracks.end() ? 0 : static_cast<std::size_t>(video - header.tracks.begin());
}

// `content` of a tfdt box, which is at `at` in `box`.
Result<void> move_time(MutBytes box, std::size_t at, Bytes content, std::int64_t by) {
    ByteReader in(content);
    const bool is_long = TRY(in.u8()) == 1;
    TRY(in.skip(3));
    const std::uint64_t time = is_long ? TRY(in.u64be()) : TRY(in.u32be());
    if (time > std::uint64_t{1} << 56)
        return Error(Errc::malformed, "a fragment of a time that is too late");
    const auto moved = static_cast<std::uint64_t>(std::max<std::int64_t>(static_cast<std::int64_t>(time) + by, 0));
    if (!is_long && moved > std::numeric_limits<std::uint32_t>::max())
        return Error(Errc::limit, "a fragment whose time has 32 bits");
    ByteWriter out;
    if (is_long)
        out.u64be(moved);
    else
        out.u32be(static_cast<std::uint32_t>(moved));
    copy_bytes(out.written(), box.subspan(at + 4));
    return {};
}

Result<void> move_track(MutBytes boxes, Bytes traf, const FragmentedHeader& header, MediaTime by) {
    std::int64_t ticks = 0;
    return each_box(traf, [&](std::uint32_t inner, Bytes content, Bytes) -> Result<void> {
        if (inner == box_type("tfhd")) {
            ByteReader in(content);
            TRY(in.skip(4));
            const auto track = std::ranges::find(header.tracks, TRY(in.u32be()), &FragmentedTrack::id);
            ticks = track == header.tracks.end() ? 0 : ticks_of(by, track->timescale);
        }
        if (inner == box_type("tfdt"))
            return move_time(boxes, static_cast<std::size_t>(content.data() - boxes.data()), content, ticks);
        return {};
    });
}

// `content` of an emsg box, which is at `at` in `boxes`. Times of version 0 begin with their segment.
Result<void> move_event(MutBytes boxes, std::size_t at, Bytes content, MediaTime by) {
    ByteReader in(content);
    if (TRY(in.u8()) != 1)
        return {};
    TRY(in.skip(3));
    const std::uint32_t timescale = TRY(in.u32be());
    const std::uint64_t time = TRY(in.u64be());
    if (time > std::uint64_t{1} << 56)
        return Error(Errc::malformed, "an event of a time that is too late");
    const std::int64_t moved = std::max<std::int64_t>(static_cast<std::int64_t>(time) + ticks_of(by, timescale), 0);
    ByteWriter out;
    out.u64be(static_cast<std::uint64_t>(moved));
    copy_bytes(out.written(), boxes.subspan(at + 8));
    return {};
}

}  // namespace

Result<SegmentMap> SegmentMap::open(std::uint64_t size, const ReadAt& read) {
    auto header = TRY(read_fragmented_header(size, read));
    if (header.tracks.empty())
        return Error(Errc::unsupported, "a file without tracks");
    return SegmentMap(std::move(header));
}

Result<bool> SegmentMap::extend(std::uint64_t size, const ReadAt& read, std::size_t fragments) {
    FragmentReader reader(header_, size, read);
    Fragment fragment;
    for (; fragments > 0; --fragments) {
        if (segments_.size() == kSegmentsMax)
            return true;
        const auto got = reader.read(next_, fragment);
        if (!got.ok() && got.code() == Errc::cancelled)
            return got.error();
        // A file ends where its bytes are no whole fragment.
        if (!got.ok())
            return true;
        // A splice may be at the first frame of the fragment. Before the first fragment, the zero of the times is unknown.
        const bool is_first = !known_delay_;
        if (is_first)
            add(fragment);
        if (fragment.events != fragment.offset)
            add_events(TRY(read(fragment.events, static_cast<std::size_t>(fragment.offset - fragment.events))));
        if (!is_first)
            add(fragment);
        next_ = fragment.offset + fragment.bytes;
    }
    return false;
}

void SegmentMap::add(const Fragment& fragment) {
    const std::size_t lead = leading_track(header_);
    const auto& samples = fragment.samples[lead];
    const FragmentedTrack& track = header_.tracks[lead];
    if (samples.empty()) {
        if (rest_)
            rest_->bytes = fragment.offset + fragment.bytes - rest_->offset;
        return;
    }
    const bool is_video = track.kind == MediaKind::video;
    if (!known_delay_) {
        known_delay_ = is_video ? duration_of(std::max(samples.front().composition, 0), track.timescale) : MediaTime();
        delay_ = *known_delay_;
    }
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = 0;
    for (const FragmentSample& sample : samples) {
        const std::int64_t shown = static_cast<std::int64_t>(sample.tick) + sample.composition;
        begin = std::min(begin, shown);
        end = std::max(end, shown + sample.ticks);
    }
    const MediaTime start = duration_of(begin, track.timescale) - delay_;
    const bool may_begin = samples.front().key || !is_video;
    if (rest_ && may_begin && (start - rest_->start >= kSegmentMin || is_cut_by_splice(start))) {
        rest_->duration = start - rest_->start;
        segments_.push_back(*rest_);
        rest_.reset();
    }
    if (!rest_ && !may_begin)
        return;
    if (!rest_)
        rest_ = MappedSegment{.offset = fragment.events, .start = start};
    rest_->bytes = fragment.offset + fragment.bytes - rest_->offset;
    rest_->duration = std::max(rest_->duration, duration_of(end, track.timescale) - delay_ - rest_->start);
}

void SegmentMap::add_cue(const EventMessage& event) {
    const MediaTime duration = mp4::duration_of(event);
    const std::size_t bytes = event.value.size() + event.data.size();
    if (duration <= MediaTime() || cues_.size() == kCuesMax || cue_bytes_ + bytes > kCueBytesMax)
        return;
    cue_bytes_ += bytes;
    cues_.push_back({time_of(event), duration, event.value, std::string(as_text(event.data))});
}

void SegmentMap::add_events(Bytes boxes) {
    for (EventMessage& event : events_in(boxes)) {
        if (event.scheme == kCueScheme)
            add_cue(event);
        if (event.scheme != kSpliceScheme || splices_.size() == kSplicesMax)
            continue;
        section_bytes_ += event.data.size();
        splices_.push_back({.at = time_of(event) - delay_, .section = std::move(event.data)});
        cut_at(splices_.back());
    }
}

void SegmentMap::cut_at(const MappedSplice& splice) {
    const auto info = scte35::parse_splice_info(splice.section);
    if (!info.ok())
        return;
    const auto insert = [this](MediaTime at) { cuts_.insert(std::ranges::upper_bound(cuts_, at), at); };
    insert(splice.at);
    for (const scte35::Cue& cue : scte35::cues_of(*info))
        if (cue.auto_return && cue.ticks && cuts_.size() < 2 * kSplicesMax)
            insert(splice.at + MediaTime(static_cast<std::int64_t>(std::min(*cue.ticks, scte35::kTicksMask) * 100 / 9)));
}

bool SegmentMap::is_cut_by_splice(MediaTime start) const {
    const auto next = std::ranges::upper_bound(cuts_, rest_->start + kSpliceSlack);
    return next != cuts_.end() && *next <= start + kSpliceSlack && start - rest_->start >= kSplicedMin;
}

Result<void> move_in_time(MutBytes boxes, const FragmentedHeader& header, MediaTime by) {
    bool has_fragment = false;
    TRY(each_box(boxes, [&](std::uint32_t type, Bytes content, Bytes) -> Result<void> {
        if (type == box_type("emsg"))
            return move_event(boxes, static_cast<std::size_t>(content.data() - boxes.data()), content, by);
        if (type != box_type("moof"))
            return {};
        has_fragment = true;
        return each_box(content, [&](std::uint32_t inner, Bytes traf, Bytes) -> Result<void> {
            return inner == box_type("traf") ? move_track(boxes, traf, header, by) : Result<void>();
        });
    }));
    return has_fragment ? Result<void>() : Error(Errc::malformed, "no fragment begins here");
}

}  // namespace live::wire::mp4
