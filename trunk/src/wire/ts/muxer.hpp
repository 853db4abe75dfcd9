// An MPEG-2 transport stream of one program, written access unit by access unit (ISO/IEC 13818-1). It knows times, tables and
// packets; what the bytes of an access unit are is access_unit.hpp's business.
//
// The clock runs kDecodeDelay behind the decoding times, so that every unit has arrived before it is due although audio and
// frame are not interleaved to the millisecond.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "wire/ts/packet_writer.hpp"
#include "wire/ts/pes.hpp"
#include "wire/ts/psi.hpp"

namespace live::wire::ts {

class Muxer {
public:
    static constexpr MediaTime kDecodeDelay = 100ms;
    // While there are packets, at most this much media time passes between two clock references. The text allows 100 ms.
    static constexpr MediaTime kClockInterval = 40ms;

    struct Picture {
        MediaTime dts{};
        MediaTime pts{};
        bool key = false;
    };

    // What the program carries from now on. A change raises the version of the map; the tables themselves are the caller's to
    // write.
    void set_tracks(const Tracks& tracks);
    const Tracks& tracks() const { return tracks_; }

    // All of these append whole packets.
    void write_tables(std::vector<std::uint8_t>& out);
    // The tables again, with the counters they had: for a reader that comes in behind them.
    void repeat_tables(std::vector<std::uint8_t>& out) const;
    // One access unit, whose parts must hold something. Abort without such a track, and for audio above kPesPayloadBytesMax.
    void write_video(const Picture& picture, std::span<const Bytes> parts, std::vector<std::uint8_t>& out);
    void write_audio(MediaTime pts, std::span<const Bytes> parts, std::vector<std::uint8_t>& out);

private:
    std::optional<MediaTime> clock_at(MediaTime time);
    void write_tables_with(PacketWriter& association, PacketWriter& map, std::vector<std::uint8_t>& out) const;

    Tracks tracks_;
    PacketWriter association_{Pid::pat};
    PacketWriter map_{Pid::pmt};
    PacketWriter association_before_{Pid::pat};  // as they stood before the tables were last written
    PacketWriter map_before_{Pid::pmt};
    PacketWriter video_{Pid::video};
    PacketWriter audio_{Pid::audio};
    std::vector<Bytes> parts_;  // holds something only inside a call
    std::optional<MediaTime> last_clock_;
    std::uint8_t version_ = 0;
    bool tables_written_ = false;  // with this version
};

}  // namespace live::wire::ts
