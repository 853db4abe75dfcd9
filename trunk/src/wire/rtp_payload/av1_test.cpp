#include "wire/rtp_payload/av1.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/rtp_payload/payload_fixture.hpp"

namespace live::wire::rtp_payload {
namespace {

struct Case {
    const char* name;
    std::vector<Octets> payloads;
    Octets frame;
    bool is_key;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> table = {
        {"one OBU", {hex("10 30 aabb")}, hex("32 02 aabb"), false},
        {"sequence header and frame", {hex("28 03 08 0102 30 aabb")}, hex("0a 02 0102 32 02 aabb"), true},
        {"all with lengths", {hex("08 03 08 0102 03 30 aabb")}, hex("0a 02 0102 32 02 aabb"), true},
        {"in three packets", {hex("50 30 aa"), hex("d0 bb"), hex("90 cc")}, hex("32 03 aabbcc"), false},
        {"with its own size", {hex("10 32 02 aabb")}, hex("32 02 aabb"), false},
        {"with an extension", {hex("10 34 48 aa")}, hex("36 48 01 aa"), false},
        {"with a delimiter", {hex("20 02 1200 30 aa")}, hex("32 01 aa"), false},
    };
    return table;
}

std::vector<Frame> frames_of(const std::vector<Octets>& payloads) {
    PayloadList list;
    for (const Octets& payload : payloads) {
        list.append(payload);
        list.end_payload();
    }
    Stream stream;
    stream.add(list, 90);
    Av1Depacketizer depacketizer;
    return received(depacketizer, stream);
}

TEST(Av1Payload, ReadsEveryVector) {
    for (const Case& wanted : cases()) {
        const auto frames = frames_of(wanted.payloads);
        ASSERT_EQ(frames.size(), 1U) << wanted.name;
        EXPECT_EQ(frames[0].data, wanted.frame) << wanted.name;
        EXPECT_EQ(frames[0].is_key, wanted.is_key) << wanted.name;
    }
}

TEST(Av1Payload, ATruncatedPayloadNeverPassesForTheWhole) {
    for (const Case& wanted : cases())
        for (std::size_t which = 0; which < wanted.payloads.size(); ++which)
            for (std::size_t size = 0; size < wanted.payloads[which].size(); ++size) {
                auto payloads = wanted.payloads;
                payloads[which].resize(size);
                const auto frames = frames_of(payloads);
                EXPECT_TRUE(frames.empty() || frames[0].data != wanted.frame) << wanted.name;
            }
}

Octets random_frame(std::mt19937& random) {
    Octets frame;
    const std::size_t obus = 1 + random() % 6;
    for (std::size_t i = 0; i < obus; ++i) {
        const Octets body = random_octets(random, random_size(random, 0));
        const bool has_extension = random() % 3 == 0;
        const unsigned type = i == 0 ? 6 : 4;
        frame.push_back(static_cast<std::uint8_t>(type << 3 | (has_extension ? 4 : 0) | 2));
        if (has_extension)
            frame.push_back(0x48);
        std::size_t size = body.size();
        for (; size >= 0x80; size >>= 7)
            frame.push_back(static_cast<std::uint8_t>(size | 0x80));
        frame.push_back(static_cast<std::uint8_t>(size));
        frame.insert(frame.end(), body.begin(), body.end());
    }
    return frame;
}

TEST(Av1Payload, FramesAreReceivedWholeOrLost) {
    for (unsigned seed = 0; seed < 24; ++seed) {
        std::mt19937 random(seed);
        Stream stream;
        std::vector<Octets> sent;
        for (std::uint32_t i = 0; i < 20; ++i) {
            sent.push_back(random_frame(random));
            PayloadList list;
            const std::size_t room = kPayloadBytesMin + random() % 1'200;
            ASSERT_TRUE(packetize_av1(sent.back(), room, list).ok());
            for (std::size_t p = 0; p < list.size(); ++p)
                ASSERT_LE(list[p].size(), room);
            stream.add(list, i);
        }
        for (Stream::Sent& packet : stream.packets)
            packet.lost = seed % 2 == 1 && random() % 20 == 0;
        Av1Depacketizer depacketizer;
        const auto frames = received(depacketizer, stream);
        std::size_t whole = 0;
        for (std::uint32_t i = 0; i < 20; ++i)
            whole += stream.has_all_of(i) ? 1 : 0;
        EXPECT_EQ(frames.size(), whole) << "seed " << seed;
        for (const Frame& frame : frames)
            EXPECT_EQ(frame.data, sent[frame.timestamp]) << "seed " << seed;
    }
}

TEST(Av1Payload, WritesTheRequiredHeader) {
    PayloadList out;
    ASSERT_TRUE(packetize_av1(hex("1200 0a020102 3202aabb"), kPayloadBytesMin, out).ok());
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(Octets(out[0].begin(), out[0].end()), hex("28 03 080102 30aabb")) << "a new sequence, two elements, no delimiter";
    out.clear();
    ASSERT_TRUE(packetize_av1(hex("3201aa 2201bb 2201cc 2201dd"), kPayloadBytesMin, out).ok());
    EXPECT_EQ(Octets(out[0].begin(), out[0].end()), hex("00 0230aa 0220bb 0220cc 0220dd")) << "four cannot be counted";
}

TEST(Av1Payload, RefusesInvalidFormats) {
    for (const char* text :
         {"10", "20 05 30aa", "00 8080808080 30", "00 ffffffff7f 30", "00 02 30", "90 aa", "10 32 05 aa", "10 34"}) {
        Av1Depacketizer depacketizer;
        const Octets good = hex("10 30 aa");
        ASSERT_TRUE(depacketizer.push({1, 1, true, good}).ok());
        const Octets bytes = hex(text);
        EXPECT_FALSE(depacketizer.push({2, 2, true, bytes}).ok()) << text;
        ASSERT_TRUE(depacketizer.push({3, 3, true, good}).ok());
        EXPECT_TRUE(depacketizer.poll());
        EXPECT_TRUE(depacketizer.poll());
        EXPECT_FALSE(depacketizer.poll()) << text;
    }
    PayloadList out;
    for (const char* text : {"3205aa", "34", "32", "328080808080"})
        EXPECT_EQ(packetize_av1(hex(text), kPayloadBytesMin, out).code(), Errc::malformed) << text;
    EXPECT_TRUE(out.empty());
    Octets many;
    for (std::size_t i = 0; i <= 256; ++i)
        many.insert(many.end(), {0x32, 0});
    EXPECT_EQ(packetize_av1(many, kPayloadBytesMin, out).code(), Errc::limit);
    EXPECT_TRUE(packetize_av1(Bytes(many).first(512), kPayloadBytesMin, out).ok());
}

TEST(Av1Payload, AnObuWithoutItsEndIsLost) {
    Av1Depacketizer depacketizer;
    const Octets begin = hex("50 30 aa");
    const Octets good = hex("10 30 aa");
    ASSERT_TRUE(depacketizer.push({1, 1, true, begin}).ok());
    EXPECT_FALSE(depacketizer.poll());
    ASSERT_TRUE(depacketizer.push({2, 2, true, good}).ok());
    EXPECT_TRUE(depacketizer.poll());
}

TEST(Av1Payload, TileGroupIsNoFrameStart) {
    Av1Depacketizer depacketizer;
    const Octets tiles = hex("10 20 aa");
    ASSERT_TRUE(depacketizer.push({1, 1, true, tiles}).ok());
    EXPECT_FALSE(depacketizer.poll());
}

}  // namespace
}  // namespace live::wire::rtp_payload
