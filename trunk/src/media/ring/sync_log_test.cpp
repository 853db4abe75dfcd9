#include "media/ring/sync_log.hpp"

#include <string>

#include <gtest/gtest.h>

namespace live::media {
namespace {

SyncLog::Entry entry_of(Sequence before, std::string series, std::string text) {
    return {before, {}, {std::move(series), std::move(text), {}}};
}

TEST(SyncLog, ReturnsEntriesByNumberAndByPacket) {
    SyncLog log;
    log.append(entry_of(3, "hls", "1"));
    log.append(entry_of(3, "dash", "2"));
    log.append(entry_of(7, "hls", "3"));
    EXPECT_EQ(log.next(), 3U);
    EXPECT_EQ(log.at(1).message.text, "2");
    ASSERT_EQ(log.before(3).size(), 2U);
    EXPECT_EQ(log.before(3)[1].message.text, "2");
    EXPECT_TRUE(log.before(4).empty());
    EXPECT_EQ(log.before(7).size(), 1U);
}

TEST(SyncLog, DropsEntriesWithTheirPackets) {
    SyncLog log;
    log.append(entry_of(3, "hls", "1"));
    log.append(entry_of(7, "hls", "2"));
    log.drop_before(3);
    EXPECT_EQ(log.first(), 0U);
    log.drop_before(4);
    EXPECT_EQ(log.first(), 1U);
    EXPECT_EQ(log.next(), 2U);
    EXPECT_EQ(log.at(1).message.text, "2");
    log.drop_before(8);
    EXPECT_EQ(log.first(), log.next());
    EXPECT_EQ(log.newest().front().message.text, "2") << "kept for nodes that join";
}

TEST(SyncLog, KeepsNewestOfEachSeriesExceptRelayStart) {
    SyncLog log;
    log.append(entry_of(0, std::string(kRelayStart), ""));
    log.append(entry_of(0, "hls", "1"));
    log.append(entry_of(1, "dash", "2"));
    log.append(entry_of(2, "hls", "3"));
    ASSERT_EQ(log.newest().size(), 2U);
    EXPECT_EQ(log.newest()[0].message.text, "3");
    EXPECT_EQ(log.newest()[1].message.text, "2");
    for (std::size_t i = 0; i < SyncLog::kSeriesMax; ++i)
        log.append(entry_of(3, "series" + std::to_string(i), ""));
    EXPECT_EQ(log.newest().size(), SyncLog::kSeriesMax);
    log.start_publisher();
    EXPECT_TRUE(log.newest().empty());
    EXPECT_EQ(log.next(), 4U + SyncLog::kSeriesMax);
}

TEST(SyncLog, RefusesEntriesAtItsLimitUntilPacketsAreDropped) {
    SyncLog log;
    for (std::size_t i = 0; i < SyncLog::kMax; ++i)
        ASSERT_NE(log.append(entry_of(i, "hls", "1")), nullptr);
    EXPECT_EQ(log.append(entry_of(SyncLog::kMax, "hls", "2")), nullptr);
    EXPECT_EQ(log.newest().front().message.text, "1");
    log.drop_before(1);
    EXPECT_NE(log.append(entry_of(SyncLog::kMax, "hls", "2")), nullptr);
}

}  // namespace
}  // namespace live::media
