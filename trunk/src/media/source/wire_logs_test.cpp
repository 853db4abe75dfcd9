#include "media/source/wire_logs.hpp"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "media/ring/packet_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::media {
namespace {

struct WireLogsTest : ::testing::Test {
    void append(Packet packet) {
        tracks.note(packet);
        last = logs.append(packet);
        ring.append(std::move(packet));
    }
    void frame(std::int64_t at_ms, std::size_t size = 100) {
        append(plain_packet(MediaKind::video, at_ms == 0, false, std::chrono::milliseconds(at_ms), Slice::allocate(size)));
    }

    static constexpr WireFormat kRtmp{Container::rtmp};
    static constexpr WireFormat kFlv{Container::flv};
    static constexpr WireFormat kTs{Container::ts};

    SlabPool pool;
    StreamWatches watches;
    Readers readers{watches};
    Tracks tracks;
    Ring ring;
    SyncLog syncs;
    WireLogs logs{ring, syncs, tracks, readers, pool, 60'000};
    WireLogs::Encoded last = WireLogs::Encoded::all;
};

TEST_F(WireLogsTest, ReadersOfAFormatShareOneLog) {
    frame(0);
    WireLog& flv = logs.hold(kFlv);
    EXPECT_EQ(&logs.hold(kFlv), &flv);
    WireLog& rtmp = logs.hold(kRtmp, false, Audience::none);
    EXPECT_NE(&rtmp, &flv);
    EXPECT_EQ(flv.next(), 1U) << "complete at once";
    EXPECT_EQ(readers.count(), 3U);
    frame(40);
    EXPECT_EQ(flv.next(), 2U);
    EXPECT_EQ(rtmp.next(), 2U);
    EXPECT_EQ(logs.held_bytes(), flv.bytes() + rtmp.bytes());
    logs.release(kFlv);
    EXPECT_EQ(logs.find(kFlv), &flv) << "the second reader holds it";
    logs.release(kFlv);
    EXPECT_EQ(logs.find(kFlv), nullptr);
    EXPECT_TRUE(readers.has_logs());
    logs.release(kRtmp, Audience::none);
    EXPECT_EQ(readers.count(), 0U);
    EXPECT_FALSE(readers.has_logs());
}

TEST_F(WireLogsTest, NewLogCatchesUpInPieces) {
    for (int i = 0; i < 20; ++i)
        frame(40 * i, 10'000);
    WireLog& flv = logs.hold(kFlv, true);
    EXPECT_EQ(flv.next(), 0U);
    EXPECT_FALSE(logs.catch_up(kFlv, 50'000));
    EXPECT_GT(flv.next(), 0U);
    const Sequence encoded = flv.next();
    frame(800);
    EXPECT_EQ(flv.next(), encoded) << "a log that is not complete takes no new packets";
    EXPECT_FALSE(logs.encode_some()) << "nor is it part of the backlog";
    while (!logs.catch_up(kFlv, 50'000)) {
    }
    EXPECT_EQ(flv.next(), 21U);
    EXPECT_TRUE(logs.catch_up(kRtmp, 1)) << "it is not held";
    logs.release(kFlv);
}

TEST_F(WireLogsTest, LargeFramesOfFormatsThatCopyThemAreLeft) {
    append(plain_packet(MediaKind::video, false, true, {}, avc_config_body()));
    WireLog& ts = logs.hold(kTs);
    WireLog& flv = logs.hold(kFlv);
    frame(0, WireEncoder::kSlowBytes);
    EXPECT_EQ(last, WireLogs::Encoded::left);
    frame(40);
    EXPECT_EQ(flv.next(), 3U);
    EXPECT_EQ(ts.next(), 1U);
    int pieces = 0;
    for (; logs.encode_some(); ++pieces)
        ASSERT_LT(pieces, 10);
    EXPECT_EQ(ts.next(), 3U);
    frame(80);
    EXPECT_EQ(last, WireLogs::Encoded::all);
    EXPECT_EQ(ts.next(), 4U);
    logs.release(kTs);
    logs.release(kFlv);
}

TEST_F(WireLogsTest, ChunkSizeChangesWithTheNextLog) {
    logs.set_chunk_size(4'096);
    EXPECT_EQ(logs.chunk_size(), 4'096U) << "there are no readers";
    logs.hold(kRtmp);
    logs.set_chunk_size(128);
    EXPECT_EQ(logs.chunk_size(), 4'096U);
    logs.hold(kRtmp);
    EXPECT_EQ(logs.chunk_size(), 4'096U) << "the same log";
    logs.release(kRtmp);
    logs.release(kRtmp);
    logs.hold(kRtmp);
    EXPECT_EQ(logs.chunk_size(), 128U);
    logs.release(kRtmp);
}

}  // namespace
}  // namespace live::media
