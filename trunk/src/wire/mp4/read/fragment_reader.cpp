#include "wire/mp4/read/fragment_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "wire/mp4/read/box_head.hpp"

namespace live::wire::mp4 {

namespace {

constexpr std::uint32_t kNotSync = 0x1'0000;  // 8.8.3.1: sample_is_non_sync_sample

// A full box: version and flags (4.2).
struct Full {
    std::uint8_t version = 0;
    std::uint32_t flags = 0;
};

Result<Full> read_full(ByteReader& in) {
    Full full;
    full.version = TRY(in.u8());
    full.flags = TRY(in.u24be());
    return full;
}

Result<MediaTime> read_movie_header(Bytes content) {
    ByteReader in(content);
    const Full full = TRY(read_full(in));
    TRY(in.skip(full.version == 1 ? 16 : 8));
    const std::uint64_t timescale = TRY(in.u32be());
    const std::uint64_t ticks = full.version == 1 ? TRY(in.u64be()) : TRY(in.u32be());
    constexpr std::uint64_t kMicros = 1'000'000;
    if (timescale == 0 || ticks / timescale > std::numeric_limits<std::int64_t>::max() / kMicros / 2)
        return MediaTime::zero();
    return MediaTime(static_cast<std::int64_t>(ticks / timescale * kMicros + ticks % timescale * kMicros / timescale));
}

Result<void> read_track_header(Bytes content, FragmentedTrack& track) {
    ByteReader in(content);
    const Full full = TRY(read_full(in));
    TRY(in.skip(full.version == 1 ? 16 : 8));
    track.id = TRY(in.u32be());
    // Reserved, duration, layer, group, volume, matrix.
    TRY(in.skip(4 + (full.version == 1 ? 8 : 4) + 8 + 8 + 36));
    track.width = static_cast<std::uint16_t>(TRY(in.u32be()) >> 16);
    track.height = static_cast<std::uint16_t>(TRY(in.u32be()) >> 16);
    return {};
}

Result<void> read_media_header(Bytes content, FragmentedTrack& track) {
    ByteReader in(content);
    const Full full = TRY(read_full(in));
    TRY(in.skip(full.version == 1 ? 16 : 8));
    track.timescale = TRY(in.u32be());
    if (track.timescale == 0)
        return Error(Errc::malformed, "a track without a timescale");
    return {};
}

Result<void> read_sample_descriptions(Bytes content, FragmentedTrack& track) {
    ByteReader in(content);
    TRY(in.skip(8));
    return each_box(in.rest(), [&track](std::uint32_t, Bytes, Bytes whole) -> Result<void> {
        if (track.sample_entries.size() == FragmentedHeader::kSampleEntriesMax)
            return Error(Errc::limit, "too many sample entries");
        track.sample_entries.emplace_back(whole.begin(), whole.end());
        return {};
    });
}

// The depth is bounded: mdia, minf and stbl are inside each other.
Result<void> read_media(Bytes content, FragmentedTrack& track, bool& is_known) {
    return each_box(content, [&](std::uint32_t type, Bytes inner, Bytes) -> Result<void> {
        if (type == box_type("mdhd"))
            return read_media_header(inner, track);
        if (type == box_type("hdlr")) {
            ByteReader in(inner);
            TRY(in.skip(8));
            const std::uint32_t kind = TRY(in.u32be());
            is_known = kind == box_type("vide") || kind == box_type("soun");
            track.kind = kind == box_type("soun") ? MediaKind::audio : MediaKind::video;
            return {};
        }
        if (type != box_type("minf"))
            return {};
        return each_box(inner, [&track](std::uint32_t kind, Bytes tables, Bytes) -> Result<void> {
            if (kind != box_type("stbl"))
                return {};
            return each_box(tables, [&track](std::uint32_t table, Bytes entries, Bytes) -> Result<void> {
                return table == box_type("stsd") ? read_sample_descriptions(entries, track) : Result<void>();
            });
        });
    });
}

Result<void> read_track_box(Bytes content, FragmentedHeader& header) {
    FragmentedTrack track;
    bool is_known = false;
    TRY(each_box(content, [&](std::uint32_t type, Bytes inner, Bytes) -> Result<void> {
        if (type == box_type("tkhd"))
            return read_track_header(inner, track);
        return type == box_type("mdia") ? read_media(inner, track, is_known) : Result<void>();
    }));
    if (!is_known || track.sample_entries.empty())
        return {};
    if (header.tracks.size() == FragmentedHeader::kTracksMax)
        return Error(Errc::limit, "a movie of too many tracks");
    header.tracks.push_back(std::move(track));
    return {};
}

Result<void> read_extends(Bytes content, FragmentedHeader& header) {
    return each_box(content, [&header](std::uint32_t type, Bytes inner, Bytes) -> Result<void> {
        if (type != box_type("trex"))
            return {};
        ByteReader in(inner);
        TRY(in.skip(4));
        const std::uint32_t id = TRY(in.u32be());
        TRY(in.skip(4));
        const auto track = std::ranges::find(header.tracks, id, &FragmentedTrack::id);
        if (track == header.tracks.end())
            return {};
        track->default_ticks = TRY(in.u32be());
        track->default_bytes = TRY(in.u32be());
        track->default_flags = TRY(in.u32be());
        return {};
    });
}

Result<void> read_movie(Bytes content, FragmentedHeader& header) {
    std::optional<Bytes> extends;
    TRY(each_box(content, [&](std::uint32_t type, Bytes inner, Bytes) -> Result<void> {
        if (type == box_type("mvhd"))
            header.duration = TRY(read_movie_header(inner));
        else if (type == box_type("trak"))
            return read_track_box(inner, header);
        else if (type == box_type("mvex"))
            extends = inner;
        return {};
    }));
    if (!extends)
        return Error(Errc::unsupported, "a movie without fragments");
    return read_extends(*extends, header);
}

// The fields of tfhd, or their defaults (8.8.7).
struct RunDefaults {
    std::uint32_t entry = 0;
    std::uint64_t base = 0;
    std::uint32_t ticks = 0;
    std::uint32_t bytes = 0;
    std::uint32_t flags = 0;
};

Result<std::optional<std::size_t>> read_fragment_header(Bytes content, const FragmentedHeader& header, RunDefaults& defaults) {
    enum Flags : std::uint32_t { kBase = 0x1, kDescription = 0x2, kDuration = 0x8, kSize = 0x10, kFlags = 0x20 };
    ByteReader in(content);
    const std::uint32_t flags = TRY(read_full(in)).flags;
    const std::uint32_t id = TRY(in.u32be());
    const auto track = std::ranges::find(header.tracks, id, &FragmentedTrack::id);
    if (track == header.tracks.end())
        return std::optional<std::size_t>();
    if ((flags & kBase) != 0)
        defaults.base = TRY(in.u64be());
    if ((flags & kDescription) != 0)
        defaults.entry = std::max(TRY(in.u32be()), 1U) - 1;
    defaults.ticks = (flags & kDuration) != 0 ? TRY(in.u32be()) : track->default_ticks;
    defaults.bytes = (flags & kSize) != 0 ? TRY(in.u32be()) : track->default_bytes;
    defaults.flags = (flags & kFlags) != 0 ? TRY(in.u32be()) : track->default_flags;
    return std::optional(static_cast<std::size_t>(track - header.tracks.begin()));
}

// 8.8.8. `tick` and `at` are those of the first sample, and of the one behind the last afterwards.
Result<void> read_run(Bytes content, const RunDefaults& defaults, std::uint64_t& tick, std::uint64_t& at,
                      std::vector<FragmentSample>& samples) {
    enum Flags : std::uint32_t {
        kOffset = 0x1,
        kFirstFlags = 0x4,
        kDuration = 0x100,
        kSize = 0x200,
        kFlags = 0x400,
        kComposition = 0x800
    };
    ByteReader in(content);
    const std::uint32_t flags = TRY(read_full(in)).flags;
    const std::uint32_t count = TRY(in.u32be());
    if (samples.size() + count > Fragment::kSamplesMax)
        return Error(Errc::limit, "a fragment of too many samples");
    if ((flags & kOffset) != 0)
        at = defaults.base + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(TRY(in.u32be()))});
    std::uint32_t sample_flags = defaults.flags;
    if ((flags & kFirstFlags) != 0)
        sample_flags = TRY(in.u32be());
    for (std::uint32_t i = 0; i < count; ++i) {
        FragmentSample sample;
        sample.ticks = (flags & kDuration) != 0 ? TRY(in.u32be()) : defaults.ticks;
        sample.bytes = (flags & kSize) != 0 ? TRY(in.u32be()) : defaults.bytes;
        if ((flags & kFlags) != 0)
            sample_flags = TRY(in.u32be());
        if ((flags & kComposition) != 0)
            sample.composition = static_cast<std::int32_t>(TRY(in.u32be()));
        sample.key = (sample_flags & kNotSync) == 0;
        sample_flags = (flags & kFirstFlags) != 0 && i == 0 ? defaults.flags : sample_flags;
        sample.tick = tick;
        sample.offset = at;
        tick += sample.ticks;
        at += sample.bytes;
        samples.push_back(sample);
    }
    return {};
}

}  // namespace

Result<FragmentedHeader> read_fragmented_header(std::uint64_t size, const ReadAt& read) {
    FragmentedHeader header;
    bool has_movie = false;
    for (std::size_t box = 0; box < FragmentedHeader::kBoxesMax; ++box) {
        const auto bytes = TRY(read(header.bytes, BoxStart::kBytesMax));
        const BoxStart head = TRY(read_box_head_of(bytes));
        if (header.bytes == 0 && head.type != box_type("ftyp") && head.type != box_type("styp"))
            return Error(Errc::malformed, "no MP4 file");
        const bool is_fragment = head.type == box_type("moof") || (has_movie && head.type == box_type("emsg"));
        if (is_fragment || (has_movie && head.type != box_type("uuid") && head.type != box_type("free"))) {
            header.has_fragments = is_fragment;
            break;
        }
        if (head.size > size - std::min(size, header.bytes))
            return Error(Errc::need_more, "a movie header that is not complete");
        const bool is_movie = head.type == box_type("moov");
        if (is_movie || head.type == box_type("uuid")) {
            if (head.size > FragmentedHeader::kBytesMax)
                return Error(Errc::limit, "a movie header that is too long");
            const auto whole = TRY(read(header.bytes, static_cast<std::size_t>(head.size)));
            if (whole.size() != head.size)
                return Error(Errc::need_more, "a movie header that is not complete");
            const Bytes content = Bytes(whole).subspan(head.head_bytes);
            if (is_movie)
                TRY(read_movie(content, header));
            else if (auto note = read_recording_note(content); note.ok())
                header.note = *std::move(note);
            has_movie = has_movie || is_movie;
        }
        header.bytes += head.size;
        if (has_movie && header.bytes >= size)
            return header;
    }
    if (!has_movie)
        return Error(Errc::unsupported, "no movie header before the media");
    return header;
}

Result<void> read_track_part(std::uint32_t type, Bytes content, FragmentedTrack& track) {
    switch (type) {
        case box_type("tkhd"): return read_track_header(content, track);
        case box_type("mdhd"): return read_media_header(content, track);
        case box_type("stsd"): return read_sample_descriptions(content, track);
        default: return {};
    }
}

MediaTime movie_duration_of(Bytes content) {
    while (!content.empty()) {
        const auto head = read_box_head_of(content);
        if (!head.ok() || head->size > content.size())
            return {};
        const auto size = static_cast<std::size_t>(head->size);
        if (head->type == box_type("mvhd")) {
            const auto duration = read_movie_header(content.first(size).subspan(head->head_bytes));
            return duration.ok() ? *duration : MediaTime();
        }
        content = content.subspan(size);
    }
    return {};
}

std::vector<EventMessage> events_in(Bytes boxes) {
    std::vector<EventMessage> events;
    static_cast<void>(each_box(boxes, [&events](std::uint32_t type, Bytes, Bytes whole) -> Result<void> {
        if (type != box_type("emsg"))
            return {};
        auto message = parse_event_message(whole);
        if (message.ok() && !message->is_relative)
            events.push_back(*std::move(message));
        return {};
    }));
    return events;
}

namespace {

MediaTime time_of_ticks(std::uint64_t ticks, std::uint32_t timescale) {
    constexpr std::uint64_t kMicros = 1'000'000;
    constexpr std::uint64_t kSecondsMax = std::uint64_t{1} << 40;
    const std::uint64_t scale = std::max(timescale, 1U);
    const std::uint64_t seconds = std::min(ticks / scale, kSecondsMax);
    return MediaTime(static_cast<std::int64_t>(seconds * kMicros + ticks % scale * kMicros / scale));
}

}  // namespace

MediaTime time_of(const EventMessage& message) { return time_of_ticks(message.time, message.timescale); }

MediaTime duration_of(const EventMessage& message) {
    return message.duration == EventMessage::kUnknownDuration ? MediaTime() : time_of_ticks(message.duration, message.timescale);
}

void Fragment::clear(std::size_t tracks) {
    for (auto& track : samples)
        track.clear();
    samples.resize(tracks);
    entries.assign(tracks, 0);
    scripts.clear();
}

Result<void> FragmentReader::read(std::uint64_t offset, Fragment& fragment) {
    fragment.clear(header_.tracks.size());
    bool has_events = false;
    for (std::size_t box = 0; box < Fragment::kBoxesMax; ++box) {
        auto bytes = TRY(read_(offset, guess_));
        const BoxStart head = TRY(read_box_head_of(bytes));
        if (head.size > size_ - std::min(size_, offset))
            return Error(Errc::need_more, "a fragment that is not complete");
        if (head.type == box_type("emsg") && !std::exchange(has_events, true))
            fragment.events = offset;
        if (head.type != box_type("moof")) {
            offset += head.size;
            continue;
        }
        if (head.size > Fragment::kHeaderBytesMax)
            return Error(Errc::limit, "a fragment's header that is too long");
        const auto header_bytes = static_cast<std::size_t>(head.size);
        guess_ = std::max(guess_, header_bytes + header_bytes / 4 + BoxStart::kBytesMax);
        if (bytes.size() < header_bytes + BoxStart::kBytesMax)
            bytes = TRY(read_(offset, header_bytes + BoxStart::kBytesMax));
        if (bytes.size() < header_bytes)
            return Error(Errc::need_more, "a fragment that is not complete");
        const BoxStart data = TRY(read_box_head_of(Bytes(bytes).subspan(header_bytes)));
        if (data.type != box_type("mdat"))
            return Error(Errc::malformed, "a fragment without its media");
        if (data.size > size_ - offset - head.size)
            return Error(Errc::need_more, "a fragment that is not complete");
        fragment.offset = offset;
        const bool is_readable = has_events && offset - fragment.events <= Fragment::kEventBytesMax;
        fragment.events = is_readable ? fragment.events : offset;
        fragment.header_bytes = head.size;
        fragment.bytes = head.size + data.size;
        return read_header(Bytes(bytes).subspan(head.head_bytes, header_bytes - head.head_bytes), fragment);
    }
    return Error(Errc::malformed, "too many boxes before a fragment");
}

Result<void> FragmentReader::read_header(Bytes content, Fragment& fragment) const {
    return each_box(content, [&](std::uint32_t type, Bytes inner, Bytes) -> Result<void> {
        return type == box_type("traf") ? read_track(inner, fragment) : Result<void>();
    });
}

Result<void> FragmentReader::read_track(Bytes content, Fragment& fragment) const {
    RunDefaults defaults{.base = fragment.offset};
    std::optional<std::size_t> track;
    std::uint64_t tick = 0;
    std::uint64_t at = fragment.offset + fragment.header_bytes + 8;
    TRY(each_box(content, [&](std::uint32_t type, Bytes inner, Bytes) -> Result<void> {
        if (type == box_type("tfhd")) {
            track = TRY(read_fragment_header(inner, header_, defaults));
            if (track)
                fragment.entries[*track] = defaults.entry;
        } else if (type == box_type("tfdt")) {
            ByteReader in(inner);
            tick = TRY(read_full(in)).version == 1 ? TRY(in.u64be()) : TRY(in.u32be());
        } else if (type == box_type("trun") && track) {
            return read_run(inner, defaults, tick, at, fragment.samples[*track]);
        }
        return {};
    }));
    const std::uint64_t end = fragment.offset + fragment.bytes;
    constexpr std::uint64_t kTicksMax = std::uint64_t{1} << 56;
    if (track)
        for (const FragmentSample& sample : fragment.samples[*track])
            if (sample.offset < fragment.offset + fragment.header_bytes || sample.offset > end ||
                sample.bytes > end - sample.offset || sample.tick > kTicksMax)
                return Error(Errc::malformed, "a sample outside of its fragment");
    return {};
}

}  // namespace live::wire::mp4
