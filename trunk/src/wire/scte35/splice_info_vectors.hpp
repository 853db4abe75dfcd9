// Sections of ANSI/SCTE 35 2023, chapter 14 (samples), and their contents.
#pragma once

#include <string_view>
#include <vector>

#include "base/bytes/hex_fixture.hpp"
#include "wire/scte35/splice_info.hpp"

namespace live::wire::scte35 {

struct SpliceVector {
    std::string_view name;
    std::vector<std::uint8_t> bytes;
    SpliceInfo info;
    bool is_exact;  // the writer gives the same bytes: no other descriptors
};

inline std::vector<SpliceVector> splice_vectors() {
    const auto signal = [](std::uint64_t pts, std::vector<Segmentation> segmentations) {
        return SpliceInfo{.command = Command::time_signal, .signal_pts = pts, .segmentations = std::move(segmentations)};
    };
    const auto segmentation = [](std::uint32_t id, std::uint8_t restrictions, std::optional<std::uint64_t> ticks,
                                 std::string_view upid, std::uint8_t type, std::uint8_t segment) {
        return Segmentation{.event_id = id,
                            .restrictions = restrictions,
                            .ticks = ticks,
                            .upid_type = 8,
                            .upid = hex(upid),
                            .type = type,
                            .segment = segment};
    };
    constexpr std::string_view kUpid = "000000002ca0a18a";
    return {
        {"placement opportunity start",
         hex("fc3034000000000000fffff00506fe72bd0050001e021c435545494800008e7fcf0001a599b00808000000002ca0a18a3402009ac9d17e"),
         signal(0x0'72BD'0050, {segmentation(0x4800'008E, 0x0F, 0x01A5'99B0, kUpid, 0x34, 2)}), true},
        {"splice insert",
         hex("fc302f000000000000fffff014054800008f7feffe7369c02efe0052ccf500000000000a0008435545490000013562dba30a"),
         SpliceInfo{.command = Command::splice_insert,
                    .insert = SpliceInsert{.event_id = 0x4800'008F,
                                           .out_of_network = true,
                                           .pts = 0x0'7369'C02E,
                                           .duration = BreakDuration{true, 0x0052'CCF5}}},
         false},
        {"placement opportunity end",
         hex("fc302f000000000000fffff00506fe746290a000190217435545494800008e7f9f0808000000002ca0a18a350200a9cc6758"),
         signal(0x0'7462'90A0, {segmentation(0x4800'008E, 0x1F, {}, kUpid, 0x35, 2)}), true},
        {"program start and end",
         hex("fc3048000000000000fffff00506fe7a4d88b60032021743554549480000187f9f0808000000002ccbc3441100000217435545494800001"
             "97f9f0808000000002ca4dba01000009972e343"),
         signal(0x0'7A4D'88B6, {segmentation(0x4800'0018, 0x1F, {}, "000000002ccbc344", 0x11, 0),
                                segmentation(0x4800'0019, 0x1F, {}, "000000002ca4dba0", 0x10, 0)}),
         true},
        {"program overlap start",
         hex("fc302f000000000000fffff00506feaebfff640019021743554549480000087f9f0808000000002ca56cf5170000951db0a8"),
         signal(0x0'AEBF'FF64, {segmentation(0x4800'0008, 0x1F, {}, "000000002ca56cf5", 0x17, 0)}), true},
    };
}

}  // namespace live::wire::scte35
