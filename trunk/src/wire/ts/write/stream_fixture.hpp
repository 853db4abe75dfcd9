// A transport stream for tests of its carriers.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/frame_fixture.hpp"
#include "wire/ts/write/ts_converter.hpp"

namespace live::wire::ts {

// H.264 and AAC: the given number of 40 ms frames, the first one a key frame, and as much audio.
inline std::vector<std::uint8_t> stream_of(int pictures) {
    using codec::Codec;
    namespace frames = codec::frames;
    TsConverter converter;
    std::vector<std::uint8_t> out;
    EXPECT_TRUE(converter.push_video(frames::config(Codec::avc, codec::avc_vectors().front().record), out).ok());
    EXPECT_TRUE(converter.push_audio(frames::config(Codec::aac, hex("1190")), out).ok());
    for (int i = 0; i < pictures; ++i) {
        auto picture =
            i == 0 ? frames::key(Codec::avc, hex("00000004 65aabbcc")) : frames::inter(Codec::avc, hex("00000003 41aabb"));
        picture.dts = std::chrono::milliseconds(i * 40);
        EXPECT_TRUE(converter.push_video(picture, out).ok());
        auto audio = frames::audio(Codec::aac, hex("210a0b0c"));
        audio.dts = picture.dts;
        EXPECT_TRUE(converter.push_audio(audio, out).ok());
    }
    return out;
}

}  // namespace live::wire::ts
