#include "wire/mp4/movie_header.hpp"

#include <algorithm>
#include <limits>

#include "wire/mp4/box.hpp"

namespace live::wire::mp4 {

namespace {

constexpr std::uint32_t kOne = 1U << 16;  // 16.16

// Durations of more than 32 bits need version 1 of a header; version 0 is supported by more players.
bool needs_long(std::uint64_t ticks) { return ticks > std::numeric_limits<std::uint32_t>::max(); }
std::uint8_t version_for(std::uint64_t ticks) { return needs_long(ticks) ? 1 : 0; }

// Creation and modification times are left zero: a header must not depend on when it was written.
void write_dates(ByteWriter& out, std::uint64_t ticks) { out.zeros(needs_long(ticks) ? 16 : 8); }

void write_duration(ByteWriter& out, std::uint64_t ticks) {
    if (needs_long(ticks))
        out.u64be(ticks);
    else
        out.u32be(static_cast<std::uint32_t>(ticks));
}

// The identity matrix (6.2.2).
void write_matrix(ByteWriter& out) {
    constexpr std::uint32_t kLast = 1U << 30;
    out.u32be(kOne).zeros(12).u32be(kOne).zeros(12).u32be(kLast);
}

// 8.3.2.
void write_track_header(ByteWriter& out, const TrackHeader& header, const TrackFormat& format) {
    constexpr std::uint32_t kEnabledInMovie = 3;
    constexpr std::uint16_t kFullVolume = 0x0100;
    const bool is_audio = format.kind == MediaKind::audio;
    const Box box(out, "tkhd", version_for(header.movie_ticks), kEnabledInMovie);
    write_dates(out, header.movie_ticks);
    out.u32be(header.id).zeros(4);
    write_duration(out, header.movie_ticks);
    // Players play one track of an alternate group.
    out.zeros(8).u16be(0).u16be(is_audio ? 1 : 2).u16be(is_audio ? kFullVolume : 0).u16be(0);
    write_matrix(out);
    out.u32be(std::uint32_t{format.width} << 16).u32be(std::uint32_t{format.height} << 16);
}

// 8.6.6: an empty edit, then the media from its first presentation on. Players move a track whose edit begins earlier.
void write_edits(ByteWriter& out, const TrackHeader& header) {
    const Box edits(out, "edts");
    const std::uint8_t version = version_for(std::max(header.movie_ticks, header.first_ticks));
    const Box list(out, "elst", version, 0);
    const auto write_time = [&out, version](std::int64_t ticks) {
        if (version == 1)
            out.u64be(static_cast<std::uint64_t>(ticks));
        else
            out.u32be(static_cast<std::uint32_t>(ticks));
    };
    out.u32be(header.delay_ticks > 0 ? 2 : 1);
    if (header.delay_ticks > 0) {
        write_time(static_cast<std::int64_t>(header.delay_ticks));
        write_time(-1);
        out.u32be(kOne);
    }
    write_time(static_cast<std::int64_t>(header.movie_ticks - header.delay_ticks));
    write_time(static_cast<std::int64_t>(header.first_ticks));
    out.u32be(kOne);
}

// 8.4.2.
void write_media_header(ByteWriter& out, const TrackHeader& header, const TrackFormat& format) {
    constexpr std::uint16_t kUndetermined = 0x55C4;  // "und", five bits per letter
    const Box box(out, "mdhd", version_for(header.media_ticks), 0);
    write_dates(out, header.media_ticks);
    out.u32be(format.timescale);
    write_duration(out, header.media_ticks);
    out.u16be(kUndetermined).u16be(0);
}

// 8.4.3.
void write_handler(ByteWriter& out, MediaKind kind) {
    const Box box(out, "hdlr", 0, 0);
    const bool is_audio = kind == MediaKind::audio;
    out.u32be(0).text(is_audio ? "soun" : "vide").zeros(12).text(is_audio ? "audio" : "video").u8(0);
}

// 8.4.5: the media kind, and a reference to this file.
void write_media_information(ByteWriter& out, MediaKind kind) {
    if (kind == MediaKind::audio) {
        const Box box(out, "smhd", 0, 0);
        out.zeros(4);
    } else {
        const Box box(out, "vmhd", 0, 1);
        out.zeros(8);
    }
    const Box information(out, "dinf");
    const Box reference(out, "dref", 0, 0);
    out.u32be(1);
    const Box self(out, "url ", 0, 1);
}

}  // namespace

void write_fragmented_type(ByteWriter& out) {
    const Box box(out, "ftyp");
    out.text("iso6").u32be(0).text("iso6").text("cmfc").text("dash").text("mp41");
}

void write_movie_type(ByteWriter& out) {
    const Box box(out, "ftyp");
    out.text("isom").u32be(0x200).text("isom").text("iso2").text("mp41");
}

void write_movie_header(ByteWriter& out, std::uint64_t movie_ticks, std::uint32_t next_track) {
    constexpr std::uint16_t kFullVolume = 0x0100;
    const Box box(out, "mvhd", version_for(movie_ticks), 0);
    write_dates(out, movie_ticks);
    out.u32be(kMovieTimescale);
    write_duration(out, movie_ticks);
    out.u32be(kOne).u16be(kFullVolume).zeros(10);
    write_matrix(out);
    out.zeros(24).u32be(next_track);
}

void write_track(ByteWriter& out, const TrackHeader& header, const TrackFormat& format,
                 const std::function<void()>& write_tables) {
    const Box track(out, "trak");
    write_track_header(out, header, format);
    if (header.delay_ticks > 0 || header.is_cut)
        write_edits(out, header);
    const Box media(out, "mdia");
    write_media_header(out, header, format);
    write_handler(out, format.kind);
    const Box information(out, "minf");
    write_media_information(out, format.kind);
    const Box tables(out, "stbl");
    {
        const Box descriptions(out, "stsd", 0, 0);
        out.u32be(static_cast<std::uint32_t>(std::max<std::size_t>(header.sample_entries.size(), 1)));
        for (const auto& entry : header.sample_entries)
            out.bytes(entry);
        if (header.sample_entries.empty())
            out.bytes(format.sample_entry);
    }
    write_tables();
}

}  // namespace live::wire::mp4
