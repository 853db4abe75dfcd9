#include "wire/rtp_payload/jpeg.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/rtp_payload/jpeg_tables.hpp"
#include "wire/rtp_payload/payload_fixture.hpp"

namespace live::wire::rtp_payload {
namespace {

// RFC 2435, 3.1: 4:2:0, the quality 50, 320x240, and the data 11 22 33.
const char* const kSmallImage = "00 000000 01 32 28 1e 112233";

Octets image_of(std::string_view payload_hex, bool marker = true) {
    JpegDepacketizer depacketizer;
    if (!depacketizer.push({1, 9, marker, hex(std::string(payload_hex))}).ok())
        return {};
    const auto frame = depacketizer.poll();
    return frame && frame->is_key ? frame->data : Octets();
}

bool contains(const Octets& image, Bytes part) {
    return std::search(image.begin(), image.end(), part.begin(), part.end()) != image.end();
}

// Sends an image through packets of 256 bytes.
Octets passed_on(Bytes image) {
    PayloadList payloads;
    if (!packetize_jpeg(image, kJpegPayloadBytesMin, payloads).ok())
        return {};
    Stream stream;
    stream.add(payloads, 9);
    JpegDepacketizer depacketizer;
    const auto frames = received(depacketizer, stream);
    return frames.size() == 1 ? frames[0].data : Octets();
}

TEST(JpegInRtp, MakesTheHeadersOfAnImage) {
    const Octets image = image_of(kSmallImage);
    ASSERT_FALSE(image.empty());
    EXPECT_TRUE(contains(image, hex("ffd8ffe0"))) << "JFIF";
    EXPECT_TRUE(contains(image, hex("ffdb004300"))) << "the table of luma";
    EXPECT_TRUE(contains(image, kLumaQuantizers)) << "at the quality 50, the tables are those of the standard";
    EXPECT_TRUE(contains(image, kChromaQuantizers));
    EXPECT_TRUE(contains(image, hex("ffc0001108 00f0 0140 03 012200 021101 031101")));
    EXPECT_TRUE(contains(image, kChromaAcTable));
    EXPECT_TRUE(contains(image, hex("ffda000c03010002110311003f00 112233 ffd9"))) << "the data and the end";
    EXPECT_FALSE(contains(image, hex("ffdd")));
}

TEST(JpegInRtp, ReadsTypesQualitiesAndRestartIntervals) {
    EXPECT_TRUE(contains(image_of("00 000000 00 32 28 1e 11"), hex("03 012100 021101"))) << "4:2:2";
    EXPECT_TRUE(contains(image_of("00 000000 41 32 28 1e 0007 ffff 11"), hex("ffdd00040007")));
    EXPECT_TRUE(contains(image_of("00 000000 01 63 28 1e 11"), hex("ffdb004300 01"))) << "the quality 99 divides by 50";
    const std::string tables(128, '0');
    EXPECT_TRUE(contains(image_of("00 000000 01 ff 28 1e 00000040" + tables + "11"), hex("ffdb004301 00000000")))
        << "one table for all components";
}

TEST(JpegInRtp, RefusesWhatItCannotRepresent) {
    for (const char* const bad :
         {"01 000000 01 32 28 1e 11", "00 000000 02 32 28 1e 11", "00 000000 01 00 28 1e 11", "00 000000 01 32 00 1e 11",
          "00 000000 01 ff 28 1e 00000000 11", "00 000000 01 ff 28 1e 00010080 11", "00 000000 01 ff 28 1e 00000003 111111",
          "00 000001 01 32 28 1e 11"})
        EXPECT_TRUE(image_of(bad).empty()) << bad;
}

TEST(JpegInRtp, KeepsTheTablesOfAQuality) {
    JpegDepacketizer depacketizer;
    const std::string tables(256, '7');
    ASSERT_TRUE(depacketizer.push({1, 1, true, hex("00 000000 01 80 28 1e 00000080" + tables + "11")}).ok());
    ASSERT_TRUE(depacketizer.push({2, 2, true, hex("00 000000 01 80 28 1e 00000000 11")}).ok());
    EXPECT_FALSE(depacketizer.push({3, 3, true, hex("00 000000 01 81 28 1e 00000000 11")}).ok()) << "of another quality";
    const auto first = depacketizer.poll();
    const auto second = depacketizer.poll();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->data, second->data);
    EXPECT_FALSE(depacketizer.poll());
}

TEST(JpegInRtp, ReadsWhatItWrites) {
    std::mt19937 random(5);
    for (const char* const head : {"00 000000 00 32 28 1e", "00 000000 01 05 ff ff", "00 000000 41 50 01 01 0001 ffff"}) {
        Octets payload = hex(head);
        Octets data = random_octets(random, 5'000);
        std::ranges::replace(data, std::uint8_t{0xFF}, std::uint8_t{0xFE});
        payload.insert(payload.end(), data.begin(), data.end());
        JpegDepacketizer depacketizer;
        ASSERT_TRUE(depacketizer.push({1, 9, true, payload}).ok());
        const auto image = depacketizer.poll();
        ASSERT_TRUE(image);
        EXPECT_EQ(passed_on(image->data), image->data) << head;
    }
}

TEST(JpegInRtp, LosesAnImageWithItsPacket) {
    const Octets image = image_of(kSmallImage);
    Octets large(image.begin(), image.end() - 2);
    large.resize(large.size() + 3'000, 0x55);
    PayloadList payloads;
    ASSERT_TRUE(packetize_jpeg(large, kJpegPayloadBytesMin, payloads).ok());
    ASSERT_GT(payloads.size(), 3U);
    for (std::size_t lost = 0; lost < payloads.size(); ++lost) {
        Stream stream;
        stream.add(payloads, 1);
        stream.add(payloads, 2);
        stream.packets[lost].lost = true;
        JpegDepacketizer depacketizer;
        const auto frames = received(depacketizer, stream);
        ASSERT_EQ(frames.size(), 1U) << lost;
        EXPECT_EQ(frames[0].timestamp, 2U);
    }
}

TEST(JpegInRtp, RefusesEveryTruncationOfAnImagesHeaders) {
    const Octets image = image_of(kSmallImage);
    PayloadList payloads;
    for (std::size_t size = 0; size + 5 < image.size(); ++size) {
        payloads.clear();
        EXPECT_FALSE(packetize_jpeg(Bytes(image).first(size), kJpegPayloadBytesMin, payloads).ok()) << size;
        EXPECT_TRUE(payloads.empty());
    }
    payloads.clear();
    EXPECT_TRUE(packetize_jpeg(image, kJpegPayloadBytesMin, payloads).ok());
    EXPECT_EQ(packetize_jpeg(image, kJpegPayloadBytesMin - 1, payloads).code(), Errc::limit);
}

TEST(JpegInRtp, RefusesImagesThatThePayloadDoesNotCarry) {
    const Octets image = image_of(kSmallImage);
    const auto refused = [&image](Bytes part, std::size_t at, std::uint8_t byte) {
        Octets changed = image;
        const auto found = std::search(changed.begin(), changed.end(), part.begin(), part.end());
        EXPECT_NE(found, changed.end());
        found[static_cast<std::ptrdiff_t>(at)] = byte;
        PayloadList payloads;
        return packetize_jpeg(changed, kJpegPayloadBytesMin, payloads).code();
    };
    EXPECT_EQ(refused(hex("ffc00011"), 1, 0xC2), Errc::unsupported) << "progressive";
    EXPECT_EQ(refused(hex("ffc00011"), 5, 0x10), Errc::unsupported) << "more than 2040 lines";
    EXPECT_EQ(refused(hex("03 012200"), 2, 0x11), Errc::unsupported) << "4:4:4";
    EXPECT_EQ(refused(kLumaAcTable, 20, 0x77), Errc::unsupported) << "Huffman tables of its own";
    EXPECT_EQ(refused(hex("ffdb004300"), 4, 0x10), Errc::unsupported) << "16 bits";
    EXPECT_EQ(refused(hex("ffd8"), 1, 0xD9), Errc::malformed);
}

}  // namespace
}  // namespace live::wire::rtp_payload
