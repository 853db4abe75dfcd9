#include "wire/rtp_payload/vpx.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/rtp_payload/payload_fixture.hpp"

namespace live::wire::rtp_payload {
namespace {

TEST(VpxPayload, ReadsVp8Descriptors) {
    struct VpxCase {
        const char* text;
        std::size_t bytes;
        bool begins;
        std::optional<std::uint16_t> picture_id;
    };
    const VpxCase cases[] = {
        {"10 aa", 1, true, {}},
        {"00 aa", 1, false, {}},
        {"11 aa", 1, false, {}},
        {"9080 85aa", 0, true, 0},
        {"9080 11 aa", 3, true, 0x11},
        {"9080 9234 aa", 4, true, 0x1234},
        {"90f0 9234 07 21 aa", 6, true, 0x1234},
        {"9040 07 aa", 3, true, {}},
        {"9020 21 aa", 3, true, {}},
        {"9010 21 aa", 3, true, {}},
        {"9000 aa", 2, true, {}},
    };
    for (const VpxCase& wanted : cases) {
        const auto descriptor = parse_vp8_descriptor(hex(wanted.text));
        if (wanted.bytes == 0) {
            EXPECT_FALSE(descriptor.ok()) << wanted.text << ": the id takes the last byte";
            continue;
        }
        ASSERT_TRUE(descriptor.ok()) << wanted.text;
        EXPECT_EQ(descriptor->bytes, wanted.bytes) << wanted.text;
        EXPECT_EQ(descriptor->begins_frame(), wanted.begins) << wanted.text;
        EXPECT_EQ(descriptor->picture_id, wanted.picture_id) << wanted.text;
        const Octets bytes = hex(wanted.text);
        for (std::size_t size = 0; size < wanted.bytes; ++size)
            EXPECT_EQ(parse_vp8_descriptor(Bytes(bytes).first(size)).code(), Errc::need_more) << wanted.text << " at " << size;
        EXPECT_EQ(parse_vp8_descriptor(Bytes(bytes).first(wanted.bytes)).code(), Errc::malformed) << wanted.text;
    }
}

TEST(VpxPayload, ReadsVp9Descriptors) {
    struct VpxCase {
        const char* what;
        const char* text;
        std::size_t bytes;
    };
    const VpxCase cases[] = {
        {"plain", "8c 05 aa", 2},
        {"long id", "cc 9234 aa", 3},
        {"layers, not flexible", "ac 05 32 07 aa", 4},
        {"layers, flexible", "bc 05 32 aa", 3},
        {"flexible with two references", "dc 05 03 04 aa", 4},
        {"structure with sizes and a group", "8e 05 38 01400168 02800168 02 00 04 01 aa", 15},
        {"structure alone", "8e 05 00 aa", 3},
    };
    for (const VpxCase& wanted : cases) {
        const Octets bytes = hex(wanted.text);
        const auto descriptor = parse_vp9_descriptor(bytes);
        ASSERT_TRUE(descriptor.ok()) << wanted.what << ": " << descriptor.error().text();
        EXPECT_EQ(descriptor->bytes, wanted.bytes) << wanted.what;
        EXPECT_TRUE(descriptor->begins_frame && descriptor->ends_frame) << wanted.what;
        for (std::size_t size = 0; size < wanted.bytes; ++size)
            EXPECT_EQ(parse_vp9_descriptor(Bytes(bytes).first(size)).code(), Errc::need_more) << wanted.what << " at " << size;
    }
    const auto layers = parse_vp9_descriptor(hex("ac 05 32 07 aa"));
    EXPECT_EQ(layers->temporal, 1);
    EXPECT_EQ(layers->spatial, 1);
    EXPECT_TRUE(layers->is_switching_point);
    EXPECT_EQ(parse_vp9_descriptor(hex("dc 05 03 03 03 aa")).code(), Errc::malformed) << "a fourth reference is announced";
}

template <class Send>
void check_round_trips(VpxCodec codec, Send send) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        Stream stream;
        std::vector<Octets> sent;
        for (std::uint32_t i = 0; i < 30; ++i) {
            sent.push_back(random_octets(random, random_size(random, 1)));
            PayloadList list;
            send(sent.back(), static_cast<std::uint16_t>(i), kPayloadBytesMin + random() % 1'200, list);
            stream.add(list, i);
        }
        const bool has_loss = seed % 2 == 1;
        for (Stream::Sent& packet : stream.packets)
            packet.lost = has_loss && random() % 20 == 0;
        VpxDepacketizer depacketizer(codec);
        const auto frames = received(depacketizer, stream);
        std::size_t whole = 0;
        for (std::uint32_t i = 0; i < 30; ++i)
            whole += stream.has_all_of(i) ? 1 : 0;
        EXPECT_EQ(frames.size(), whole) << "seed " << seed;
        for (const Frame& frame : frames)
            EXPECT_EQ(frame.data, sent[frame.timestamp]) << "seed " << seed;
    }
}

TEST(VpxPayload, Vp8FramesAreWholeOrLost) {
    check_round_trips(VpxCodec::vp8, [](Bytes frame, std::uint16_t id, std::size_t room, PayloadList& out) {
        packetize_vp8(frame, id, room, out);
        for (std::size_t i = 0; i < out.size(); ++i) {
            EXPECT_LE(out[i].size(), room);
            EXPECT_EQ(parse_vp8_descriptor(out[i])->picture_id, id);
        }
    });
}

TEST(VpxPayload, Vp9FramesAreWholeOrLost) {
    check_round_trips(VpxCodec::vp9, [](Bytes frame, std::uint16_t id, std::size_t room, PayloadList& out) {
        packetize_vp9(frame, FrameKind::inter, id, room, out);
        for (std::size_t i = 0; i < out.size(); ++i)
            EXPECT_LE(out[i].size(), room);
    });
}

TEST(VpxPayload, RecognisesKeyFrames) {
    const auto is_key = [](VpxCodec codec, const char* text) {
        VpxDepacketizer depacketizer(codec);
        const Octets bytes = hex(text);
        EXPECT_TRUE(depacketizer.push({1, 1, true, bytes}).ok());
        return depacketizer.poll()->is_key;
    };
    EXPECT_TRUE(is_key(VpxCodec::vp8, "10 1000"));
    EXPECT_FALSE(is_key(VpxCodec::vp8, "10 1100"));
    EXPECT_TRUE(is_key(VpxCodec::vp9, "8c 05 aa"));
    EXPECT_FALSE(is_key(VpxCodec::vp9, "cc 05 aa"));
    PayloadList out;
    packetize_vp9(hex("aabb"), FrameKind::key, 1, kPayloadBytesMin, out);
    EXPECT_FALSE(parse_vp9_descriptor(out[0])->is_inter);
}

TEST(VpxPayload, ABrokenPacketLosesItsFrameOnly) {
    VpxDepacketizer depacketizer(VpxCodec::vp8);
    const Octets good = hex("10 1000");
    const Octets bad = hex("90");
    const Octets rest = hex("00 77");
    EXPECT_TRUE(depacketizer.push({1, 1, false, good}).ok());
    EXPECT_FALSE(depacketizer.push({2, 1, true, bad}).ok());
    EXPECT_FALSE(depacketizer.push({3, 2, true, rest}).ok()) << "a frame without its beginning";
    EXPECT_TRUE(depacketizer.push({4, 3, true, good}).ok());
    EXPECT_TRUE(depacketizer.poll());
    EXPECT_FALSE(depacketizer.poll());
    EXPECT_EQ(depacketizer.lost_frames(), 2U);
}

}  // namespace
}  // namespace live::wire::rtp_payload
