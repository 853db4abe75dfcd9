// Access units as byte streams, and what they hold. The parameter sets are those of avc_vectors() and hevc_vectors().
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::codec {

struct AnnexBVector {
    const char* name;
    Codec codec;
    std::vector<std::uint8_t> stream;
    std::vector<std::uint8_t> frame;
    bool key = false;
    std::size_t sets = 0;     // parameter sets
    bool is_written = false;  // ts/access_unit writes `frame` as this stream
};

inline const std::vector<AnnexBVector>& annex_b_vectors() {
    static const std::vector<AnnexBVector> table = {
        {"inter frame", Codec::avc, hex("00000001 09f0 00000001 41bbcc"), hex("00000003 41bbcc"), false, 0, true},
        {"two slices", Codec::avc, hex("00000001 09f0 00000001 41bb 00000001 41cc"), hex("00000002 41bb 00000002 41cc"), false, 0,
         true},
        {"key frame with its parameter sets", Codec::avc,
         hex("00000001 09f0"
             "00000001 6764001facd9405005bb011000000300100000030320f18319600100 00000001 68ebe3cb22c0 00000001 65aabb"),
         hex("00000003 65aabb"), true, 2},
        {"start codes of three bytes", Codec::avc, hex("000001 09f0 000001 0605112233445580 000001 65aa"),
         hex("00000008 0605112233445580 00000002 65aa"), true},
        {"zeros in front, between and at the end", Codec::avc, hex("0000000000000109f000000000000141bb000000000141cc00000000"),
         hex("00000002 41bb 00000002 41cc")},
        {"emulation prevention is kept", Codec::avc, hex("00000001 65000003010000030002"), hex("0000000a 65000003010000030002"),
         true},
        {"filler data is left out", Codec::avc, hex("000001 41bb 000001 0cffffff80"), hex("00000002 41bb")},
        {"end of sequence is kept", Codec::avc, hex("000001 41bb 000001 0a"), hex("00000002 41bb 00000001 0a")},
        {"an empty unit is skipped", Codec::avc, hex("000001 000001 41bb"), hex("00000002 41bb")},
        {"nothing but parameter sets", Codec::avc, hex("000001 6742c01e 000001 68cb83cb20"), {}, false, 2},
        {"nothing", Codec::avc, {}, {}},
        {"zeros alone", Codec::avc, hex("00000000"), {}},
        {"HEVC inter frame", Codec::hevc, hex("00000001 460150 00000001 020111"), hex("00000003 020111"), false, 0, true},
        {"HEVC key frame with its parameter sets", Codec::hevc,
         hex("00000001 460150 00000001 40010c01ffff016000000300900000030000"
             "03005d959809 00000001 42010101600000030090000003000003005da00280802d165959a4932bc05a02 00000001 4401c172b46240"
             "00000001 260111"),
         hex("00000003 260111"), true, 3},
        {"HEVC clean random access", Codec::hevc, hex("000001 2a0111"), hex("00000003 2a0111"), true},
        {"HEVC filler data is left out", Codec::hevc, hex("000001 020111 000001 4c01ff80"), hex("00000003 020111")},
    };
    return table;
}

}  // namespace live::wire::codec
