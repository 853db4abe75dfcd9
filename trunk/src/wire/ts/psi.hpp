// The tables that describe a transport stream (ISO/IEC 13818-1, 2.4.4): one program and its map, with at most one video and one
// audio stream, ID3 and SCTE 35. Writing only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace live::wire::ts {

enum class Pid : std::uint16_t { pat = 0x0000, video = 0x0100, audio = 0x0101, id3 = 0x0102, splices = 0x0103, pmt = 0x1001 };

// ISO/IEC 13818-1, table 2-34. AC-3 as in ATSC A/52, annex A; Opus is private data with a registration ("Encapsulation of Opus in
// ISO/IEC 13818-1").
enum class StreamType : std::uint8_t { mp3 = 0x03, opus = 0x06, aac = 0x0F, avc = 0x1B, hevc = 0x24, ac3 = 0x81 };

struct Tracks {
    std::optional<StreamType> video;
    std::optional<StreamType> audio;
    std::uint8_t opus_channels = 0;  // of Opus; stored in the map
    bool id3 = false;                // timed metadata in PES packets ("Timed Metadata for HTTP Live Streaming")
    bool splices = false;            // sections of SCTE 35

    // The PID that carries the program clock: video, or audio when there is no video.
    Pid clock_pid() const { return video ? Pid::video : Pid::audio; }
    bool operator==(const Tracks&) const = default;
};

inline constexpr std::uint8_t kTableVersions = 32;  // modulus of table versions

// Complete sections, including the checksum.
std::vector<std::uint8_t> program_association_section();
std::vector<std::uint8_t> program_map_section(const Tracks& tracks, std::uint8_t version);

}  // namespace live::wire::ts
