#include "media/source/cursor.hpp"

#include <gtest/gtest.h>

#include "media/source/wire_log_fixture.hpp"

namespace live::media {
namespace {

TEST(Cursor, BeginsAtTheJoinPointOrAfterAllPublishedPackets) {
    Stage stage;
    stage.config();
    stage.picture();
    Cursor joining(stage.source);
    Cursor late(stage.source, WakeMode::batched, Cursor::Start::now);
    EXPECT_FALSE(stage.source->ring().empty());
    for (int header = 0; header < 3; ++header) {
        EXPECT_TRUE(joining.take()->is_config());
        EXPECT_TRUE(late.take()->is_config()) << "headers of before come first";
    }
    EXPECT_EQ(number_of(joining.take()->payload), 0u) << "the cached GOP";
    EXPECT_FALSE(late.take().has_value());
    EXPECT_EQ(late.next(), stage.source->ring().next());
    stage.picture();
    EXPECT_EQ(number_of(late.take()->payload), 2u);
}

TEST(Cursor, ABatchedListenerDoesNotKeepThePublisherFromItsTicks) {
    Stage stage;
    const Cursor batched(stage.source, WakeMode::batched);
    EXPECT_FALSE(stage.source->is_awaited());
    const Cursor eager(stage.source);
    EXPECT_TRUE(stage.source->is_awaited());
}

TEST(Cursor, SkipsPacketsThatItLeavesOut) {
    Stage stage;
    Cursor cursor(stage.source, WakeMode::batched, Cursor::Start::now);
    const auto append = [&stage](std::uint8_t id) {
        Packet packet = plain_packet(MediaKind::audio, false, false, {}, payload_of(id, 4));
        packet.track = TrackId(id);
        stage.source->append(std::move(packet));
    };
    append(0);
    append(1);
    EXPECT_EQ(number_of(cursor.take()->payload), 0U);
    EXPECT_EQ(cursor.next(), 2U) << "a publisher that begins here begins before the next packet that is taken";
    append(1);
    append(0);
    EXPECT_EQ(cursor.next(), 3U);
    EXPECT_EQ(number_of(cursor.take()->payload), 0U);
    EXPECT_FALSE(cursor.take());
}

// The message that a node keeps for those that join precedes the first frame of a stream that has run for long.
TEST(Cursor, ASyncMessageBeforeTheFirstFrameOfARelayedStreamDropsNothing) {
    Stage stage;
    Cursor segmenter(stage.source, WakeMode::batched, Cursor::Start::now, Cursor::Tracks::all);
    stage.source->timeline().start_relay(900'000);
    stage.source->append_sync({"hls", "1", {}});
    stage.start = stage.source->timeline().map(MediaKind::video, 900'000).dts;
    stage.picture();
    EXPECT_TRUE(segmenter.take());
    EXPECT_EQ(segmenter.dropped(), 0U);
    EXPECT_EQ(stage.source->syncs().at(0).before, 0U);
}

}  // namespace
}  // namespace live::media
