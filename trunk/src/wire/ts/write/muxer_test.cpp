#include "wire/ts/write/muxer.hpp"

#include <array>
#include <random>

#include <gtest/gtest.h>

#include "wire/ts/clock.hpp"
#include "wire/ts/read/demuxer_fixture.hpp"

namespace live::wire::ts {
namespace {

constexpr Tracks kBoth{StreamType::avc, StreamType::aac};
constexpr Tracks kAudio{{}, StreamType::aac};

std::vector<std::uint8_t> filled(std::size_t size, std::uint8_t with) { return std::vector<std::uint8_t>(size, with); }

void picture(Muxer& muxer, const Muxer::Picture& what, const std::vector<std::uint8_t>& bytes, std::vector<std::uint8_t>& out) {
    muxer.write_video(what, std::array{Bytes(bytes)}, out);
}
void audio(Muxer& muxer, MediaTime pts, const std::vector<std::uint8_t>& bytes, std::vector<std::uint8_t>& out) {
    muxer.write_audio(pts, std::array{Bytes(bytes)}, out);
}

TEST(TsMuxer, ReaderReturnsTheFramesWritten) {
    Muxer muxer;
    muxer.set_tracks(kBoth);
    std::vector<std::uint8_t> out;
    muxer.write_tables(out);
    EXPECT_EQ(out.size(), 2 * kPacketBytes);
    picture(muxer, {.dts = 1s, .pts = 1s + 80ms, .key = true}, filled(1'000, 1), out);
    audio(muxer, 1s + 10ms, filled(300, 2), out);
    picture(muxer, {.dts = 1s + 40ms, .pts = 1s + 40ms, .key = false}, filled(70'000, 3), out);

    const TestDemuxer in = demuxed(out);
    EXPECT_EQ(in.streams, (std::map<int, int>{{0x100, 0x1B}, {0x101, 0x0F}}));
    EXPECT_EQ(in.clock_pid, 0x100);
    ASSERT_EQ(in.units.size(), 3u);
    const TestUnit& key = in.units[0];
    EXPECT_EQ(key.pid, 0x100);
    EXPECT_EQ(key.stream_id, 0xE0);
    EXPECT_EQ(key.dts, ticks_of(1s + Muxer::kDecodeDelay));
    EXPECT_EQ(key.pts, ticks_of(1s + 80ms + Muxer::kDecodeDelay));
    EXPECT_EQ(key.clock, 27'000'000u);
    EXPECT_TRUE(key.random_access);
    EXPECT_EQ(key.payload, filled(1'000, 1));
    const TestUnit& audio = in.units[1].pid == 0x101 ? in.units[1] : in.units[2];
    EXPECT_EQ(audio.stream_id, 0xC0);
    EXPECT_EQ(audio.pts, ticks_of(1s + 10ms + Muxer::kDecodeDelay));
    EXPECT_EQ(audio.payload, filled(300, 2));
    const TestUnit& inter = in.units[1].pid == 0x100 ? in.units[1] : in.units[2];
    EXPECT_FALSE(inter.random_access);
    EXPECT_EQ(inter.pts, inter.dts);
    EXPECT_EQ(inter.declared_bytes, 0u) << "too long to be said";
    EXPECT_EQ(inter.payload, filled(70'000, 3));
}

TEST(TsMuxer, TheClockIsNeverFarAwayAndNeverRunsBack) {
    Muxer muxer;
    muxer.set_tracks(kBoth);
    std::vector<std::uint8_t> out;
    muxer.write_tables(out);
    // One video frame per second, and audio up to 300 ms early or late.
    std::minstd_rand random(7);
    for (int i = 0; i < 1'000; ++i) {
        const MediaTime time = i * 20ms + 300ms;
        audio(muxer, time + std::chrono::milliseconds(static_cast<int>(random() % 600) - 300), filled(200, 2), out);
        if (i % 50 == 0)
            picture(muxer, {.dts = time, .pts = time, .key = true}, filled(500, 1), out);
    }
    const TestDemuxer in = demuxed(out);
    ASSERT_GT(in.clocks.size(), 100u);
    for (std::size_t i = 1; i < in.clocks.size(); ++i)
        EXPECT_GT(in.clocks[i], in.clocks[i - 1]);
    for (const TestUnit& unit : in.units)
        EXPECT_EQ(unit.clock.has_value(), unit.random_access) << "each of these pictures has a clock";
}

TEST(TsMuxer, AtLowFrameRatesAudioBringsTheClockForward) {
    Muxer muxer;
    muxer.set_tracks(kBoth);
    std::vector<std::uint8_t> out;
    muxer.write_tables(out);
    for (int i = 0; i < 500; ++i) {
        if (i % 50 == 0)
            picture(muxer, {.dts = i * 20ms, .pts = i * 20ms, .key = true}, filled(500, 1), out);
        audio(muxer, i * 20ms, filled(200, 2), out);
    }
    const TestDemuxer in = demuxed(out);
    for (std::size_t i = 1; i < in.clocks.size(); ++i) {
        EXPECT_GT(in.clocks[i], in.clocks[i - 1]);
        EXPECT_LE(in.clocks[i] - in.clocks[i - 1], 27'000u * 40);
    }
    EXPECT_GE(in.clocks.size(), 250u);
}

TEST(TsMuxer, AudioAloneBringsTheClockItself) {
    Muxer muxer;
    muxer.set_tracks(kAudio);
    std::vector<std::uint8_t> out;
    muxer.write_tables(out);
    for (int i = 0; i < 10; ++i)
        audio(muxer, i * 23ms, filled(200, 2), out);
    const TestDemuxer in = demuxed(out);
    EXPECT_EQ(in.clock_pid, 0x101);
    ASSERT_EQ(in.units.size(), 10u);
    for (const TestUnit& unit : in.units) {
        EXPECT_TRUE(unit.random_access);
        ASSERT_TRUE(unit.clock.has_value());
        EXPECT_EQ(unit.pts * 300 - *unit.clock, 27'000u * 100) << "what arrives now is due kDecodeDelay later";
    }
}

TEST(TsMuxer, AChangeOfTracksIsANewVersionOfTheMap) {
    Muxer muxer;
    std::vector<std::uint8_t> out;
    muxer.set_tracks(kAudio);
    muxer.set_tracks(kBoth);
    muxer.write_tables(out);
    EXPECT_EQ(demuxed(out).version, 0) << "nobody has seen the first";
    muxer.set_tracks(kBoth);
    muxer.write_tables(out);
    EXPECT_EQ(demuxed(out).version, 0) << "no change";
    for (int i = 1; i <= 40; ++i) {
        muxer.set_tracks({i % 2 == 0 ? StreamType::avc : StreamType::hevc, StreamType::aac});
        muxer.write_tables(out);
        ASSERT_EQ(demuxed(out).version, i % 32);
    }
}

TEST(TsMuxer, RepeatedTablesKeepContinuity) {
    Muxer muxer;
    muxer.set_tracks(kBoth);
    std::vector<std::uint8_t> out;
    muxer.write_tables(out);
    muxer.write_tables(out);
    picture(muxer, {.dts = 0s, .pts = 0s, .key = true}, filled(500, 1), out);
    std::vector<std::uint8_t> late;
    muxer.repeat_tables(late);
    EXPECT_TRUE(std::equal(late.begin(), late.end(), out.begin() + 2 * kPacketBytes)) << "the newest ones, byte by byte";
    picture(muxer, {.dts = 40ms, .pts = 40ms, .key = false}, filled(500, 1), late);
    muxer.write_tables(late);
    EXPECT_EQ(demuxed(late).tables, 2u) << "the counters go on";
}

TEST(TsMuxer, PayloadFollowsTheTablesWhereAudioBeginsBeforeVideo) {
    Muxer muxer;
    muxer.set_tracks(kBoth);
    std::vector<std::uint8_t> out;
    for (const MediaTime begin : {0ms, 2'000ms}) {
        const std::size_t at = out.size();
        muxer.write_tables(out);
        for (int i = 0; i < 4; ++i)
            audio(muxer, begin + i * 23ms, filled(200, 2), out);
        picture(muxer, {.dts = begin + 100ms, .pts = begin + 100ms, .key = true}, filled(500, 1), out);
        constexpr std::uint8_t kHasPayload = 0x10;
        EXPECT_TRUE(out[at + 2 * kPacketBytes + 3] & kHasPayload) << begin.count();
    }
    const TestDemuxer in = demuxed(out);
    ASSERT_GE(in.clocks.size(), 4u);
    for (std::size_t i = 1; i < in.clocks.size(); ++i)
        EXPECT_GT(in.clocks[i], in.clocks[i - 1]);
}

TEST(TsMuxer, TimesWrapAfter26Hours) {
    Muxer muxer;
    muxer.set_tracks(kBoth);
    std::vector<std::uint8_t> out;
    muxer.write_tables(out);
    const MediaTime wrap((kTicksMask + 1) / 9 * 100);
    for (int i = -10; i < 10; ++i) {
        const MediaTime time = wrap + i * 40ms;
        picture(muxer, {.dts = time, .pts = time + 40ms, .key = true}, filled(500, 1), out);
    }
    const TestDemuxer in = demuxed(out);
    ASSERT_EQ(in.units.size(), 20u);
    EXPECT_GT(in.units.front().pts, in.units.back().pts);
    for (std::size_t i = 1; i < in.units.size(); ++i) {
        EXPECT_NEAR(static_cast<double>((in.units[i].pts - in.units[i - 1].pts) & kTicksMask), 3'600, 1);
        EXPECT_NEAR(static_cast<double>((in.units[i].dts - in.units[i - 1].dts) & kTicksMask), 3'600, 1);
        const std::uint64_t period = (kTicksMask + 1) * 300;
        EXPECT_NEAR(static_cast<double>((*in.units[i].clock + period - *in.units[i - 1].clock) % period), 1'080'000, 300);
    }
}

}  // namespace
}  // namespace live::wire::ts
