#include "media/rtp/audio_meter.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::media {
namespace {

using wire::codec::Codec;

const TimePoint kStart = TimePoint() + 1h;

TEST(AudioMeter, FrameDurationIsThatOfItsHeader) {
    const std::vector<std::uint8_t> opus = {0xFC, 1, 2};  // 20 ms
    EXPECT_EQ(audio_in(Codec::opus, opus, 0), 20ms);
    EXPECT_EQ(audio_in(Codec::opus, {}, 0), 20ms);
    EXPECT_EQ(audio_in(Codec::aac, opus, 48'000), MediaTime(21'333));
    EXPECT_EQ(audio_in(Codec::aac, opus, 8'000), 128ms);
    EXPECT_GT(audio_in(Codec::aac, opus, 0), 10min);
    EXPECT_EQ(audio_in(Codec::mp3, opus, 0), 20ms);
    EXPECT_EQ(audio_in(Codec::pcm, std::vector<std::uint8_t>(176'400), 0), 1s);
    EXPECT_EQ(audio_in(Codec::g711a, std::vector<std::uint8_t>(320), 0), 40ms);
    EXPECT_EQ(audio_in(Codec::g711u, std::vector<std::uint8_t>(8), 0), 20ms);
}

TEST(AudioMeter, AudioInRealTimeAndTwiceAsFastPasses) {
    for (const int times : {1, AudioMeter::kTimesRealTime}) {
        AudioMeter meter;
        TimePoint now = kStart;
        for (int i = 0; i < 10'000; ++i, now += 20ms / times)
            ASSERT_TRUE(meter.take(20ms, now)) << times << ' ' << i;
    }
}

TEST(AudioMeter, BurstOfFiveSecondsPassesAndTheRestDoesNot) {
    AudioMeter meter;
    int taken = 0;
    for (int i = 0; i < 10'000; ++i)
        taken += meter.take(20ms, kStart) ? 1 : 0;
    EXPECT_EQ(taken, 250);
    // After the burst, twice real time.
    for (int i = 0; i < 10'000; ++i)
        taken += meter.take(20ms, kStart + 1s) ? 1 : 0;
    EXPECT_EQ(taken, 350);
    // After a pause, one more burst and no more.
    for (int i = 0; i < 10'000; ++i)
        taken += meter.take(20ms, kStart + 1h) ? 1 : 0;
    EXPECT_EQ(taken, 600);
}

}  // namespace
}  // namespace live::media
