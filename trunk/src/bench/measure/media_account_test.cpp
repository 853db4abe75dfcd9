#include "bench/measure/media_account.hpp"

#include <gtest/gtest.h>

namespace live::bench {
namespace {

using wire::flv::TagType;

TEST(MediaAccount, CountsAudioAndVideoAndNothingElse) {
    MediaAccount account;
    account.add(TagType::script, 0, 300);
    account.add(TagType::video, 0, 40);
    account.add(TagType::audio, 0, 7);
    account.add(TagType::video, 40, 1'000);
    EXPECT_EQ(account.audio_messages, 1U);
    EXPECT_EQ(account.video_messages, 2U);
    EXPECT_EQ(account.bytes, 1'047U);
    MediaAccount sum;
    sum.add(account);
    sum.add(account);
    EXPECT_EQ(sum.bytes, 2'094U);
}

TEST(MediaAccount, CountsBackwardTimestampsPerKind) {
    MediaAccount account;
    account.add(TagType::video, 80, 1);
    account.add(TagType::audio, 70, 1);
    account.add(TagType::video, 80, 1);
    EXPECT_EQ(account.times_went_back, 0U);
    account.add(TagType::video, 40, 1);
    EXPECT_EQ(account.times_went_back, 1U);
}

TEST(MediaAccount, AcceptsTimestampWrap) {
    MediaAccount account;
    account.add(TagType::video, 0xFFFFFFF0, 1);
    account.add(TagType::video, 16, 1);
    EXPECT_EQ(account.times_went_back, 0U);
}

}  // namespace
}  // namespace live::bench
