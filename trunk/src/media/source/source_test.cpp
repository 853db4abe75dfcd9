#include "media/source/source.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "media/ring/packet_fixture.hpp"
#include "media/source/cursor.hpp"
#include "media/source/publication.hpp"
#include "media/source/source_watch.hpp"
#include "media/source/stream_table.hpp"
#include "media/source/wire_cursor.hpp"
#include "media/source/wire_log_hold.hpp"
#include "media/wire_log/flv_wire_encoder.hpp"

namespace live::media {
namespace {

Packet packet(MediaKind kind, std::int64_t at_ms, bool key = false, std::size_t size = 100) {
    return plain_packet(kind, key, false, std::chrono::milliseconds(at_ms),
                        Slice::copy_of(std::vector<std::uint8_t>(size, static_cast<std::uint8_t>(at_ms))));
}

struct SourceTest : ::testing::Test {
    void picture(std::int64_t at_ms, bool key = false) {
        source->append(packet(MediaKind::video, at_ms, key));
        source->timeline().map(MediaKind::video, static_cast<std::uint32_t>(at_ms));
    }

    SlabPool pool;
    PlayOptions options;
    Ref<Source> source = make_ref<Source>("/live/test", options, 60'000U, pool);
};

TEST_F(SourceTest, SecondPublisherIsRefusedUntilTheFirstHasGone) {
    auto first = Publication::start(source, Takeover::refuse);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(Publication::start(source, Takeover::refuse).code(), Errc::conflict);
    first->reset();
    EXPECT_TRUE(Publication::start(source, Takeover::refuse).ok());
}

TEST_F(SourceTest, TakeoverEvictsTheFirstPublisher) {
    auto first = *Publication::start(source, Takeover::refuse);
    auto second = *Publication::start(source, Takeover::replace);
    EXPECT_FALSE(first->is_current());
    EXPECT_TRUE(first->evicted().is_raised());
    first.reset();
    EXPECT_TRUE(source->is_published()) << "the evicted one does not take the newcomer's right with it";
    EXPECT_TRUE(second->is_current());
}

TEST_F(SourceTest, KeepsTheNewestGopAndNoMore) {
    for (int i = 0; i < 200; ++i)
        picture(40 * i, i % 50 == 0);
    EXPECT_EQ(source->ring().first(), 150U);
    EXPECT_EQ(source->retention().join_point(), 150U);
    EXPECT_EQ(source->retention().gop_start(), 150U);
}

// A reader that replaces another one repeats half a second.
TEST_F(SourceTest, AnEarlierJoinPointIsAKeyFrameOfThatAge) {
    const Cursor reader(source, WakeMode::batched, Cursor::Start::join_point);
    const auto publication = *Publication::start(source, Takeover::refuse);
    EXPECT_EQ(source->retention().join_point(500ms), source->ring().next());
    picture(0, true);
    EXPECT_EQ(source->retention().join_point(500ms), 0U) << "there is no other";
    for (int i = 1; i <= 50; ++i)
        picture(40 * i, i % 25 == 0);
    EXPECT_EQ(source->retention().join_point(), 50U);
    EXPECT_EQ(source->retention().join_point(500ms), 25U);
    for (int i = 51; i < 63; ++i)
        picture(40 * i);
    EXPECT_EQ(source->retention().join_point(500ms), 25U) << "480 ms";
    picture(2'520);
    EXPECT_EQ(source->retention().join_point(500ms), 50U);
    // Another sequence header.
    source->append(plain_packet(MediaKind::video, false, true, 2'530ms, Slice::copy_of(as_bytes("\x17\x00 other"))));
    picture(2'540, true);
    picture(3'200);
    EXPECT_EQ(source->retention().join_point(500ms), 65U);
    picture(3'240, true);
    EXPECT_EQ(source->retention().join_point(800ms), source->retention().join_point());
}

// The beginning is kept even without readers: other nodes request it a moment later, and the publisher's previous node has not
// received its first packets.
TEST_F(SourceTest, KeepsTheBeginningOfAPublicationForAMoment) {
    picture(0, true);
    const auto publication = *Publication::start(source, Takeover::refuse);
    for (int i = 1; i < 50; ++i)
        picture(40 * i, i == 1 || i % 16 == 0);
    EXPECT_EQ(source->ring().first(), 1U);
    EXPECT_EQ(source->retention().join_point(), 48U);
    EXPECT_EQ(source->retention().join_point(500ms), 32U);
    picture(40 * 64, true);
    EXPECT_EQ(source->ring().first(), source->retention().join_point());
}

TEST_F(SourceTest, AudioJoinPointIsAtRequestedAge) {
    const Cursor reader(source, WakeMode::batched, Cursor::Start::join_point);
    const auto publication = *Publication::start(source, Takeover::refuse);
    for (int i = 0; i < 100; ++i)
        source->append(packet(MediaKind::audio, 20 * i));
    EXPECT_EQ(source->retention().join_point(500ms), 74U);
    EXPECT_EQ(source->retention().join_point(10s), 0U);
}

TEST_F(SourceTest, GopOverTheFrameLimitIsNotCached) {
    options.gop_cache_frames_max = 20;
    source->set_options(options);
    for (int i = 0; i < 40; ++i)
        picture(40 * i, i == 0);
    EXPECT_EQ(source->retention().join_point(), source->ring().next());
    picture(1600, true);
    EXPECT_EQ(source->retention().join_point(), 40U);
}

TEST_F(SourceTest, StreamThatBecameAudioOnlyCachesNothing) {
    picture(0, true);
    for (std::uint32_t i = 0; i <= Retention::kAudioOnlyAfter + 16; ++i)
        source->append(packet(MediaKind::audio, 20 * i));
    EXPECT_EQ(source->retention().join_point(), source->ring().next());
    EXPECT_LT(source->ring().size(), 32U);
}

TEST_F(SourceTest, OneGopOverTheByteLimitIsDroppedWhole) {
    picture(0, true);
    for (int i = 1; i < 100; ++i)
        source->append(packet(MediaKind::video, 40 * i, false, 1 << 20));
    EXPECT_LE(source->ring().bytes(), Retention::kRingBytesMax + (16U << 20));
    EXPECT_EQ(source->retention().join_point(), source->ring().next());
}

TEST_F(SourceTest, ReleasesTheOldestEvenIfStillNeeded) {
    picture(0, true);
    Cursor slow(source, WakeMode::batched);
    for (int i = 1; i < 10; ++i)
        source->append(packet(MediaKind::video, 40 * i, false, 1'000));
    WireLog& wire_log = source->wire_logs().hold({Container::flv});
    const std::size_t before = source->held_bytes();
    source->retention().release_oldest(3'000);
    EXPECT_EQ(source->ring().first(), 4U) << "100 and three times 1,000";
    EXPECT_EQ(source->retention().join_point(), 10U);
    EXPECT_LT(source->held_bytes(), before);
    EXPECT_EQ(wire_log.tail(), wire_log.offset_of(4));
    EXPECT_FALSE(slow.take().has_value()) << "it goes on behind all there is";
    EXPECT_EQ(slow.dropped(), 10U);
    source->retention().release_oldest(SIZE_MAX);
    EXPECT_TRUE(source->ring().empty());
    picture(400, true);
    EXPECT_TRUE(slow.take().has_value());
    source->wire_logs().release({Container::flv});
}

std::vector<std::uint8_t> bytes_of(const WireLog& wire_log) {
    std::vector<std::uint8_t> bytes;
    std::array<::iovec, 64> parts;
    const std::size_t count = wire_log.spans(wire_log.tail(), wire_log.head(), parts);
    for (const ::iovec& part : std::span(parts).first(count)) {
        const auto* data = static_cast<const std::uint8_t*>(part.iov_base);
        bytes.insert(bytes.end(), data, data + part.iov_len);
    }
    return bytes;
}

TEST_F(SourceTest, NewWireLogCatchesUpInPieces) {
    constexpr WireFormat kFlv{Container::flv};
    picture(0, true);
    for (int i = 1; i < 100; ++i)
        source->append(packet(MediaKind::video, 40 * i, false, 10'000));
    WireLogHold hold(source, kFlv);
    EXPECT_EQ(source->wire_logs().find(kFlv)->head(), 0U);
    int pieces = 1;
    for (; !hold.catch_up(50'000); ++pieces)
        picture(4'000 + pieces);
    EXPECT_GT(pieces, 15);
    EXPECT_LT(pieces, 30);
    const WireLog& wire_log = *source->wire_logs().find(kFlv);
    picture(8'000);
    EXPECT_EQ(wire_log.next(), source->ring().next()) << "what comes next is appended at once";
    WireLog at_once(std::make_unique<FlvWireEncoder>(Framing::none, MediaKindSet::all()), pool, source->ring().first(),
                    TrackSelection::defaults);
    EXPECT_TRUE(at_once.catch_up(source->ring(), SIZE_MAX));
    EXPECT_EQ(bytes_of(wire_log), bytes_of(at_once));
    const WireCursor player(source, kFlv);
    EXPECT_EQ(player.behind(), source->ring().size());
}

TEST_F(SourceTest, AWireLogThatCatchesUpSkipsWhatTheRingDrops) {
    constexpr WireFormat kFlv{Container::flv};
    picture(0, true);
    for (int i = 1; i < 20; ++i)
        picture(40 * i);
    WireLogHold hold(source, kFlv);
    EXPECT_FALSE(hold.catch_up(300));
    source->retention().release_oldest(200);
    EXPECT_FALSE(hold.catch_up(1)) << "some of what it had is dropped";
    source->retention().release_oldest(SIZE_MAX);
    picture(1'000, true);
    EXPECT_TRUE(hold.catch_up(1)) << "and all it had";
    const WireLog& wire_log = *source->wire_logs().find(kFlv);
    EXPECT_EQ(wire_log.next(), source->ring().next());
    EXPECT_EQ(wire_log.offset_of(20), wire_log.tail());
    WireCursor player(source, kFlv);
    EXPECT_EQ(player.behind(), 1U);
}

TEST_F(SourceTest, ReleasesSmallPacketsInPortions) {
    options.gop_cache_frames_max = 0;
    source->set_options(options);
    picture(0, true);
    for (std::size_t i = 0; i < 2 * Retention::kReleasedPacketsMax; ++i)
        source->append(packet(MediaKind::video, 0, false, 5));
    source->retention().release_oldest(SIZE_MAX);
    EXPECT_EQ(source->ring().first(), Retention::kReleasedPacketsMax);
    source->retention().release_oldest(SIZE_MAX);
    source->retention().release_oldest(SIZE_MAX);
    EXPECT_TRUE(source->ring().empty());
}

TEST_F(SourceTest, OneGopOfTooManyPacketsIsDroppedWhole) {
    options.gop_cache_frames_max = 0;
    source->set_options(options);
    picture(0, true);
    for (std::size_t i = 0; i < Retention::kRingPacketsMax + 16; ++i)
        source->append(packet(MediaKind::video, 0, false, 5));
    EXPECT_LE(source->ring().size(), Retention::kRingPacketsMax);
    EXPECT_EQ(source->retention().join_point(), source->ring().next());
    for (std::size_t i = 0; i < 16 * Retention::kRingPacketsMax / Retention::kReleasedPacketsMax; ++i)
        source->append(packet(MediaKind::video, 0, false, 5));
    EXPECT_LE(source->ring().size(), 16U) << "by portions";
}

// Freeing a MiB takes some 0.1 ms of the publisher's turn.
TEST_F(SourceTest, NoPacketDropsMoreThanAPortionOfAGop) {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    const auto append = [this](bool key, std::size_t bytes, std::size_t limit) {
        const std::size_t before = source->ring().bytes() + bytes;
        source->append(packet(MediaKind::video, 0, key, bytes));
        EXPECT_LE(before - source->ring().bytes(), limit) << "key: " << key << ", " << bytes << " bytes";
    };
    // Many GOPs of nearly the limit, each of which ends the one before; and one that exceeds it.
    for (const std::size_t mib : {50U, 60U, 100U}) {
        for (std::size_t i = 0; i < mib; ++i)
            append(i == 0, kMiB, Retention::kTrimBytesMax + 2 * kMiB);
    }
    for (int i = 0; i < 400; ++i)
        append(i % 4 == 0, 10'000, Retention::kTrimBytesMax + 2 * kMiB);
    EXPECT_LE(source->ring().size(), 20U) << "in the end everything that is not needed is gone";
}

TEST_F(SourceTest, FramesOfTheLargestSizeDoNotTakeTheRingFarOverItsLimit) {
    constexpr std::size_t kLarge = std::size_t{10} << 20;
    picture(0, true);
    for (int i = 1; i < 40; ++i) {
        const std::size_t before = source->ring().bytes() + kLarge;
        source->append(packet(MediaKind::video, 40 * i, false, kLarge));
        EXPECT_LE(source->ring().bytes(), Retention::kRingBytesMax);
        EXPECT_LE(before - source->ring().bytes(), Retention::kRingBytesMax / 16 + 2 * kLarge);
    }
}

TEST_F(SourceTest, OnlyListenersAtOnceAreAwaited) {
    struct Listener final : PacketListener {
        void on_packets() override { ++batches; }
        int batches = 0;
    };
    Listener hurried;
    Listener batched;
    source->readers().add_listener(batched, WakeMode::batched);
    EXPECT_FALSE(source->is_awaited());
    source->readers().add_listener(hurried);
    EXPECT_TRUE(source->is_awaited());
    source->flush();
    source->readers().remove_listener(hurried);
    EXPECT_FALSE(source->is_awaited());
    source->flush();
    source->readers().remove_listener(batched);
    source->flush();
    EXPECT_EQ(hurried.batches, 1);
    EXPECT_EQ(batched.batches, 2);
}

TEST_F(SourceTest, CursorReturnsHeadersThenGopThenNewPackets) {
    source->append(plain_packet(MediaKind::data, false, true, {}, Slice::allocate(10)));
    source->append(plain_packet(MediaKind::video, false, true, {}, Slice::allocate(20)));
    source->append(plain_packet(MediaKind::audio, false, true, {}, Slice::allocate(30)));
    for (int i = 0; i < 60; ++i)
        picture(40 * i, i % 50 == 0);
    Cursor cursor(source);
    const std::size_t sizes[] = {10, 30, 20};
    for (const std::size_t size : sizes)
        EXPECT_EQ(cursor.take()->payload.size(), size);
    const auto first = cursor.take();
    ASSERT_TRUE(first.has_value());
    EXPECT_TRUE(first->key);
    EXPECT_EQ(first->dts, 2000ms);
    for (int i = 0; i < 9; ++i)
        EXPECT_TRUE(cursor.take().has_value());
    EXPECT_FALSE(cursor.take().has_value());
    EXPECT_FALSE(cursor.readable().is_raised());
    picture(2400);
    source->flush();
    EXPECT_TRUE(cursor.readable().is_raised());
    EXPECT_EQ(cursor.take()->dts, 2400ms);
}

TEST_F(SourceTest, StalledCursorJumpsAndHoldsNoMemory) {
    options.queue_length = 4s;
    source->set_options(options);
    picture(0, true);
    Cursor cursor(source);
    for (int i = 1; i < 1000; ++i)
        picture(40 * i, i % 50 == 0);
    EXPECT_LT(source->ring().size(), 400U);
    const auto next = cursor.take();
    ASSERT_TRUE(next.has_value());
    EXPECT_TRUE(next->key);
    EXPECT_GT(cursor.dropped(), 500U);
}

// Records the events of a source.
class Watcher final : public SourceWatch {
public:
    explicit Watcher(Ref<Source> source) : SourceWatch(std::move(source)) {}
    std::vector<std::string> take() { return std::exchange(events_, {}); }

private:
    void on_publisher_began() override { events_.emplace_back("publisher began"); }
    void on_publisher_left() override { events_.emplace_back("publisher left"); }
    void on_watched(bool watched) override { events_.emplace_back(watched ? "first viewer" : "last viewer left"); }

    std::vector<std::string> events_;
};

using Events = std::vector<std::string>;

TEST_F(SourceTest, TheFirstViewerAndTheLastAreEventsForPlayersOfEveryKind) {
    Watcher watcher(source);
    {
        const Cursor packets(source);
        EXPECT_EQ(watcher.take(), Events{"first viewer"});
        const WireCursor rtmp(source, WireFormat());
        source->rtp_logs().hold();
        EXPECT_EQ(watcher.take(), Events()) << "there is one already";
        source->rtp_logs().release();
    }
    EXPECT_EQ(watcher.take(), Events{"last viewer left"});
    { const WireCursor rtmp(source, WireFormat()); }
    EXPECT_EQ(watcher.take(), (Events{"first viewer", "last viewer left"}));
    source->rtp_logs().hold();
    EXPECT_EQ(watcher.take(), Events{"first viewer"});
    EXPECT_TRUE(source->readers().is_watched());
    source->rtp_logs().release();
    EXPECT_EQ(watcher.take(), Events{"last viewer left"});
    EXPECT_FALSE(source->readers().is_watched());
}

TEST_F(SourceTest, AReaderWithoutAnAudienceIsNoViewerUntilItHasOne) {
    Watcher watcher(source);
    Cursor segments(source, WakeMode::batched, Cursor::Start::now, Cursor::Tracks::all, Cursor::Audience::none);
    EXPECT_EQ(source->readers().count(), 1U);
    EXPECT_FALSE(source->readers().is_watched());
    segments.set_audience(Cursor::Audience::none);
    EXPECT_EQ(watcher.take(), Events());
    segments.set_audience(Cursor::Audience::some);
    segments.set_audience(Cursor::Audience::some);
    EXPECT_EQ(watcher.take(), Events{"first viewer"});
    segments.set_audience(Cursor::Audience::none);
    EXPECT_EQ(watcher.take(), Events{"last viewer left"});
}

TEST_F(SourceTest, AReaderOfAWireLogWithoutAnAudienceIsNoViewer) {
    Watcher watcher(source);
    {
        const WireLogHold hold(source, WireFormat(), Audience::none);
        const WireCursor push(source, WireFormat(), {}, std::nullopt, Audience::none);
        EXPECT_EQ(source->readers().count(), 2U);
        EXPECT_EQ(watcher.take(), Events());
        { const WireCursor player(source, WireFormat()); }
        EXPECT_EQ(watcher.take(), (Events{"first viewer", "last viewer left"}));
    }
    EXPECT_EQ(source->readers().count(), 0U);
    EXPECT_EQ(watcher.take(), Events());
}

TEST_F(SourceTest, NotifiesWatchesOfAStreamThatEndedElsewhere) {
    auto relayed = *Publication::start(source, Takeover::refuse);
    Watcher watcher(source);
    source->publications().note_stream_ended();
    EXPECT_EQ(watcher.take(), Events{"publisher left"});
    EXPECT_TRUE(source->is_published());
    const auto again = *Publication::start(source, Takeover::replace);
    EXPECT_EQ(watcher.take(), Events{"publisher began"});
}

TEST_F(SourceTest, AStreamThatMayReturnIsOverWhenItMayNot) {
    Watcher watcher(source);
    auto publication = *Publication::start(source, Takeover::refuse);
    EXPECT_FALSE(source->publications().may_return());
    source->publications().set_may_return(true);
    publication.reset();
    EXPECT_EQ(watcher.take(), (Events{"publisher began", "publisher left"}));
    EXPECT_TRUE(source->publications().may_return());
    source->publications().set_may_return(false);
    source->publications().set_may_return(false);
    EXPECT_EQ(watcher.take(), Events{"publisher left"}) << "those that have waited are told, once";
    source->publications().set_may_return(true);
    publication = *Publication::start(source, Takeover::refuse);
    source->publications().set_may_return(false);
    EXPECT_EQ(watcher.take(), Events{"publisher began"}) << "it has returned";
}

TEST_F(SourceTest, APublisherThatFillsTheRtpLogIsNoViewerEvenWhenEvicted) {
    struct Indifferent final : KeyFrameSource {
        void on_key_frame_wanted() override {}
    } key_frames;
    Watcher watcher(source);
    auto first = *Publication::start(source, Takeover::refuse);
    first->fill_rtp_log(key_frames);
    EXPECT_EQ(watcher.take(), Events{"publisher began"});
    auto second = *Publication::start(source, Takeover::replace);
    second->fill_rtp_log(key_frames);
    EXPECT_EQ(source->readers().count(), 0U);
    EXPECT_EQ(watcher.take(), Events{"publisher began"});
    first.reset();
    EXPECT_EQ(watcher.take(), Events()) << "the second one publishes";
    second.reset();
    EXPECT_EQ(watcher.take(), Events{"publisher left"});
}

TEST_F(SourceTest, APublishersEndIsReportedToItsWatchesButNoTakeover) {
    Watcher watcher(source);
    auto first = *Publication::start(source, Takeover::refuse);
    auto second = *Publication::start(source, Takeover::replace);
    first.reset();
    EXPECT_EQ(watcher.take(), (Events{"publisher began", "publisher began"}));
    second.reset();
    EXPECT_EQ(watcher.take(), Events{"publisher left"});
}

TEST_F(SourceTest, RemovedWatchReceivesNoEvents) {
    auto gone = std::make_unique<Watcher>(source);
    Watcher stays(source);
    Watcher stays_too(source);
    gone.reset();
    { const Cursor packets(source); }
    for (Watcher* watcher : {&stays, &stays_too})
        EXPECT_EQ(watcher->take(), (Events{"first viewer", "last viewer left"}));
}

TEST_F(SourceTest, TableForgetsASourceSomeTimeAfterItsLastUser) {
    StreamTable table(pool);
    const TimePoint start{std::chrono::hours(1)};
    {
        auto held = *table.find_or_create("/live/a", options, 60'000);
        EXPECT_EQ(held.get(), (*table.find_or_create("/live/a", options, 60'000)).get());
        EXPECT_TRUE(table.expire(start, 3s).empty());
    }
    EXPECT_TRUE(table.expire(start + 1s, 3s).empty());
    EXPECT_TRUE(table.expire(start + 3s, 3s).empty());
    EXPECT_EQ(table.expire(start + 4s, 3s), std::vector<std::string>{"/live/a"});
    EXPECT_EQ(table.size(), 0U);
    EXPECT_FALSE(table.find("/live/a"));
}

// All publishers of an address may leave at the same moment.
TEST_F(SourceTest, TableForgetsManySourcesInPortions) {
    StreamTable table(pool);
    const TimePoint start{std::chrono::hours(1)};
    for (int i = 0; i < 300; ++i) {
        const auto stream = *table.find_or_create("/live/" + std::to_string(i), options, 60'000);
        if (i < 20)
            stream->append(packet(MediaKind::video, 0, true, 1U << 20));
    }
    EXPECT_TRUE(table.expire(start, 3s).empty());
    std::size_t calls = 0;
    for (std::size_t left = 300; left > 0; ++calls) {
        const std::size_t bytes = pool.totals().packet_bytes;
        left -= table.expire(start + 3s, 3s).size();
        ASSERT_EQ(table.size(), left);
        ASSERT_LE(bytes - pool.totals().packet_bytes, StreamTable::kExpiredBytes + (1U << 20));
    }
    EXPECT_GE(calls, 5U);
    EXPECT_LE(calls, 10U);
}

TEST_F(SourceTest, CountsMemoryOfAllSources) {
    auto other = make_ref<Source>("/live/other", options, 60'000U, pool);
    EXPECT_EQ(pool.totals().sources, 2U);
    for (int i = 0; i < 60; ++i)
        picture(40 * i, i % 50 == 0);
    other->append(packet(MediaKind::audio, 0, false, 30));
    other->append(packet(MediaKind::audio, 20, false, 30));
    ASSERT_GT(other->ring().size(), 0U);
    EXPECT_EQ(pool.totals().packets, source->ring().size() + other->ring().size());
    EXPECT_EQ(pool.totals().packet_bytes, source->ring().bytes() + other->ring().bytes());
    other = {};
    EXPECT_EQ(pool.totals().sources, 1U);
    EXPECT_EQ(pool.totals().packets, source->ring().size());
    source = {};
    EXPECT_EQ(pool.totals().sources, 0U);
    EXPECT_EQ(pool.totals().packets, 0U);
    EXPECT_EQ(pool.totals().packet_bytes, 0U);
}

// The owner of the process's memory returns it to the system early, before the amount is so large that this takes long.
TEST_F(SourceTest, SignalsWhenMuchHasBeenDropped) {
    constexpr std::size_t kFrame = 50'000;
    SourceTotals& totals = pool.totals();
    totals.much = 20 * kFrame;
    const auto gop = [this](int frames) {
        for (int i = 0; i < frames; ++i)
            source->append(plain_packet(MediaKind::video, i == 0, false, {}, Slice::allocate(kFrame)));
    };
    gop(30);
    EXPECT_FALSE(totals.much_dropped.is_raised());
    gop(16);
    EXPECT_TRUE(totals.much_dropped.consume()) << "the first GOP has gone";
    EXPECT_EQ(totals.dropped, 0U);
    gop(16);
    EXPECT_FALSE(totals.much_dropped.is_raised()) << "sixteen of them since";
    gop(16);
    EXPECT_TRUE(totals.much_dropped.is_raised());
}

TEST_F(SourceTest, ANewPublisherBringsItsOwnTracks) {
    const auto append = [this](const char* body) {
        source->append(tag_packet(MediaKind::audio, false, body[1] == '0' || body[4] == '0', {}, Slice::copy_of(hex(body))));
    };
    auto first = *Publication::start(source, Takeover::refuse);
    append("95 00 6d703461 03 1210");
    append("95 00 6d703461 00 1190");
    EXPECT_EQ(source->tracks().default_of(MediaKind::audio)->id, TrackId(3));
    EXPECT_EQ(source->tracks().extra_configs().size(), 1U);
    EXPECT_NE(source->tracks().config_of(MediaKind::audio, TrackId(0)), nullptr);
    first.reset();
    EXPECT_EQ(source->tracks().all().size(), 2U) << "players may still be there";
    const std::uint32_t before = source->tracks().version();
    const auto second = *Publication::start(source, Takeover::refuse);
    EXPECT_EQ(source->tracks().all().size(), 1U);
    EXPECT_TRUE(source->tracks().extra_configs().empty());
    EXPECT_NE(source->tracks().version(), before);
    append("af 00 1190");
    append("af 01 aa");
    ASSERT_EQ(source->tracks().all().size(), 1U);
    EXPECT_EQ(source->tracks().default_of(MediaKind::audio)->id, TrackId(0));
    EXPECT_FALSE(source->ring().newest().extra);
    EXPECT_EQ(source->tracks().config_of(MediaKind::audio, TrackId(3)), nullptr);
}

}  // namespace
}  // namespace live::media
