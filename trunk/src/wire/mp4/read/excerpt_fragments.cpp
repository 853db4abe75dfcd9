#include "wire/mp4/read/excerpt_fragments.hpp"

#include <algorithm>
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
    for (bool is_over = false; !is_over && TRY(made.excerpt_.next(cursor, made.piece_));) {
        is_over = true;
        for (std::size_t i = 0; i < tracks.size(); ++i) {
            if (tracks[i].kind != MediaKind::video)
                continue;
            const auto& samples = made.piece_.tracks[i].samples;
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
void ExcerptFragments::hide(std::size_t track) {
    for (ExcerptSample& sample : piece_.tracks[track].samples) {
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

// 8.8.6 to 8.8.8 and 8.8.12.
void ExcerptFragments::write_track(ByteWriter& out, std::size_t track, std::vector<std::size_t>& data_offsets) const {
    enum HeaderFlags : std::uint32_t { kDescription = 0x2, kBaseIsMoof = 0x2'0000 };
    constexpr std::uint32_t kRunFlags = 0x1 | 0x100 | 0x200 | 0x400 | 0x800;
    const auto& samples = piece_.tracks[track].samples;
    const Box fragment(out, "traf");
    {
        const Box header(out, "tfhd", 0, kDescription | kBaseIsMoof);
        out.u32be(static_cast<std::uint32_t>(track + 1)).u32be(piece_.tracks[track].entry + 1);
    }
    {
        const Box time(out, "tfdt", 1, 0);
        out.u64be(static_cast<std::uint64_t>(std::max<std::int64_t>(samples.front().tick - base_of(track), 0)));
    }
    const Box run(out, "trun", 1, kRunFlags);
    out.u32be(static_cast<std::uint32_t>(samples.size()));
    data_offsets.push_back(out.size());
    out.u32be(0);
    for (const ExcerptSample& sample : samples)
        out.u32be(sample.ticks)
            .u32be(sample.bytes)
            .u32be(sample.key ? kSyncFlags : kNotSyncFlags)
            .u32be(static_cast<std::uint32_t>(sample.composition));
}

// Those within the span, at their times in the new file.
Result<void> ExcerptFragments::write_events(ByteWriter& out) {
    const auto events = TRY(excerpt_.events_of(piece_));
    if (events.empty())
        return {};
    const auto& tracks = excerpt_.tracks();
    const auto video = std::ranges::find(tracks, MediaKind::video, &ExcerptTrack::kind);
    const std::size_t lead = video == tracks.end() ? 0 : static_cast<std::size_t>(video - tracks.begin());
    const MediaTime begun(-base_of(lead) * 1'000'000 / tracks[lead].timescale);
    for (const EventMessage& event : events) {
        const MediaTime at = piece_.start + time_of(event);
        if (at < MediaTime() || at >= excerpt_.duration())
            continue;
        EventMessage moved = event;
        moved.timescale = kEventTimescale;
        moved.time = event_ticks(at + begun);
        write_event_message(out, moved);
    }
    return {};
}

Result<bool> ExcerptFragments::next(ByteWriter& out, std::vector<FileRange>& ranges) {
    ranges.clear();
    if (!TRY(excerpt_.next(cursor_, piece_)))
        return false;
    TRY(write_events(out));
    for (std::size_t i = 0; i < piece_.tracks.size(); ++i)
        hide(i);
    const std::size_t start = out.size();
    std::vector<std::size_t> data_offsets;
    {
        const Box fragment(out, "moof");
        {
            const Box header(out, "mfhd", 0, 0);
            out.u32be(sequence_++);
        }
        for (std::size_t i = 0; i < piece_.tracks.size(); ++i)
            if (!piece_.tracks[i].samples.empty())
                write_track(out, i, data_offsets);
    }
    std::uint64_t bytes = 0;
    std::size_t run = 0;
    const std::size_t media_at = out.size() - start + kBoxHeaderBytes;
    for (const auto& track : piece_.tracks) {
        if (!track.samples.empty())
            out.patch_u32be(data_offsets[run++], static_cast<std::uint32_t>(media_at + bytes));
        for (const ExcerptSample& sample : track.samples) {
            bytes += sample.bytes;
            if (!ranges.empty() && ranges.back().offset + ranges.back().count == sample.offset)
                ranges.back().count += sample.bytes;
            else
                ranges.push_back({piece_.file, sample.offset, sample.bytes});
        }
    }
    out.u32be(static_cast<std::uint32_t>(kBoxHeaderBytes + bytes)).text("mdat");
    return true;
}

}  // namespace live::wire::mp4
