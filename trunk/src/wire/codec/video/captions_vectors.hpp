// Frames with closed captions, and the services that they announce. Bytes by ATSC A/53 part 4, CTA-608-E and CTA-708-E.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::codec {

struct CaptionVector {
    const char* name;
    Codec codec;
    std::uint8_t length_size;
    std::vector<std::uint8_t> frame;
    std::vector<std::string> services;
};

inline const std::vector<CaptionVector>& caption_vectors() {
    static const std::vector<CaptionVector> table = {
        {"roll-up captions in field 1",
         Codec::avc,
         4,
         hex("00000012 06 04 0e b50031 47413934 03 41ff fc9425 80 00000002 419a"),
         {"CC1"}},
        {"an empty field 1", Codec::avc, 4, hex("00000012 06 04 0e b50031 47413934 03 41ff fc8080 80 00000002 419a"), {"CC1"}},
        {"an empty field 2", Codec::avc, 4, hex("00000012 06 04 0e b50031 47413934 03 41ff fd8080 80 00000002 419a"), {}},
        {"the second channel of field 1",
         Codec::avc,
         4,
         hex("00000012 06 04 0e b50031 47413934 03 41ff fc1c25 80 00000002 419a"),
         {"CC2"}},
        {"both channels of field 2",
         Codec::avc,
         4,
         hex("00000015 06 04 11 b50031 47413934 03 42ff fd1525 fd9d25 80 00000002 419a"),
         {"CC3", "CC4"}},
        {"XDS in field 2", Codec::avc, 4, hex("00000012 06 04 0e b50031 47413934 03 41ff fd0103 80 00000002 419a"), {}},
        {"service 1 of CEA-708, behind a delimiter, with emulation prevention",
         Codec::avc,
         4,
         hex("00000002 0910 00000016 06 04 11 b50031 47413934 03 42ff ff0221 fe410000 0380 00000002 65b8"),
         {"SERVICE1"}},
        {"services 2 and 9 of CEA-708",
         Codec::avc,
         4,
         hex("0000001b 06 04 17 b50031 47413934 03 44ff ff0441 fe41e1 fe0941 fe4100 80 00000002 419a"),
         {"SERVICE2", "SERVICE9"}},
        {"CEA-708 padding", Codec::avc, 4, hex("00000012 06 04 0e b50031 47413934 03 41ff fa0000 80 00000002 419a"), {}},
        {"HEVC, behind other SEI and a message of x265",
         Codec::hevc,
         4,
         hex("00000005 4e01 0101 80 00000018 4e01 05 02 aabb 04 0e b50031 47413934 03 41ff fc9420 80 00000003 2601af"),
         {"CC1"}},
        {"HEVC, behind the image",
         Codec::hevc,
         4,
         hex("00000003 2601af 00000013 4e01 04 0e b50031 47413934 03 41ff fc9420 80"),
         {}},
        {"lengths of two bytes", Codec::avc, 2, hex("0012 06 04 0e b50031 47413934 03 41ff fc9420 80 0002 419a"), {"CC1"}},
        {"an active format description", Codec::avc, 4, hex("0000000e 06 04 0a b50031 44544731 41f8 80 00000002 419a"), {}},
        {"a provider of HDR10+", Codec::avc, 4, hex("0000000a 06 04 06 b5003c 000104 80 00000002 419a"), {}},
        {"cc_data that must not be processed",
         Codec::avc,
         4,
         hex("00000012 06 04 0e b50031 47413934 03 01ff fc9420 80 00000002 419a"),
         {}},
        {"more constructs announced than sent",
         Codec::avc,
         4,
         hex("00000012 06 04 0e b50031 47413934 03 5fff fc9420 80 00000002 419a"),
         {"CC1"}},
    };
    return table;
}

}  // namespace live::wire::codec
