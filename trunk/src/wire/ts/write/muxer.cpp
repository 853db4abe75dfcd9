#include "wire/ts/write/muxer.hpp"

#include <array>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace live::wire::ts {

namespace {

constexpr MediaTime kClockStep = 12us;  // one tick, rounded up

std::size_t bytes_of(std::span<const Bytes> parts) {
    std::size_t bytes = 0;
    for (const Bytes part : parts)
        bytes += part.size();
    return bytes;
}

}  // namespace

void Muxer::set_tracks(const Tracks& tracks) {
    if (tracks == tracks_)
        return;
    tracks_ = tracks;
    if (tables_written_)
        version_ = static_cast<std::uint8_t>((version_ + 1) % kTableVersions);
    tables_written_ = false;
}

void Muxer::restore(const State& state) {
    association_.set_counter(state.counters[0]);
    map_.set_counter(state.counters[1]);
    video_.set_counter(state.counters[2]);
    audio_.set_counter(state.counters[3]);
    id3_.set_counter(state.counters[4]);
    version_ = static_cast<std::uint8_t>(state.version % kTableVersions);
    last_clock_ = state.clock;
}

void Muxer::write_tables(std::vector<std::uint8_t>& out) {
    association_before_ = association_;
    map_before_ = map_;
    write_tables_with(association_, map_, out);
    tables_written_ = lacks_payload_ = true;
}

void Muxer::repeat_tables(std::vector<std::uint8_t>& out) const {
    PacketWriter association = association_before_;
    PacketWriter map = map_before_;
    write_tables_with(association, map, out);
}

void Muxer::write_tables_with(PacketWriter& association, PacketWriter& map, std::vector<std::uint8_t>& out) const {
    association.write_section(program_association_section(), out);
    map.write_section(program_map_section(tracks_, version_), out);
}

// The clock reference for a packet at `time`; nullopt when it would run backwards, because audio may have been ahead of video.
std::optional<MediaTime> Muxer::clock_at(MediaTime time) {
    if (last_clock_ && time <= *last_clock_)
        return std::nullopt;
    last_clock_ = time;
    return time;
}

void Muxer::write_video(const Picture& picture, std::span<const Bytes> parts, std::vector<std::uint8_t>& out) {
    begin_video(picture, parts, std::numeric_limits<std::size_t>::max(), out);
}

void Muxer::begin_video(const Picture& picture, std::span<const Bytes> parts, std::size_t packets_max,
                        std::vector<std::uint8_t>& out) {
    CHECK(tracks_.video && packets_max > 0);  // the first packet holds the whole PES header
    lacks_payload_ = false;
    auto clock = clock_at(picture.dts);
    if (!clock && picture.key)  // A player that starts here needs a clock reference.
        clock = clock_at(*last_clock_ + kClockStep);
    PesTimes times{.pts = picture.pts + kDecodeDelay, .dts = {}};
    if (picture.dts != picture.pts)
        times.dts = picture.dts + kDecodeDelay;
    const PesHeader header = pes_header(PesStream::video, times, bytes_of(parts));
    parts_.assign({header.view()});
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    unit_ = PacketWriter::Unit({.clock = clock, .random_access = picture.key}, parts_);
    continue_video(packets_max, out);
}

bool Muxer::continue_video(std::size_t packets_max, std::vector<std::uint8_t>& out) {
    video_.write_some(unit_, packets_max, out);
    if (!unit_.is_done())
        return false;
    parts_.clear();
    return true;
}

void Muxer::write_id3(MediaTime pts, Bytes tag, std::vector<std::uint8_t>& out) {
    CHECK(tracks_.id3);
    const PesHeader header = pes_header(PesStream::private_1, {.pts = pts + kDecodeDelay, .dts = {}}, tag.size());
    id3_.write_unit({}, std::array{header.view(), tag}, out);
}

// 2.4.4.1: a pointer field of zero precedes the section.
void Muxer::write_splice(Bytes section, std::vector<std::uint8_t>& out) {
    constexpr std::array<std::uint8_t, 1> kPointer = {0};
    CHECK(tracks_.splices);
    splices_.write_unit({}, std::array{Bytes(kPointer), section}, out);
}

void Muxer::write_audio(MediaTime pts, std::span<const Bytes> parts, std::vector<std::uint8_t>& out) {
    CHECK(tracks_.audio);
    PacketWriter::Start start;
    // Some clients refuse a segment whose first packet after the tables has no payload: there the clock follows the frame.
    const bool clock_follows = std::exchange(lacks_payload_, false);
    const bool is_due = tracks_.video && (!last_clock_ || pts - *last_clock_ >= kClockInterval);
    if (!tracks_.video)
        start = {.clock = clock_at(pts), .random_access = true};
    else if (is_due && !clock_follows)
        video_.write_clock(*clock_at(pts), out);
    const bool is_private = tracks_.audio == StreamType::ac3 || tracks_.audio == StreamType::opus;
    const PesStream stream = is_private ? PesStream::private_1 : PesStream::audio;
    const PesHeader header = pes_header(stream, {.pts = pts + kDecodeDelay, .dts = {}}, bytes_of(parts));
    parts_.assign({header.view()});
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    audio_.write_unit(start, parts_, out);
    parts_.clear();
    if (is_due && clock_follows)
        video_.write_clock(*clock_at(pts), out);
}

}  // namespace live::wire::ts
