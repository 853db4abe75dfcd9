// A frame that arrives alone is sent with the same bytes as one that arrived with its header.
#include "media/wire_log/rtmp_wire_encoder.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "media/ring/data_message.hpp"
#include "media/ring/tag_packet.hpp"
#include "media/wire_log/flv_wire_encoder.hpp"
#include "wire/codec/frame_fixture.hpp"

namespace live::media {
namespace {

namespace frames = wire::codec::frames;
using MakeEncoder = std::function<std::unique_ptr<WireEncoder>()>;

struct Row {
    MediaKind kind;
    std::function<wire::codec::Frame(Bytes)> frame;
    const char* header;  // of the RTMP message and of the FLV tag
};

const std::vector<Row>& rows() {
    constexpr auto kVideo = MediaKind::video;
    constexpr auto kAudio = MediaKind::audio;
    static const std::vector<Row> all = {
        {kVideo, [](Bytes data) { return frames::config(Codec::avc, data); }, "17 00 000000"},
        {kVideo, [](Bytes data) { return frames::key(Codec::avc, data, 40ms); }, "17 01 000028"},
        {kVideo, [](Bytes data) { return frames::inter(Codec::avc, data, -40ms); }, "27 01 ffffd8"},
        {kVideo, [](Bytes data) { return frames::key(Codec::avc, data, 40ms, 3); }, "96 01 61766331 03 000028"},
        {kVideo, [](Bytes data) { return frames::config(Codec::hevc, data); }, "90 68766331"},
        {kVideo, [](Bytes data) { return frames::key(Codec::hevc, data, 40ms); }, "91 68766331 000028"},
        {kVideo, [](Bytes data) { return frames::inter(Codec::hevc, data); }, "a3 68766331"},
        {kVideo, [](Bytes data) { return frames::config(Codec::av1, data); }, "90 61763031"},
        {kVideo, [](Bytes data) { return frames::key(Codec::av1, data); }, "91 61763031"},
        {kVideo, [](Bytes data) { return frames::inter(Codec::av1, data); }, "a1 61763031"},
        {kAudio, [](Bytes data) { return frames::config(Codec::aac, data); }, "af 00"},
        {kAudio, [](Bytes data) { return frames::audio(Codec::aac, data); }, "af 01"},
        {kAudio, [](Bytes data) { return frames::config(Codec::aac, data, 2); }, "95 00 6d703461 02"},
        {kAudio, [](Bytes data) { return frames::config(Codec::opus, data); }, "90 4f707573"},
        {kAudio, [](Bytes data) { return frames::audio(Codec::opus, data); }, "91 4f707573"},
        {kAudio, [](Bytes data) { return frames::audio(Codec::mp3, data); }, "2f"},
        {kAudio, [](Bytes data) { return frames::audio(Codec::g711a, data); }, "77"},
    };
    return all;
}

// Everything that an encoder can write for a packet.
struct Written {
    std::vector<std::uint8_t> shared;
    std::size_t header_bytes = 0;
    bool needs_own_header = false;
    bool is_header = false;  // own_header replaces the header alone
    std::vector<std::uint8_t> own_header;
    std::vector<std::uint8_t> own_message;

    bool operator==(const Written&) const = default;
};

Written write(WireEncoder& encoder, const Packet& packet, std::int64_t time_ms) {
    SlabPool pool;
    SlabLog log(pool);
    Written written;
    const auto encoded = encoder.encode(packet, log);
    written.header_bytes = encoded.header_bytes;
    written.needs_own_header = encoded.needs_own_header;
    std::array<::iovec, 8> parts;
    while (log.tail() + written.shared.size() < log.head()) {
        const std::size_t count = log.spans(log.tail() + written.shared.size(), log.head(), parts);
        for (const ::iovec& part : std::span(parts).first(count)) {
            const auto* const data = static_cast<const std::uint8_t*>(part.iov_base);
            written.shared.insert(written.shared.end(), data, data + part.iov_len);
        }
    }
    written.is_header = encoder.append_own_header(packet, time_ms, written.own_header);
    encoder.append_own_message(packet, time_ms, written.own_message);
    return written;
}

void expect_same_bytes(const MakeEncoder& make, std::size_t size) {
    std::vector<std::uint8_t> data(size);
    for (std::size_t i = 0; i < size; ++i)
        data[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
    for (const Row& row : rows()) {
        SCOPED_TRACE(std::string(row.header) + ", " + std::to_string(size) + " bytes");
        ByteWriter body;
        body.bytes(hex(row.header)).bytes(data);
        const auto tagged = read_tag(row.kind, Slice::copy_of(body.written()));
        ASSERT_TRUE(tagged.ok());
        Packet with_header = tagged->packet;
        Packet alone = make_packet(row.kind, row.frame(data));
        EXPECT_EQ(alone.payload.size(), size);
        const auto encoder = make();
        const auto other = make();
        // An extended timestamp as well, at the end.
        for (const std::int64_t time_ms : {1'000, 1'040, 20'000'000}) {
            with_header.dts = alone.dts = std::chrono::milliseconds(time_ms);
            EXPECT_EQ(write(*encoder, with_header, time_ms), write(*other, alone, time_ms));
        }
    }
}

TEST(RtmpWireEncoder, WritesTheHeaderOfAFrameThatCameAlone) {
    for (const std::uint32_t chunk_size : {1U, 4U, 128U, 4'096U, 60'000U})
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{123}, std::size_t{5'000}})
            expect_same_bytes([chunk_size] { return std::make_unique<RtmpWireEncoder>(chunk_size); }, size);
    expect_same_bytes([] { return std::make_unique<RtmpWireEncoder>(60'000); }, SlabLog::kSharedMin + 100);
}

TEST(FlvWireEncoder, WritesTheHeaderOfAFrameThatCameAlone) {
    for (const Framing framing : {Framing::none, Framing::http_chunk, Framing::websocket})
        for (const std::size_t size : {std::size_t{1}, std::size_t{123}, std::size_t{5'000}, SlabLog::kSharedMin + 100})
            expect_same_bytes([framing] { return std::make_unique<FlvWireEncoder>(framing, MediaKindSet::all()); }, size);
}

TEST(RtmpWireEncoder, WritesTheHeaderIntoTheFirstChunk) {
    RtmpWireEncoder encoder(4);
    const Packet packet = make_packet(MediaKind::video, frames::key(Codec::avc, hex("aabbcc"), 40ms));
    const Written written = write(encoder, packet, 0);
    EXPECT_TRUE(std::ranges::equal(Bytes(written.shared).subspan(written.header_bytes), hex("17 01 0000 c6 28 aabbcc")));
    EXPECT_TRUE(std::ranges::equal(Bytes(written.own_message).last(9), hex("17 01 0000 c6 28 aabbcc")));
}

// Other nodes find the packet in the body of a data message, also where a reader needs a header of its own.
TEST(RtmpWireEncoder, WritesRtpDataAsDataMessages) {
    for (const std::size_t size : {std::size_t{5}, SlabLog::kSharedMin + 5}) {
        Packet packet;
        packet.codec = Codec::rtp_data;
        packet.content = Content::frame;
        packet.key = true;
        packet.dts = 1'040ms;
        packet.payload = Slice::copy_of(std::vector<std::uint8_t>(size, 'x'));
        const Slice body = write_data_message(packet, 1'040);
        RtmpWireEncoder rtmp(1U << 20);  // no chunk headers inside
        const Written in_rtmp = write(rtmp, packet, 1'040);
        EXPECT_TRUE(std::ranges::equal(Bytes(in_rtmp.shared).subspan(in_rtmp.header_bytes), body.bytes()));
        FlvWireEncoder flv(Framing::none, MediaKindSet::all());
        const Written in_flv = write(flv, packet, 1'040);
        constexpr std::size_t kTagHeaderBytes = 11;
        constexpr std::size_t kEndBytes = 4;
        EXPECT_TRUE(std::ranges::equal(
            Bytes(in_flv.shared).subspan(kTagHeaderBytes, in_flv.shared.size() - kTagHeaderBytes - kEndBytes), body.bytes()));
        for (const Written& written : {in_rtmp, in_flv}) {
            EXPECT_FALSE(written.is_header);
            EXPECT_EQ(written.own_header, written.own_message);
            EXPECT_NE(as_text(written.own_message).find(as_text(body.bytes())), std::string_view::npos);
        }
    }
}

}  // namespace
}  // namespace live::media
