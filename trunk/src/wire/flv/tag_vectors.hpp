// Named tag bodies and their parsed values, shared by the tests; also useful as examples.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/hex_fixture.hpp"
#include "wire/flv/audio_tag.hpp"
#include "wire/flv/video_tag.hpp"

namespace live::wire::flv {

struct VideoVector {
    const char* name;
    std::vector<std::uint8_t> bytes;
    Codec codec;
    PacketKind kind;
    bool key;
    int composition_ms;
    std::size_t header_bytes;  // size before the body of the (first) track
    std::size_t body_bytes;
    bool canonical = true;  // write(parse(bytes)) reproduces these bytes
    int track_id = 0;
    int offset_ns = 0;
};

inline const std::vector<VideoVector>& video_vectors() {
    using enum Codec;
    using enum PacketKind;
    static const std::vector<VideoVector> table = {
        {"avc sequence header", hex("17 00 000000 01640028"), avc, sequence_header, false, 0, 5, 4},
        {"avc key frame", hex("17 01 000050 0000000165"), avc, frames, true, 80, 5, 5},
        {"avc inter frame, negative composition", hex("27 01 ffffd8 00"), avc, frames, false, -40, 5, 1},
        {"avc smallest composition", hex("27 01 800000 00"), avc, frames, false, -8'388'608, 5, 1},
        {"avc end of sequence", hex("17 02 000000"), avc, end_of_sequence, false, 0, 5, 0},
        {"avc generated key frame", hex("47 01 000000 00"), avc, frames, true, 0, 5, 1, false},
        {"avc packet type 3", hex("17 03 000000 00"), avc, other, false, 0, 5, 1, false},
        {"hevc in the id that no text has", hex("1c 01 000010 00"), hevc, frames, true, 16, 5, 1},
        {"sorenson key frame", hex("12 0000"), sorenson, frames, true, 0, 1, 2},
        {"vp6 inter frame", hex("24 00"), vp6, frames, false, 0, 1, 1},
        {"codec 15", hex("1f 00"), Codec::unknown, frames, true, 0, 1, 1, false},
        {"classic command", hex("57 00"), Codec::none, command, false, 0, 1, 1, false},
        {"hvc1 sequence start", hex("90 68766331 01"), hevc, sequence_header, false, 0, 5, 1},
        {"hvc1 coded frames", hex("91 68766331 000042 02"), hevc, frames, true, 66, 8, 1},
        {"hvc1 coded frames without composition", hex("a3 68766331 0203"), hevc, frames, false, 0, 5, 2},
        {"hvc1 coded frames with zero composition", hex("a1 68766331 000000 02"), hevc, frames, false, 0, 8, 1, false},
        {"hvc1 end of sequence", hex("92 68766331"), hevc, end_of_sequence, false, 0, 5, 0},
        {"avc1 coded frames", hex("91 61766331 ffffff 02"), avc, frames, true, -1, 8, 1},
        {"av01 coded frames have no composition", hex("a1 61763031 0a0b0c0d"), av1, frames, false, 0, 5, 4},
        {"vp09 sequence start", hex("90 76703039 01"), vp9, sequence_header, false, 0, 5, 1},
        {"vp08 coded frames", hex("91 76703038 01"), vp8, frames, true, 0, 5, 1},
        {"av01 transport stream start", hex("95 61763031 80"), av1, other, false, 0, 5, 1, false},
        {"metadata ignores the frame type", hex("d4 68766331 0200"), hevc, metadata, false, 0, 5, 2, false},
        {"metadata", hex("94 68766331 0200"), hevc, metadata, false, 0, 5, 2},
        {"FourCC of tomorrow", hex("91 76766331 000001"), Codec::unknown, frames, true, 0, 5, 3, false},
        {"enhanced command", hex("d1 01"), Codec::none, command, false, 0, 1, 1},
        {"nanosecond offset", hex("97 02 0007a1 01 68766331 000001 aa"), hevc, frames, true, 1, 13, 1, false, 0, 1'953},
        {"nanosecond offset above the text's limit", hex("97 02 ffffff 01 68766331 000001 aa"), hevc, frames, true, 1, 13, 1,
         false, 0, 999'999},
        {"unknown extension is skipped", hex("97 00 ff 13 68766331 aa"), hevc, frames, true, 0, 8, 1, false},
        {"two extensions", hex("97 00 ff 17 02 000001 03 68766331 aa"), hevc, frames, true, 0, 13, 1, false, 0, 1},
        {"extension before a command", hex("d7 02 000001 01 00"), Codec::none, command, false, 0, 6, 1, false, 0, 1},
        {"one track", hex("96 01 68766331 05 000002 aabb"), hevc, frames, true, 2, 10, 2, true, 5},
        {"many tracks", hex("96 13 68766331 00 000002 aabb 01 000001 cc"), hevc, frames, true, 0, 10, 2, false, 0},
        {"many tracks, many codecs", hex("a6 21 61766331 01 000004 000003 aa 61763031 02 000001 bb"), avc, frames, false, 3, 13,
         1, false, 1},
    };
    return table;
}

struct AudioVector {
    const char* name;
    std::vector<std::uint8_t> bytes;
    Codec codec;
    PacketKind kind;
    std::uint32_t sample_rate;
    int sample_bits;
    int channels;
    std::size_t header_bytes;
    std::size_t body_bytes;
    bool canonical = true;
    int track_id = 0;
    int offset_ns = 0;
};

inline const std::vector<AudioVector>& audio_vectors() {
    using enum Codec;
    using enum PacketKind;
    static const std::vector<AudioVector> table = {
        {"aac sequence header", hex("af 00 1210"), aac, sequence_header, 44'100, 16, 2, 2, 2},
        {"aac frame", hex("af 01 21"), aac, frames, 44'100, 16, 2, 2, 1},
        {"aac packet type 2", hex("af 02 21"), aac, other, 44'100, 16, 2, 2, 1, false},
        {"mp3 stereo", hex("2f fffb"), mp3, frames, 44'100, 16, 2, 1, 2},
        {"mp3 at 8 kHz", hex("e2 fffb"), mp3, frames, 8'000, 16, 1, 1, 2, false},
        {"little-endian pcm, mono, 8 bit", hex("30 80"), pcm, frames, 5'512, 8, 1, 1, 1},
        {"platform-endian pcm", hex("07 80"), pcm, frames, 11'025, 16, 2, 1, 1, false},
        {"speex", hex("b6 00"), speex, frames, 16'000, 16, 1, 1, 1, false},
        {"nellymoser 16 kHz", hex("4a 00"), nellymoser, frames, 16'000, 16, 1, 1, 1, false},
        {"g711 a-law", hex("72 00"), g711a, frames, 8'000, 16, 1, 1, 1, false},
        {"g711 mu-law", hex("82 00"), g711u, frames, 8'000, 16, 1, 1, 1, false},
        {"device specific", hex("f2 00"), Codec::unknown, frames, 5'512, 16, 1, 1, 1, false},
        {"Opus sequence start", hex("90 4f707573 4f"), opus, sequence_header, 0, 0, 0, 5, 1},
        {"Opus frame", hex("91 4f707573 fc"), opus, frames, 0, 0, 0, 5, 1},
        {"mp4a end of sequence", hex("92 6d703461"), aac, end_of_sequence, 0, 0, 0, 5, 0},
        {"fLaC multichannel config", hex("94 664c6143 0102 00000003"), flac, channel_config, 0, 0, 0, 5, 6},
        {"ac-3", hex("91 61632d33 0b77"), ac3, frames, 0, 0, 0, 5, 2},
        {"ec-3", hex("91 65632d33 0b77"), eac3, frames, 0, 0, 0, 5, 2},
        {".mp3", hex("91 2e6d7033 ff"), mp3, frames, 0, 0, 0, 5, 1},
        {"FourCC of tomorrow", hex("91 78787878 ff"), Codec::unknown, frames, 0, 0, 0, 5, 1, false},
        {"nanosecond offset", hex("97 02 000010 01 4f707573 fc"), opus, frames, 0, 0, 0, 10, 1, false, 0, 16},
        {"one track", hex("95 01 6d703461 03 21"), aac, frames, 0, 0, 0, 7, 1, true, 3},
        {"many tracks", hex("95 11 6d703461 00 000001 21 01 000002 2223"), aac, frames, 0, 0, 0, 10, 1, false, 0},
        {"many tracks, many codecs", hex("95 21 6d703461 04 000001 21 4f707573 05 000001 fc"), aac, frames, 0, 0, 0, 10, 1, false,
         4},
    };
    return table;
}

}  // namespace live::wire::flv
