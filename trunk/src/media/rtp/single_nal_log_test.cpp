#include "media/rtp/single_nal_log.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::media {
namespace {

using Octets = std::vector<std::uint8_t>;

struct SingleNal : ::testing::Test {
    SingleNal() { from.set_track({MediaKind::video, "H264", 90'000, 0, "packetization-mode=1"}); }

    void send(const Octets& payload, std::uint32_t timestamp, bool marker = false, bool begins_key = false) {
        from.append({.kind = MediaKind::video,
                     .timestamp = timestamp,
                     .marker = marker,
                     .begins_key = begins_key,
                     .payload = Slice::copy_of(payload)});
    }
    // Parameter sets, a key frame that fits, one that does not, and one of which only the last slice fits.
    void publish() {
        send({24, 0, 2, 0x67, 1, 0, 3, 0x68, 2, 3}, 100, false, true);
        send({0x65, 9}, 100, true);
        send({24, 0, 2, 0x67, 1, 0, 3, 0x68, 2, 3}, 200, false, true);
        send({28, 0x85, 1}, 200);
        send({28, 0x05, 2}, 200);
        send({28, 0x45, 3}, 200, true);
        send({28, 0x85, 1}, 300, false, true);
        send({28, 0x45, 3}, 300);
        send({0x65, 7}, 300, true);
        from.flush();
    }
    struct GotUnits {
        Octets payload;
        std::uint32_t timestamp;
        bool marker;
        bool begins_key;
        bool operator==(const GotUnits&) const = default;
    };
    static std::vector<GotUnits> all(const RtpLog& rtp_log) {
        std::vector<GotUnits> got;
        for (Sequence at = rtp_log.first(); at < rtp_log.next(); ++at) {
            const RtpPacket& packet = rtp_log.at(at);
            got.push_back({Octets(packet.payload.bytes().begin(), packet.payload.bytes().end()), packet.timestamp, packet.marker,
                           packet.begins_key});
        }
        return got;
    }

    RtpLog from;
};

TEST_F(SingleNal, PacketsHoldOneNalUnitAndLargerUnitsAreLeftOut) {
    SingleNalLog single(from, Log());
    publish();
    EXPECT_EQ(all(single.rtp_log()), (std::vector<GotUnits>{{{0x67, 1}, 100, false, true},
                                                            {{0x68, 2, 3}, 100, false, false},
                                                            {{0x65, 9}, 100, true, false},
                                                            {{0x67, 1}, 200, false, true},
                                                            {{0x68, 2, 3}, 200, true, false},
                                                            {{0x65, 7}, 300, true, true}}));
    EXPECT_EQ(single.left_out(), 2U);
    for (Sequence at = single.rtp_log().first(); at < single.rtp_log().next(); ++at)
        EXPECT_EQ(single.rtp_log().at(at).sequence, at) << "what is left out leaves no hole in the numbers";
    EXPECT_EQ(single.rtp_log().track(MediaKind::video)->codec, "H264");
}

TEST_F(SingleNal, NewReaderBeginsWithTheNewestGop) {
    publish();
    SingleNalLog single(from, Log());
    EXPECT_EQ(all(single.rtp_log()), (std::vector<GotUnits>{{{0x65, 7}, 300, true, true}}));
    EXPECT_EQ(single.rtp_log().gop_start(), single.rtp_log().first());
}

TEST_F(SingleNal, BatchesLossAndAudioGoThrough) {
    SingleNalLog single(from, Log());
    send({0x41, 1}, 100);
    from.append({.kind = MediaKind::audio, .payload = Slice::copy_of(Octets{28, 1})});
    from.flush();
    EXPECT_EQ(single.rtp_log().size(), 2U) << "nothing waits for the next batch";
    from.append(
        {.kind = MediaKind::video, .timestamp = 200, .follows_loss = true, .payload = Slice::copy_of(Octets{28, 0x81, 1})});
    send({0x41, 2}, 300, true);
    from.flush();
    const RtpPacket& last = single.rtp_log().at(single.rtp_log().next() - 1);
    EXPECT_TRUE(last.follows_loss) << "a loss before what is left out is a loss before what follows";
}

TEST_F(SingleNal, OtherCodecsAndBrokenAggregatesDoNoHarm) {
    SingleNalLog single(from, Log());
    for (const Octets& broken :
         {Octets{24}, Octets{24, 0}, Octets{24, 0, 9, 1}, Octets{24, 0, 0, 0, 1, 0x41}, Octets{28}, Octets{}})
        send(broken, 100);
    send({24, 0, 1, 0x41, 0, 9}, 200);
    from.flush();
    EXPECT_EQ(single.rtp_log().size(), 2U) << "the empty one, and the unit that is whole";
    from.set_track({MediaKind::video, "VP8", 90'000, 0, ""});
    send({28, 0x85, 1}, 300);
    from.flush();
    EXPECT_EQ(single.rtp_log().size(), 3U);
    EXPECT_EQ(single.rtp_log().track(MediaKind::video)->codec, "VP8");
}

TEST_F(SingleNal, ForwardsKeyFrameRequestsAndDetectsANewWriter) {
    struct Requests final : KeyFrameSource {
        void on_key_frame_wanted() override { ++times; }
        int times = 0;
    };
    Requests asked;
    from.start_writer(&asked);
    SingleNalLog single(from, Log());
    single.rtp_log().want_key_frame();
    EXPECT_EQ(asked.times, 1);
    publish();
    EXPECT_TRUE(single.rtp_log().gop_start());
    from.start_writer(nullptr);
    send({0x41, 1}, 400, true);
    from.flush();
    EXPECT_FALSE(single.rtp_log().gop_start()) << "nobody joins at what the writer before it left";
}

}  // namespace
}  // namespace live::media
