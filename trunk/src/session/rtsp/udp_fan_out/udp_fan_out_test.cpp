#include "session/rtsp/udp_fan_out/udp_fan_out.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/wire_log/rtsp_wire_encoder.hpp"
#include "session/rtsp/udp_sender.hpp"

namespace live::session::rtsp {
namespace {

constexpr std::uint16_t kFirstFanOutPort = 21'970;
constexpr std::uint16_t kLastFanOutPort = 23'970;
constexpr std::uint32_t kImageBytes = 10'000;

class RtspUdpFanOut : public testing::Test {
protected:
    struct Player {
        explicit Player(RtspUdpFanOut& stage) : cursor(stage.source_, format()), sender(stage.ports_, stage.fan_out_) {
            sender.set_address(0, {kLoopback, rtp->endpoint().port});
            sender.set_address(1, {kLoopback, rtcp->endpoint().port});
        }
        static std::unique_ptr<io::UdpSocket> client() { return MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 20)); }
        // Sequence numbers of packets that arrive, until `bytes` of them have.
        std::vector<unsigned> receive(std::size_t bytes) {
            std::vector<unsigned> numbers;
            for (std::size_t got = 0; got < bytes;)
                for (const io::Datagram& datagram : MUST(rtp->receive(io::Deadline::after(io::kSoon)))) {
                    numbers.push_back(static_cast<unsigned>(datagram.bytes[2] << 8 | datagram.bytes[3]));
                    got += datagram.bytes.size();
                }
            return numbers;
        }

        std::unique_ptr<io::UdpSocket> rtp = client();
        std::unique_ptr<io::UdpSocket> rtcp = client();
        media::WireCursor cursor;
        UdpSender sender;
    };

    void SetUp() override {
        ASSERT_TRUE(ports_.open(kFirstFanOutPort, kLastFanOutPort).ok());
        ASSERT_TRUE(fan_out_.start(fibers_).ok());
        media::append_tag(*source_, MediaKind::video, false, true, 0ms, media::avc_config_body());
        image(true);
    }
    void TearDown() override { ASSERT_TRUE(fibers_.stop(io::Deadline::after(io::kSoon)).ok()); }

    static media::WireFormat format() {
        media::WireFormat format;
        format.container = media::kRtsp;
        format.tracks = media::TrackSelection::every;
        format.list.add({MediaKind::video, true, {}});
        format.list.set_up(0);
        return format;
    }
    void image(bool is_key) {
        ByteWriter body;
        body.u8(is_key ? 0x17 : 0x27).u8(1).u24be(0).u32be(kImageBytes + 2).u8(is_key ? 0x65 : 0x41).u8(0x88).zeros(kImageBytes);
        media::append_tag(*source_, MediaKind::video, is_key, false, std::chrono::milliseconds(40 * images_++),
                          Slice::copy_of(body.written()));
        source_->flush();
    }

    static inline const IpAddress kLoopback = MUST(parse_ip("127.0.0.1"));
    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    Traffic traffic_;
    Log log_;
    UdpPorts ports_{traffic_, log_};
    UdpFanOut fan_out_{ports_};
    io::Scope fibers_{"udp"};
    media::SlabPool pool_;
    Ref<media::Source> source_ = make_ref<media::Source>("/live/a", media::PlayOptions(), 4096U, pool_);
    int images_ = 0;
};

// A key frame of several packets, and reports.
TEST_F(RtspUdpFanOut, SendsThePacketsOfALog) {
    Player player(*this);
    EXPECT_FALSE(player.sender.send_some(player.cursor, source_));
    const auto numbers = player.receive(kImageBytes);
    EXPECT_GE(numbers.size(), kImageBytes / media::RtspWireEncoder::kPayloadBytesMax);
    const auto reports = MUST(player.rtcp->receive(io::Deadline::after(io::kSoon)));
    EXPECT_EQ(reports.front().bytes[1], 200) << "a sender report";
    EXPECT_EQ(traffic_.sent_bytes, player.sender.sent_bytes());
    player.sender.send_goodbye(1);
    EXPECT_EQ(MUST(player.rtcp->receive(io::Deadline::after(io::kSoon))).front().from.port, ports_.numbers()->rtcp);
}

TEST_F(RtspUdpFanOut, PlayersThatHaveEverythingShareACohort) {
    Player first(*this);
    EXPECT_FALSE(first.sender.send_some(first.cursor, source_));
    EXPECT_TRUE(first.sender.has_cohort());
    image(false);
    Player second(*this);
    while (second.sender.send_some(second.cursor, source_)) {
    }
    EXPECT_TRUE(second.sender.has_cohort());
    EXPECT_EQ(fan_out_.cohorts(), 1U);
    const auto before = first.receive(2 * kImageBytes);
    EXPECT_EQ(second.receive(2 * kImageBytes), before) << "all from the key frame on";
    image(false);
    const auto next = first.receive(kImageBytes);
    EXPECT_EQ(second.receive(kImageBytes), next);
    EXPECT_EQ(next.front(), before.back() + 1) << "no packet is missing";
    EXPECT_EQ(first.sender.sent_bytes(), second.sender.sent_bytes());
}

TEST_F(RtspUdpFanOut, APlayerThatLeavesContinuesWhereItsCohortIs) {
    Player first(*this);
    Player second(*this);
    first.sender.send_some(first.cursor, source_);
    second.sender.send_some(second.cursor, source_);
    auto numbers = first.receive(kImageBytes);
    second.receive(kImageBytes);
    first.sender.leave_cohort();
    image(false);
    second.receive(kImageBytes);
    first.sender.send_some(first.cursor, source_);
    const auto next = first.receive(kImageBytes);
    EXPECT_EQ(next.front(), numbers.back() + 1);
    EXPECT_TRUE(first.sender.has_cohort());
    first.sender.leave_cohort();
    second.sender.leave_cohort();
    EXPECT_EQ(fan_out_.cohorts(), 0U) << "without players there is none";
}

}  // namespace
}  // namespace live::session::rtsp
