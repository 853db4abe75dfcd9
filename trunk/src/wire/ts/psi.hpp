// The tables that say what is in a transport stream (ISO/IEC 13818-1, 2.4.4): one program, its map, and in it at most one video
// and one audio stream. Writing only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace live::wire::ts {

enum class Pid : std::uint16_t { pat = 0x0000, video = 0x0100, audio = 0x0101, pmt = 0x1001 };

// ISO/IEC 13818-1, table 2-34. AC-3 as ATSC A/52, annex A, has it; Opus is private data with a name ("Encapsulation of Opus in
// ISO/IEC 13818-1").
enum class StreamType : std::uint8_t { mp3 = 0x03, opus = 0x06, aac = 0x0F, avc = 0x1B, hevc = 0x24, ac3 = 0x81 };

struct Tracks {
    std::optional<StreamType> video;
    std::optional<StreamType> audio;
    std::uint8_t opus_channels = 0;  // of Opus, which the map has to say

    // Who carries the program clock: frames, or audio when there are none.
    Pid clock_pid() const { return video ? Pid::video : Pid::audio; }
    bool operator==(const Tracks&) const = default;
};

inline constexpr std::uint8_t kTableVersions = 32;  // versions count modulo this

// Whole sections, checksum included.
std::vector<std::uint8_t> program_association_section();
std::vector<std::uint8_t> program_map_section(const Tracks& tracks, std::uint8_t version);

}  // namespace live::wire::ts
