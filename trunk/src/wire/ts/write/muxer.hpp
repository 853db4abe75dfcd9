// An MPEG-2 transport stream with one program, written one access unit at a time (ISO/IEC 13818-1). It handles times, tables and
// packets; access_unit.hpp provides the bytes of an access unit.
//
// The clock is kDecodeDelay behind the decoding times, so that every unit arrives before it is due although audio and video are
// not interleaved to the millisecond.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "wire/ts/packet_writer.hpp"
#include "wire/ts/psi.hpp"
#include "wire/ts/write/pes.hpp"

namespace live::wire::ts {

class Muxer {
public:
    static constexpr MediaTime kDecodeDelay = 100ms;
    // The maximum media time between two clock references while packets are written. The specification allows 100 ms.
    static constexpr MediaTime kClockInterval = 40ms;

    struct Picture {
        MediaTime dts{};
        MediaTime pts{};
        bool key = false;
    };

    // The state on which the next packets depend, besides the tracks: five continuity counters (PAT, PMT, video, audio, ID3), the
    // version of the map and the time of the latest clock reference.
    struct State {
        std::array<std::uint8_t, 5> counters{};
        std::uint8_t version = 0;
        std::optional<MediaTime> clock;
    };
    State state() const {
        return {
            {association_.counter(), map_.counter(), video_.counter(), audio_.counter(), id3_.counter()}, version_, last_clock_};
    }
    // Continues where another muxer has stopped. Call before the tables are written.
    void restore(const State& state);

    // Sets the tracks of the program. A change increments the version of the map; the caller writes the tables.
    void set_tracks(const Tracks& tracks);
    const Tracks& tracks() const { return tracks_; }

    // All of these append whole packets.
    void write_tables(std::vector<std::uint8_t>& out);
    // Writes the tables again with the same continuity counters, for a reader that joins after them.
    void repeat_tables(std::vector<std::uint8_t>& out) const;
    // Writes one access unit, whose parts must not be empty. Aborts without such a track, and for audio above
    // kPesPayloadBytesMax.
    void write_video(const Picture& picture, std::span<const Bytes> parts, std::vector<std::uint8_t>& out);
    void write_audio(MediaTime pts, std::span<const Bytes> parts, std::vector<std::uint8_t>& out);
    // Writes one ID3 tag that is shown at `pts`, or one section of SCTE 35. Aborts without such a stream, and for a tag above
    // kPesPayloadBytesMax.
    void write_id3(MediaTime pts, Bytes tag, std::vector<std::uint8_t>& out);
    void write_splice(Bytes section, std::vector<std::uint8_t>& out);
    // write_video() in pieces: `packets_max` packets now, at least one, and the others by continue_video() until it is true.
    // Nothing else may be written meanwhile, and the memory that the parts refer to must remain valid.
    void begin_video(const Picture& picture, std::span<const Bytes> parts, std::size_t packets_max,
                     std::vector<std::uint8_t>& out);
    bool continue_video(std::size_t packets_max, std::vector<std::uint8_t>& out);
    // Returns how many packets the begun access unit still needs.
    std::size_t packets_left() const { return unit_.packets_left(); }

private:
    std::optional<MediaTime> clock_at(MediaTime time);
    void write_tables_with(PacketWriter& association, PacketWriter& map, std::vector<std::uint8_t>& out) const;

    Tracks tracks_;
    PacketWriter association_{Pid::pat};
    PacketWriter map_{Pid::pmt};
    PacketWriter association_before_{Pid::pat};  // state before the tables were last written
    PacketWriter map_before_{Pid::pmt};
    PacketWriter video_{Pid::video};
    PacketWriter audio_{Pid::audio};
    PacketWriter id3_{Pid::id3};
    PacketWriter splices_{Pid::splices};
    std::vector<Bytes> parts_;  // scratch; empty between access units
    PacketWriter::Unit unit_;   // of video, in pieces
    std::optional<MediaTime> last_clock_;
    std::uint8_t version_ = 0;
    bool tables_written_ = false;  // in this version
    bool lacks_payload_ = false;   // no payload has followed the tables yet
};

}  // namespace live::wire::ts
