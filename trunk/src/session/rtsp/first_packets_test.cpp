#include "session/rtsp/first_packets.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtp/packet.hpp"

namespace live::session::rtsp {
namespace {

void append_frame(ByteWriter& out, std::uint8_t channel, std::uint16_t sequence, std::size_t payload_bytes) {
    out.u8('$').u8(channel).u16be(static_cast<std::uint16_t>(wire::rtp::kHeaderBytes + payload_bytes));
    wire::rtp::Packet packet;
    packet.sequence = sequence;
    packet.timestamp = sequence * 1'000U;
    wire::rtp::write_header(out, packet);
    out.zeros(payload_bytes);
}

std::vector<::iovec> spans_of(Bytes bytes, std::size_t cut) {
    std::vector<::iovec> spans;
    for (std::size_t at = 0; at < bytes.size(); at += cut)
        spans.push_back({const_cast<std::uint8_t*>(bytes.data() + at), std::min(cut, bytes.size() - at)});
    return spans;
}

TEST(FirstPackets, FindsTheFirstOfEachMediaChannelWhereverSpansEnd) {
    ByteWriter out;
    append_frame(out, 1, 5, 3);  // not a sender report
    append_frame(out, 0, 7, 50);
    append_frame(out, 0, 8, 0);
    append_frame(out, 2, 9, 1);
    const std::vector<FirstPacket> wanted = {{0, 7, 7'000}, {2, 9, 9'000}};
    for (std::size_t cut = 1; cut <= out.size(); ++cut)
        EXPECT_EQ(first_packets(spans_of(out.written(), cut), 2), wanted) << cut;
}

TEST(FirstPackets, TakesTheTimeOfReportsWhichIsTheSameForAllTracks) {
    ByteWriter out;
    for (const std::uint8_t channel : {std::uint8_t{3}, std::uint8_t{1}}) {
        out.u8('$').u8(channel).u16be(28);
        wire::rtcp::write(out, wire::rtcp::SenderReport{.ssrc = 1, .ntp = 2, .rtp_time = channel * 100U, .blocks = {}});
    }
    append_frame(out, 0, 7, 50);
    const std::vector<FirstPacket> wanted = {{2, std::nullopt, 300}, {0, 7, 100}};
    for (std::size_t cut = 1; cut <= out.size(); ++cut)
        EXPECT_EQ(first_packets(spans_of(out.written(), cut), 2), wanted) << cut;
}

TEST(FirstPackets, LeavesOutWhatIsIncomplete) {
    ByteWriter out;
    append_frame(out, 0, 7, 50);
    for (std::size_t size = 0; size < out.size(); ++size)
        EXPECT_TRUE(first_packets(spans_of(out.written().first(size), 7), 2).empty() || size == out.size()) << size;
    EXPECT_TRUE(first_packets({}, 2).empty());
}

}  // namespace
}  // namespace live::session::rtsp
