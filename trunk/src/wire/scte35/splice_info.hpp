// The splice information section of SCTE 35 (ANSI/SCTE 35 2023, 9.6): where a stream may be spliced, for advertisements and
// programs. Reading and writing. Encrypted sections are not decrypted: only their header is read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::scte35 {

inline constexpr std::uint8_t kTableId = 0xFC;
// section_length has 12 bits; the three bytes before it are added.
inline constexpr std::size_t kSectionBytesMax = 4'093 + 3;
// Times are of 33 bits at 90 kHz.
inline constexpr std::uint64_t kTicksMask = 0x1'FFFF'FFFF;
// Descriptors in a section. Further ones are left out.
inline constexpr std::size_t kDescriptorsMax = 32;

// 9.7.
enum class Command : std::uint8_t {
    splice_null = 0x00,
    splice_schedule = 0x04,
    splice_insert = 0x05,
    time_signal = 0x06,
    bandwidth_reservation = 0x07,
    private_command = 0xFF,
};

// 9.8.2.
struct BreakDuration {
    bool auto_return = false;
    std::uint64_t ticks = 0;

    bool operator==(const BreakDuration&) const = default;
};

// 9.7.3.
struct SpliceInsert {
    std::uint32_t event_id = 0;
    bool cancelled = false;  // the following members are not set
    bool out_of_network = false;
    bool immediate = false;
    std::optional<std::uint64_t> pts{};  // of the program, or of its first component
    std::optional<BreakDuration> duration{};
    std::uint16_t unique_program_id = 0;
    std::uint8_t avail = 0;
    std::uint8_t avails_expected = 0;

    bool operator==(const SpliceInsert&) const = default;
};

// 10.3.3: a segmentation descriptor.
struct Segmentation {
    std::uint32_t event_id = 0;
    bool cancelled = false;                // the following members are not set
    std::uint8_t restrictions = 0x3F;      // delivery: the six bits after program_segmentation_flag, without the duration flag's
    std::optional<std::uint64_t> ticks{};  // segmentation_duration, of 40 bits
    std::uint8_t upid_type = 0;
    std::vector<std::uint8_t> upid{};
    std::uint8_t type = 0;  // table 23
    std::uint8_t segment = 0;
    std::uint8_t segments_expected = 0;

    bool operator==(const Segmentation&) const = default;
};

struct SpliceInfo {
    bool encrypted = false;
    std::uint64_t pts_adjustment = 0;
    std::uint16_t tier = 0xFFF;
    Command command = Command::splice_null;
    std::optional<SpliceInsert> insert{};
    std::optional<std::uint64_t> signal_pts{};  // of time_signal; none: immediately
    std::vector<Segmentation> segmentations{};

    bool operator==(const SpliceInfo&) const = default;
};

// Reads a complete section with its checksum. Bytes after it are ignored. Errc::need_more: cut; Errc::malformed: another table, a
// wrong checksum, or lengths that contradict each other. Unknown commands and descriptors are left out.
Result<SpliceInfo> parse_splice_info(Bytes section);
// Writes a section: splice_null, splice_insert of a whole program, or time_signal, with segmentation descriptors of whole
// programs. A time must have 33 bits, a UPID at most 200 bytes.
std::vector<std::uint8_t> write_splice_info(const SpliceInfo& info);

// When the splice happens, on the clock of the stream's PTS, pts_adjustment included; none if it is immediate or has no time.
std::optional<std::uint64_t> splice_ticks(const SpliceInfo& info);
// Returns the section with another pts_adjustment and a new checksum. It must have been parsed.
std::vector<std::uint8_t> with_adjustment(Bytes section, std::uint64_t pts_adjustment);

// The meaning of a section for the network's program: it is left, returned to, or something else begins or ends.
enum class CueKind : std::uint8_t { out, in, other };
struct Cue {
    CueKind kind = CueKind::other;
    std::uint32_t event_id = 0;
    std::optional<std::uint64_t> ticks{};  // the planned duration
    bool auto_return = false;              // the break ends after it without another message
};
// The cues of a section, in its order: of splice_insert, and of each segmentation descriptor. Cancelled events are left out.
std::vector<Cue> cues_of(const SpliceInfo& info);

}  // namespace live::wire::scte35
