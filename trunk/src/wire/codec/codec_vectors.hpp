// Decoder configuration records as real encoders write them. The video ones are ours, made with ffmpeg 5.1 from its own test
// source, for example: ffmpeg -f lavfi -i testsrc2=size=1280x720:rate=25 -frames:v 2 -pix_fmt yuv420p -c:v libx264 x.mp4 and
// extracted from the sample description box (avcC, hvcC, av1C).
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::codec {

struct PictureVector {
    const char* name;
    std::vector<std::uint8_t> record;
    std::uint32_t width;
    std::uint32_t height;
    int profile;
    int level;
    double frames_per_second;  // 0: not in the stream
    int bit_depth = 8;
};

inline const std::vector<PictureVector>& avc_vectors() {
    static const std::vector<PictureVector> table = {
        {"high 720p25", hex("0164001fffe1001a6764001facd9405005bb011000000300100000030320f183196001000668ebe3cb22c0fdf8f800"),
         1280, 720, 100, 31, 25},
        {"high 1918x1078 at 29.97, cropped",
         hex("01640028ffe1001a67640028acd940780227a9b01100000303e90000ea600f18319601000668ebe3cb22c0fdf8f800"), 1918, 1078, 100,
         40, 30000.0 / 1001},
        {"baseline", hex("0142c01effe100196742c01ed900a02ff97011000003000100000300320f162e4801000568cb83cb20"), 640, 360, 66, 30,
         25},
        {"interlaced", hex("0164001effe100186764001eacd940b424d8088000000300800000190f8a14cb01000668fba3cb22c0fdf8f800"), 720,
         576, 100, 30, 25},
        {"high 4:4:4, cropped",
         hex("01f4000dffe1001a67f4000d919b282a10f1f1f808800000030080000019078a14cb01000668ebe3c44844fff8f800"), 322, 242, 244, 13,
         25},
        {"high 4:2:2, ten bits, cropped",
         hex("017a000dffe1001b677a000db6cd9415087888fc0440000003004000000c83c50a658001000668ebe3cb22c0fefafa00"), 322, 242, 122,
         13, 25, 10},
    };
    return table;
}

inline const std::vector<PictureVector>& hevc_vectors() {
    static const std::vector<PictureVector> table = {
        {"main 720p",
         hex("0101600000009000000000005df000fcfdf8f800000f03200001001840010c01ffff0160000003009000000300000300"
             "5d959809210001002b42010101600000030090000003000003005da00280802d165959a4932bc05a020000030002000003"
             "00321022000100074401c172b46240"),
         1280, 720, 1, 93, 0},
        {"main10 1918x1078, with a conformance window",
         hex("01022000000090000000000078f000fcfdfafa00000f03200001001840010c01ffff0220000003009000000300000300"
             "78959809210001002d420101022000000300900000030000030078a003c08010e754d96566924caf016808000003000800"
             "000300c84022000100074401c172b46240"),
         1918, 1078, 2, 120, 0, 10},
    };
    return table;
}

inline const std::vector<PictureVector>& av1_vectors() {
    static const std::vector<PictureVector> table = {
        {"main 640x360", hex("81010c000a0b0000000cc4ff6736be4010"), 640, 360, 0, 1, 0},
        {"main 322x242, ten bits", hex("81004c000a0b000000043d07c402f84040"), 322, 242, 0, 0, 0, 10},
    };
    return table;
}

}  // namespace live::wire::codec
