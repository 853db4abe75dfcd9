#include "wire/rtp_payload/key_start.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/rtp_payload/payload_fixture.hpp"
#include "wire/rtp_payload/vpx.hpp"

namespace live::wire::rtp_payload {
namespace {

struct KeyCase {
    const char* name;
    VideoFormat format;
    Octets payload;
    bool shows_key;
};

const std::vector<KeyCase>& key_cases() {
    static const std::vector<KeyCase> table = {
        {"AVC SPS", VideoFormat::avc, hex("67640028"), true},
        {"AVC PPS alone", VideoFormat::avc, hex("68ee01"), false},
        {"AVC first slice of an IDR", VideoFormat::avc, hex("6588"), true},
        {"AVC second slice of an IDR", VideoFormat::avc, hex("6508"), false},
        {"AVC inter", VideoFormat::avc, hex("419a01"), false},
        {"AVC STAP-A with SPS", VideoFormat::avc, hex("78 0002 0910 0002 6764 0003 68ee01"), true},
        {"AVC STAP-A without", VideoFormat::avc, hex("78 0002 0910 0003 419a01"), false},
        {"AVC STAP-A whose lengths do not fit", VideoFormat::avc, hex("78 0002 0910 0009 6764"), false},
        {"AVC FU-A begins an IDR", VideoFormat::avc, hex("7c85 88aa"), true},
        {"AVC FU-A goes on", VideoFormat::avc, hex("7c05 88aa"), false},
        {"AVC FU-A of an inter picture", VideoFormat::avc, hex("7c81 88aa"), false},
        {"HEVC VPS", VideoFormat::hevc, hex("400101"), true},
        {"HEVC inter", VideoFormat::hevc, hex("0201 d0aa"), false},
        {"HEVC CRA", VideoFormat::hevc, hex("2a01 af"), true},
        {"HEVC aggregate", VideoFormat::hevc, hex("6001 0003 460150 0003 420102"), true},
        {"HEVC fragment begins an IDR", VideoFormat::hevc, hex("6201 93 af01"), true},
        {"HEVC fragment goes on", VideoFormat::hevc, hex("6201 13 af02"), false},
        {"VP8 key", VideoFormat::vp8, hex("10 00aa"), true},
        {"VP8 inter", VideoFormat::vp8, hex("10 01aa"), false},
        {"VP8 second partition", VideoFormat::vp8, hex("11 00aa"), false},
        {"VP9 key", VideoFormat::vp9, hex("08 aa"), true},
        {"VP9 inter", VideoFormat::vp9, hex("48 aa"), false},
        {"VP9 upper layer of a key", VideoFormat::vp9, hex("28 02 00 aa"), false},
        {"AV1 new sequence", VideoFormat::av1, hex("28 03 08 0102 30 aabb"), true},
        {"AV1 no new sequence", VideoFormat::av1, hex("10 30 aabb"), false},
        {"AV1 the rest of an OBU", VideoFormat::av1, hex("98 30 aabb"), false},
    };
    return table;
}

TEST(KeyStart, RecognisesEveryVector) {
    for (const KeyCase& wanted : key_cases())
        EXPECT_EQ(shows_key_frame(wanted.format, wanted.payload), wanted.shows_key) << wanted.name;
}

TEST(KeyStart, AnyPartOfAPacketIsSafe) {
    for (const KeyCase& wanted : key_cases())
        for (std::size_t size = 0; size < wanted.payload.size(); ++size)
            static_cast<void>(shows_key_frame(wanted.format, Bytes(wanted.payload).first(size)));
    for (const VideoFormat format : {VideoFormat::avc, VideoFormat::hevc, VideoFormat::vp8, VideoFormat::vp9, VideoFormat::av1})
        EXPECT_FALSE(shows_key_frame(format, {}));
}

TEST(KeyStart, OnlyTheFirstPacketOfALongKeyShowsIt) {
    PayloadList packets;
    packetize_vp8(Octets(5'000, 0), 7, 1'000, packets);
    ASSERT_GT(packets.size(), 3U);
    for (std::size_t i = 0; i < packets.size(); ++i)
        EXPECT_EQ(shows_key_frame(VideoFormat::vp8, packets[i]), i == 0) << i;
}

TEST(KeyStart, FormatsGoByTheirNames) {
    EXPECT_EQ(video_format_of("h264"), VideoFormat::avc);
    EXPECT_EQ(video_format_of("AV1"), VideoFormat::av1);
    EXPECT_FALSE(video_format_of("H263"));
}

}  // namespace
}  // namespace live::wire::rtp_payload
