#include "engine/gb28181/tcp_frames.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "engine/gb28181/rtp_fixture.hpp"

namespace live::engine::gb28181 {
namespace {

std::vector<std::uint16_t> take(TcpFrames& frames, Bytes input, std::size_t step = SIZE_MAX) {
    std::vector<std::uint16_t> sequences;
    for (; !input.empty(); input = input.subspan(std::min(step, input.size()))) {
        if (!frames.feed(input.first(std::min(step, input.size()))).ok())
            break;
        while (const auto packet = frames.next())
            sequences.push_back(static_cast<std::uint16_t>((*packet)[2] << 8 | (*packet)[3]));
    }
    return sequences;
}

TEST(TcpFrames, SplitsAStreamCutAnywhere) {
    std::vector<std::uint8_t> stream;
    for (std::uint16_t i = 0; i < 20; ++i)
        append_framed(stream, rtp_packet(i, kSsrc, std::vector<std::uint8_t>(i * 37U, 1)));
    for (std::size_t step = 1; step < 60; ++step) {
        TcpFrames frames;
        EXPECT_EQ(take(frames, stream, step).size(), 20u) << step;
        EXPECT_EQ(frames.held_bytes(), 0u);
    }
}

TEST(TcpFrames, EveryTruncationGivesThePacketsBeforeIt) {
    std::vector<std::uint8_t> stream;
    append_framed(stream, rtp_packet(1, kSsrc, std::vector<std::uint8_t>(20, 1)));
    const std::size_t first = stream.size();
    append_framed(stream, rtp_packet(2, kSsrc, std::vector<std::uint8_t>(20, 1)));
    for (std::size_t size = 0; size <= stream.size(); ++size) {
        TcpFrames frames;
        EXPECT_EQ(take(frames, Bytes(stream).first(size)).size(), size < first ? 0u : size < stream.size() ? 1u : 2u);
    }
}

TEST(TcpFrames, TheLongestPacketPasses) {
    std::vector<std::uint8_t> stream;
    append_framed(stream, rtp_packet(7, kSsrc, std::vector<std::uint8_t>(TcpFrames::kPacketBytesMax - 12, 1)));
    TcpFrames frames;
    EXPECT_EQ(take(frames, stream, 1'400), std::vector<std::uint16_t>{7});
}

TEST(TcpFrames, OtherBytesAreSkippedOnceTheSsrcIsKnown) {
    std::vector<std::uint8_t> stream;
    append_framed(stream, rtp_packet(1, kSsrc, std::vector<std::uint8_t>(20, 1)));
    stream.insert(stream.end(), 500, 0x80);
    append_framed(stream, rtp_packet(9, kSsrc + 1, std::vector<std::uint8_t>(20, 1)));
    stream.insert(stream.end(), 3, 0);
    append_framed(stream, rtp_packet(2, kSsrc, std::vector<std::uint8_t>(20, 1)));
    TcpFrames frames;
    frames.set_ssrc(kSsrc);
    ASSERT_TRUE(frames.feed(stream).ok());
    ASSERT_TRUE(frames.next());
    EXPECT_FALSE(frames.follows_gap());
    ASSERT_TRUE(frames.next());
    EXPECT_TRUE(frames.follows_gap());
    EXPECT_FALSE(frames.next());
    EXPECT_EQ(frames.counters().resyncs, 1u);
    EXPECT_EQ(frames.counters().skipped_bytes, 500u + 2 + 32 + 3);
}

TEST(TcpFrames, RtcpPasses) {
    std::vector<std::uint8_t> stream;
    std::vector<std::uint8_t> report(28, 0);
    report[0] = 0x80;
    report[1] = 200;
    report[3] = 6;
    append_framed(stream, report);
    append_framed(stream, rtp_packet(2, kSsrc, {}));
    TcpFrames frames;
    frames.set_ssrc(kSsrc);
    EXPECT_EQ(take(frames, stream).size(), 2u);
}

TEST(TcpFrames, AConnectionThatDoesNotBeginWithRtpIsRefused) {
    const std::string_view request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    TcpFrames frames;
    EXPECT_EQ(frames.feed(as_bytes(request)).code(), Errc::malformed);
    TcpFrames empty;
    EXPECT_EQ(empty.feed(std::vector<std::uint8_t>{0, 0, 0x80, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}).code(), Errc::malformed)
        << "a length of zero";
}

TEST(TcpFrames, AStreamWithoutPacketsEndsAtTheLimit) {
    TcpFrames frames;
    frames.set_ssrc(kSsrc);
    const std::vector<std::uint8_t> zeros(64U << 10, 0);
    std::size_t fed = 0;
    while (frames.feed(zeros).ok()) {
        fed += zeros.size();
        ASSERT_LE(fed, TcpFrames::kSkippedBytesMax);
        EXPECT_FALSE(frames.next());
        EXPECT_LE(frames.held_bytes(), zeros.size());
    }
    EXPECT_EQ(frames.counters().skipped_bytes, TcpFrames::kSkippedBytesMax + 1);
}

// Whole packets with other bytes between them.
TEST(TcpFrames, FindsEveryPacketBetweenGarbage) {
    for (unsigned seed = 0; seed < rounds(50U, 1'000U); ++seed) {
        std::minstd_rand random(seed);
        std::vector<std::uint8_t> stream;
        for (std::uint16_t i = 0; i < 30; ++i) {
            append_framed(stream, rtp_packet(i, kSsrc, std::vector<std::uint8_t>(random() % 500, 1)));
            for (auto n = random() % 3 == 0 ? random() % 100 : 0; n > 0; --n)
                stream.push_back(static_cast<std::uint8_t>(random()));
        }
        TcpFrames frames;
        frames.set_ssrc(kSsrc);
        EXPECT_EQ(take(frames, stream, 1 + random() % 700).size(), 30u) << "seed " << seed;
    }
}

}  // namespace
}  // namespace live::engine::gb28181
