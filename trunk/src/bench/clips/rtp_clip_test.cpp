#include "bench/clips/rtp_clip.hpp"

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "wire/rtp_payload/nal.hpp"

namespace live::bench {
namespace {

using Octets = std::vector<std::uint8_t>;
using wire::rtmp::MessageType;

const Octets kConfig = hex("17 00 000000 0164001f ff e1 0004 6764001f 01 0002 68ee");

ClipMessage video(std::uint32_t time_ms, const Octets& body, bool is_setup = false) {
    return {MessageType::video, time_ms, is_setup, Slice::copy_of(body)};
}

// A frame with one NAL unit of that many bytes.
Octets picture(std::uint8_t tag, std::uint8_t unit, std::size_t bytes, std::uint32_t composition_ms = 0) {
    ByteWriter out;
    out.u8(tag).u8(1).u24be(composition_ms).u32be(static_cast<std::uint32_t>(bytes)).u8(unit);
    out.zeros(bytes - 1);
    return out.release();
}

FlvClip clip_of(std::vector<ClipMessage> messages) {
    FlvClip clip;
    clip.messages = std::move(messages);
    clip.round_ms = 1'000;
    return clip;
}

TEST(RtpClip, PutsParameterSetsAndStampBeforeAKeyFrame) {
    const auto clip = make_rtp_clip(clip_of({video(0, kConfig, true),
                                             video(40, picture(0x17, 0x65, 2'500)),
                                             {MessageType::audio, 50, false, Slice::copy_of(hex("af0121"))},
                                             video(80, picture(0x27, 0x41, 300, 80))}));
    ASSERT_TRUE(clip.ok()) << clip.error().text();
    EXPECT_EQ(clip->pictures, 2U);
    EXPECT_EQ(clip->round_ms, 1'000U);
    EXPECT_EQ(clip->format, "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=64001f");
    ASSERT_EQ(clip->packets.size(), 5U);
    // Both sets in one packet (STAP-A), then the frame in three.
    EXPECT_EQ(Octets(clip->packets[0].payload.bytes().begin(), clip->packets[0].payload.bytes().end()),
              hex("78 0004 6764001f 0002 68ee"));
    for (std::size_t i = 0; i < 5; ++i) {
        const RtpClipPacket& packet = clip->packets[i];
        EXPECT_EQ(packet.takes_stamp, i == 1 || i == 4) << i;
        EXPECT_EQ(packet.marker, i == 3 || i == 4) << i;
        EXPECT_EQ(packet.time_ms, i < 4 ? 40U : 80U) << i;
        EXPECT_EQ(packet.shown_ms, i < 4 ? 40U : 160U) << i;
        EXPECT_LE(packet.payload.size(), RtpClip::kPayloadBytesMax) << i;
    }
}

TEST(RtpClip, ReceiverAssemblesTheSameFrame) {
    const auto clip = make_rtp_clip(clip_of({video(0, kConfig, true), video(0, picture(0x17, 0x65, 5'000))}));
    ASSERT_TRUE(clip.ok());
    wire::rtp_payload::NalDepacketizer together(wire::rtp_payload::NalCodec::avc);
    std::uint64_t sequence = 7;
    for (const RtpClipPacket& packet : clip->packets)
        ASSERT_TRUE(together.push({sequence++, 0, packet.marker, packet.payload.bytes()}).ok());
    const auto frame = together.poll();
    ASSERT_TRUE(frame.has_value());
    EXPECT_TRUE(frame->is_key);
    ByteWriter wanted;
    wanted.u32be(4).bytes(hex("6764001f")).u32be(2).bytes(hex("68ee")).u32be(5'000).u8(0x65).zeros(4'999);
    EXPECT_EQ(frame->data, wanted.release());
}

TEST(RtpClip, KeepsParameterSetsOfTheFrameAndDropsDelimiters) {
    ByteWriter body;
    body.u8(0x17).u8(1).u24be(0);
    for (const Octets& unit : {hex("09f0"), hex("67640020"), hex("68ef"), hex("65aabb")})
        body.u32be(static_cast<std::uint32_t>(unit.size())).bytes(unit);
    const auto clip = make_rtp_clip(clip_of({video(0, kConfig, true), video(0, body.release())}));
    ASSERT_TRUE(clip.ok());
    ASSERT_EQ(clip->packets.size(), 2U);
    const Bytes sets = clip->packets[0].payload.bytes();
    EXPECT_EQ(Octets(sets.begin(), sets.end()), hex("78 0004 67640020 0002 68ef"));
    const Bytes slice = clip->packets[1].payload.bytes();
    EXPECT_EQ(Octets(slice.begin(), slice.end()), hex("65aabb"));
}

TEST(RtpClip, RefusesOtherVideoCodecs) {
    EXPECT_EQ(make_rtp_clip(clip_of({{MessageType::audio, 0, false, Slice::copy_of(hex("af0121"))}})).code(), Errc::unsupported);
    EXPECT_EQ(make_rtp_clip(clip_of({video(0, hex("1c 01 000000 00000001 65"))})).code(), Errc::unsupported);
    const Octets whole = picture(0x17, 0x65, 20);
    for (std::size_t bytes = 6; bytes < whole.size(); ++bytes) {
        const auto cut = make_rtp_clip(clip_of(
            {video(0, kConfig, true), video(0, Octets(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)))}));
        EXPECT_FALSE(cut.ok()) << bytes;
    }
}

}  // namespace
}  // namespace live::bench
