// Arbitrary bytes as a splice information section, with a correct checksum half of the time.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "wire/scte35/splice_info.hpp"
#include "wire/ts/crc32.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::wire::scte35;
    std::vector<std::uint8_t> section(data, data + size);
    for (const bool fixed : {false, true}) {
        if (fixed && size >= 8 && size <= kSectionBytesMax) {
            section[0] = kTableId;
            section[1] = static_cast<std::uint8_t>(0x30 | (size - 3) >> 8);
            section[2] = static_cast<std::uint8_t>(size - 3);
            section.resize(size - 4);
            const std::uint32_t crc = wire::ts::crc32_mpeg2(section);
            for (const unsigned shift : {24U, 16U, 8U, 0U})
                section.push_back(static_cast<std::uint8_t>(crc >> shift));
        }
        const auto info = parse_splice_info(section);
        if (!info.ok())
            continue;
        CHECK(info->segmentations.size() <= kDescriptorsMax);
        static_cast<void>(cues_of(*info));
        const auto adjusted = parse_splice_info(with_adjustment(section, 1));
        CHECK(adjusted.ok() && adjusted->pts_adjustment == 1);
    }
    return 0;
}
