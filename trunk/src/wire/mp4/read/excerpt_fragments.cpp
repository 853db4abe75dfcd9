#include "wire/mp4/read/excerpt_fragments.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "wire/mp4/box.hpp"
#include "wire/mp4/movie_header.hpp"

namespace live::wire::mp4 {

namespace {

// 8.8.3.1.
constexpr std::uint32_t kSyncFlags = 0x0200'0000;
constexpr std::uint32_t kNotSyncFlags = 0x0101'0000;

}  // namespace

TrackFormat format_of(const ExcerptTrack& track) {
    TrackFormat format;
    format.kind = track.kind;
    format.timescale = track.timescale;
    format.width = track.width;
    format.height = track.height;
    return format;
}

Result<ExcerptFragments> ExcerptFragments::create(Excerpt excerpt) {
    ExcerptFragments made(std::move(excerpt));
    const auto& tracks = made.excerpt_.tracks();
    Excerpt::Cursor cursor = made.excerpt_.begin();
    ExcerptPiece piece;
    for (bool is_over = false; !is_over && TRY(made.excerpt_.next(cursor, piece));) {
        is_over = true;
        for (std::size_t i = 0; i < tracks.size(); ++i) {
            if (tracks[i].kind != MediaKind::video)
                continue;
            const auto& samples = piece.tracks[i].samples;
            const auto hidden = std::ranges::count_if(samples, [](const ExcerptSample& sample) { return sample.tick < 0; });
            made.hidden_[i] += static_cast<std::uint32_t>(hidden);
            is_over = is_over && static_cast<std::size_t>(hidden) != samples.size();
        }
    }
    return made;
}

// Media time zero of a track in the new file.
std::int64_t ExcerptFragments::base_of(std::size_t track) const {
    if (excerpt_.tracks()[track].kind == MediaKind::video)
        return -std::int64_t{hidden_[track]};
    return std::min<std::int64_t>(excerpt_.tracks()[track].first_tick.value_or(0), 0);
}

// Frames that are decoded before the asked time and shown after it keep the time at which they are shown.
void ExcerptFragments::hide(ExcerptPiece& piece, std::size_t track) {
    for (ExcerptSample& sample : piece.tracks[track].samples) {
        if (sent_[track] == hidden_[track])
            return;
        const std::int64_t shown = sample.tick + sample.composition;
        const std::int64_t end = sample.tick + sample.ticks;
        sample.tick = std::int64_t{sent_[track]} - hidden_[track];
        ++sent_[track];
        sample.composition = shown >= 0 ? static_cast<std::int32_t>(shown - sample.tick) : 0;
        sample.ticks =
            sent_[track] == hidden_[track] ? static_cast<std::uint32_t>(std::max<std::int64_t>(end - sample.tick, 1)) : 1;
    }
}

void ExcerptFragments::write_init(ByteWriter& out, MediaTime duration) const {
    write_fragmented_type(out);
    const Box movie(out, "moov");
    const auto& tracks = excerpt_.tracks();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
    write_movie_header(out, static_cast<std::uint64_t>(std::max<std::int64_t>(ms, 0)),
                       static_cast<std::uint32_t>(tracks.size() + 1));
    for (std::size_t i = 0; i < tracks.size(); ++i) {
        const auto first = static_cast<std::uint64_t>(-base_of(i));
        const TrackHeader header = {.id = static_cast<std::uint32_t>(i + 1),
                                    .first_ticks = first,
                                    .is_cut = first > 0,
                                    .sample_entries = tracks[i].sample_entries};
        mp4::write_track(out, header, format_of(tracks[i]), [&out] {
            for (const std::string_view type : {"stts", "stsc", "stco"}) {
                const Box box(out, type, 0, 0);
                out.u32be(0);
            }
            const Box sizes(out, "stsz", 0, 0);
            out.u32be(0).u32be(0);
        });
    }
    const Box extends(out, "mvex");
    for (std::size_t i = 0; i < tracks.size(); ++i) {
        const Box defaults(out, "trex", 0, 0);
        out.u32be(static_cast<std::uint32_t>(i + 1)).u32be(1).u32be(0).u32be(0).u32be(kSyncFlags);
    }
}

// Few bytes between the samples cost less than a further part of the file.
bool ExcerptFragments::Extent::is_dense() const {
    constexpr std::uint64_t kUnusedMin = 4U << 10;
    return end - first <= samples + samples / 4 + kUnusedMin;
}

ExcerptFragments::Extent ExcerptFragments::joined(Extent extent, const ExcerptPiece& piece) {
    for (const auto& track : piece.tracks)
        for (const ExcerptSample& sample : track.samples) {
            extent.first = std::min(extent.first, sample.offset);
            extent.end = std::max(extent.end, sample.offset + sample.bytes);
            extent.samples += sample.bytes;
        }
    return extent;
}

// Reports whether the piece can be in the fragment of the others: no track has a gap or another sample description.
bool ExcerptFragments::continues(const ExcerptPiece& piece) const {
    if (piece.file != pieces_.front().file)
        return false;
    for (std::size_t i = 0; i < piece.tracks.size(); ++i) {
        const auto& track = piece.tracks[i];
        const auto before = std::ranges::find_if(pieces_.rbegin(), pieces_.rend(),
                                                 [i](const ExcerptPiece& one) { return !one.tracks[i].samples.empty(); });
        if (track.samples.empty() || before == pieces_.rend())
            continue;
        const ExcerptSample& last = before->tracks[i].samples.back();
        if (before->tracks[i].entry != track.entry || last.tick + last.ticks != track.samples.front().tick)
            return false;
    }
    return true;
}

bool ExcerptFragments::is_full() const {
    if (extent_.samples >= kJoinedBytes)
        return true;
    for (std::size_t i = 0; i < pieces_.front().tracks.size(); ++i) {
        const auto& first = pieces_.front().tracks[i].samples;
        const auto& last = pieces_.back().tracks[i].samples;
        const auto most = kJoinedMax.count() / 1'000'000 * excerpt_.tracks()[i].timescale;
        if (!first.empty() && !last.empty() && last.back().tick + last.back().ticks - first.front().tick >= most)
            return true;
    }
    return false;
}

// Reads the pieces of the next fragment. False at the end.
Result<bool> ExcerptFragments::read_pieces() {
    pieces_.clear();
    extent_ = {};
    while (pieces_.empty() || !is_full()) {
        ExcerptPiece piece;
        if (ahead_) {
            piece = *std::exchange(ahead_, std::nullopt);
        } else {
            if (!TRY(excerpt_.next(cursor_, piece)))
                break;
            for (std::size_t i = 0; i < piece.tracks.size(); ++i)
                hide(piece, i);
        }
        const Extent extent = joined(extent_, piece);
        if (!pieces_.empty() && !(extent.is_dense() && continues(piece))) {
            ahead_ = std::move(piece);
            break;
        }
        extent_ = extent;
        pieces_.push_back(std::move(piece));
    }
    return !pieces_.empty();
}

// Returns the parts of the file that are the media: one, or those of the samples of a piece that has few of its bytes.
std::vector<FileRange> ExcerptFragments::lay_out() {
    if (extent_.is_dense()) {
        for (ExcerptPiece& piece : pieces_)
            for (auto& track : piece.tracks)
                for (ExcerptSample& sample : track.samples)
                    sample.offset -= extent_.first;
        return {{pieces_.front().file, extent_.first, extent_.end - extent_.first}};
    }
    std::vector<FileRange> ranges;
    std::uint64_t place = 0;
    for (auto& track : pieces_.front().tracks)
        for (ExcerptSample& sample : track.samples) {
            if (!ranges.empty() && ranges.back().offset + ranges.back().count == sample.offset)
                ranges.back().count += sample.bytes;
            else
                ranges.push_back({pieces_.front().file, sample.offset, sample.bytes});
            sample.offset = std::exchange(place, place + sample.bytes);
        }
    return ranges;
}

// 8.8.6 to 8.8.8 and 8.8.12. A run is a part of the media without gaps.
void ExcerptFragments::write_track(ByteWriter& out, std::size_t track, std::vector<DataOffset>& data_offsets) {
    enum HeaderFlags : std::uint32_t { kDescription = 0x2, kTicks = 0x8, kFlags = 0x20, kBaseIsMoof = 0x2'0000 };
    enum RunFlags : std::uint32_t {
        kOffset = 0x1,
        kFirstFlags = 0x4,
        kTicksEach = 0x100,
        kBytesEach = 0x200,
        kFlagsEach = 0x400,
        kCompositionEach = 0x800
    };
    samples_.clear();
    std::uint32_t entry = 0;
    for (const ExcerptPiece& piece : pieces_) {
        const auto& part = piece.tracks[track];
        samples_.insert(samples_.end(), part.samples.begin(), part.samples.end());
        entry = part.samples.empty() ? entry : part.entry;
    }
    if (samples_.empty())
        return;
    const auto all = [this](const auto& holds) { return std::ranges::all_of(samples_, holds); };
    const bool is_steady = all([this](const ExcerptSample& sample) { return sample.ticks == samples_.front().ticks; });
    const bool is_sync = all([](const ExcerptSample& sample) { return sample.key; });
    const bool is_in_order = all([](const ExcerptSample& sample) { return sample.composition == 0; });
    const Box fragment(out, "traf");
    {
        const Box header(
            out, "tfhd", 0,
            kDescription | kBaseIsMoof | (is_steady ? std::uint32_t{kTicks} : 0U) | (is_sync ? 0U : std::uint32_t{kFlags}));
        out.u32be(static_cast<std::uint32_t>(track + 1)).u32be(entry + 1);
        if (is_steady)
            out.u32be(samples_.front().ticks);
        if (!is_sync)
            out.u32be(kNotSyncFlags);
    }
    {
        const Box time(out, "tfdt", 1, 0);
        out.u64be(static_cast<std::uint64_t>(std::max<std::int64_t>(samples_.front().tick - base_of(track), 0)));
    }
    for (std::size_t at = 0; at < samples_.size();) {
        std::size_t end = at + 1;
        while (end < samples_.size() && samples_[end].offset == samples_[end - 1].offset + samples_[end - 1].bytes)
            ++end;
        const auto run = std::span(samples_).subspan(at, end - at);
        const bool has_later_keys =
            !is_sync && std::ranges::any_of(run.subspan(1), [](const ExcerptSample& sample) { return sample.key; });
        const bool begins_with_key = !is_sync && !has_later_keys && run.front().key;
        const std::uint32_t flags = kOffset | kBytesEach | (begins_with_key ? kFirstFlags : 0U) |
                                    (has_later_keys ? kFlagsEach : 0U) | (is_steady ? 0U : kTicksEach) |
                                    (is_in_order ? 0U : kCompositionEach);
        const Box box(out, "trun", 1, flags);
        out.u32be(static_cast<std::uint32_t>(run.size()));
        data_offsets.push_back({out.size(), run.front().offset});
        out.u32be(0);
        if (begins_with_key)
            out.u32be(kSyncFlags);
        for (const ExcerptSample& sample : run) {
            if (!is_steady)
                out.u32be(sample.ticks);
            out.u32be(sample.bytes);
            if (has_later_keys)
                out.u32be(sample.key ? kSyncFlags : kNotSyncFlags);
            if (!is_in_order)
                out.u32be(static_cast<std::uint32_t>(sample.composition));
        }
        at = end;
    }
}

// Those within the span, at their times in the new file.
Result<void> ExcerptFragments::write_events(ByteWriter& out, const ExcerptPiece& piece) {
    const auto events = TRY(excerpt_.events_of(piece));
    if (events.empty())
        return {};
    const auto& tracks = excerpt_.tracks();
    const auto video = std::ranges::find(tracks, MediaKind::video, &ExcerptTrack::kind);
    const std::size_t lead = video == tracks.end() ? 0 : static_cast<std::size_t>(video - tracks.begin());
    const MediaTime begun(-base_of(lead) * 1'000'000 / tracks[lead].timescale);
    for (const EventMessage& event : events) {
        const MediaTime at = piece.start + time_of(event);
        const MediaTime end = at + duration_of(event);
        // A line of subtitles may begin before the span.
        const bool is_early = at < MediaTime() && (event.scheme != kCueScheme || end <= MediaTime());
        if (is_early || at >= excerpt_.duration())
            continue;
        EventMessage moved = event;
        const MediaTime shown = std::max(at, MediaTime());
        moved.timescale = kEventTimescale;
        moved.time = event_ticks(shown + begun);
        if (event.duration != EventMessage::kUnknownDuration)
            moved.duration =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(event_ticks(end - shown), EventMessage::kUnknownDuration - 1));
        write_event_message(out, moved);
    }
    return {};
}

Result<bool> ExcerptFragments::next(ByteWriter& out, std::vector<FileRange>& ranges) {
    ranges.clear();
    if (!TRY(read_pieces()))
        return false;
    for (const ExcerptPiece& piece : pieces_)
        TRY(write_events(out, piece));
    ranges = lay_out();
    const std::size_t start = out.size();
    std::vector<DataOffset> data_offsets;
    {
        const Box fragment(out, "moof");
        {
            const Box header(out, "mfhd", 0, 0);
            out.u32be(sequence_++);
        }
        for (std::size_t i = 0; i < excerpt_.tracks().size(); ++i)
            write_track(out, i, data_offsets);
    }
    const std::size_t media_at = out.size() - start + kBoxHeaderBytes;
    for (const DataOffset& one : data_offsets)
        out.patch_u32be(one.at, static_cast<std::uint32_t>(media_at + one.place));
    std::uint64_t bytes = 0;
    for (const FileRange& range : ranges)
        bytes += range.count;
    out.u32be(static_cast<std::uint32_t>(kBoxHeaderBytes + bytes)).text("mdat");
    return true;
}

}  // namespace live::wire::mp4
