#include "session/fan_out/deferred_encoder.hpp"

#include <chrono>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/source/publication.hpp"
#include "media/source/wire_cursor.hpp"
#include "session/common/join.hpp"
#include "session/fan_out/end_watch.hpp"

namespace live::session {
namespace {

using namespace std::chrono_literals;
using media::bridge_test::Picture;

constexpr media::WireFormat kTransportStream{media::Container::ts, media::Framing::none, MediaKindSet::all()};
constexpr std::size_t kFrameBytes = 5U << 20;

// A listener that gets every packet at once.
struct Waiting final : media::PacketListener {
    void on_packets() override { ++calls; }
    int calls = 0;
};

class DeferredEncoderTest : public testing::Test {
protected:
    void TearDown() override { MUST(scope_.stop(io::Deadline::after(io::kSoon))); }

    // A stream with a player of its transport stream.
    struct Show {
        Show(media::SlabPool& pool, media::DeferredEncoder& encoder)
            : source(make_ref<media::Source>("/live/large", media::PlayOptions(), 4096U, pool)) {
            source->backlog().set_encoder(&encoder);
            publication = MUST(media::Publication::start(source, media::Takeover::refuse));
            source->append(media::bridge_test::avc_config());
            frame(1000);
            player = std::make_unique<media::WireCursor>(source, kTransportStream);
        }
        void frame(std::size_t size) {
            source->append(media::bridge_test::avc_frame(Picture::key, 40ms * frames++, {media::bridge_test::idr(size)}));
            source->flush();
        }
        bool is_whole() const { return player->wire_log().next() == source->ring().next(); }

        Ref<media::Source> source;
        std::unique_ptr<media::Publication> publication;
        std::unique_ptr<media::WireCursor> player;
        int frames = 0;
    };

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    io::Scope scope_{"test"};
    media::SlabPool pool_;
    DeferredEncoder encoder_{scope_};
};

TEST_F(DeferredEncoderTest, ALargeFrameIsEncodedInTurnsOfItsOwnAfterTheFlush) {
    Show show(pool_, encoder_);
    show.frame(kFrameBytes);
    Waiting waiting;
    show.source->readers().add_listener(waiting);
    EXPECT_FALSE(show.is_whole());
    std::size_t turns = 0;
    for (; !show.is_whole(); ++turns)
        MUST(io::yield(io::Deadline::after(io::kSoon)));
    EXPECT_GE(turns, kFrameBytes / media::WireLogs::kCatchUpBytes / 2);
    EXPECT_EQ(waiting.calls, 0);
    io::wait_until([&] { return waiting.calls == 1; });
    show.source->readers().remove_listener(waiting);
}

TEST_F(DeferredEncoderTest, FramesThatArriveMeanwhileFollow) {
    Show show(pool_, encoder_);
    show.frame(kFrameBytes);
    for (int i = 0; i < 5; ++i) {
        MUST(io::yield(io::Deadline::after(io::kSoon)));
        show.frame(1000);
        EXPECT_FALSE(show.is_whole());
    }
    io::wait_until([&] { return show.is_whole(); });
    show.frame(1000);
    EXPECT_TRUE(show.is_whole()) << "at once again";
}

TEST_F(DeferredEncoderTest, StreamsTakeTurns) {
    Show first(pool_, encoder_);
    Show second(pool_, encoder_);
    first.frame(kFrameBytes);
    second.frame(kFrameBytes);
    const auto turns_until_whole = [](const Show& show) {
        std::size_t turns = 0;
        for (; !show.is_whole(); ++turns)
            MUST(io::yield(io::Deadline::after(io::kSoon)));
        return turns;
    };
    const std::size_t turns = turns_until_whole(first);
    EXPECT_GT(turns, 8U);
    EXPECT_LT(turns_until_whole(second), turns / 4);
}

TEST_F(DeferredEncoderTest, AStreamWaitsOnce) {
    Show show(pool_, encoder_);
    show.frame(kFrameBytes);
    const auto references = show.source->ref_count();
    for (int i = 0; i < 5; ++i)
        show.frame(1000);
    EXPECT_EQ(show.source->ref_count(), references);
}

TEST_F(DeferredEncoderTest, EncodesStreamsThatEndedOrLostTheirPlayer) {
    Show show(pool_, encoder_);
    show.frame(kFrameBytes);
    MUST(io::yield(io::Deadline::after(io::kSoon)));
    show.publication.reset();
    EXPECT_FALSE(show.is_whole());
    io::wait_until([&] { return show.source->backlog().empty(); });
    EXPECT_TRUE(show.is_whole());
    const auto references = show.source->ref_count();
    show.frame(kFrameBytes);
    MUST(io::yield(io::Deadline::after(io::kSoon)));
    EXPECT_GT(show.source->ref_count(), references);
    show.player.reset();
    io::wait_until([&] { return show.source->ref_count() < references; });
}

TEST_F(DeferredEncoderTest, APublisherThatOutrunsItLosesFramesUntilItIsDone) {
    Show show(pool_, encoder_);
    const auto next = [&show] { return show.source->ring().next(); };
    const auto frame = [&show](Picture is) {
        show.source->append(media::bridge_test::avc_frame(is, 40ms * show.frames++, {media::bridge_test::idr(1000)}));
        show.source->flush();
    };
    for (std::size_t bytes = 0; bytes <= media::Backlog::kBytesMax; bytes += kFrameBytes)
        show.frame(kFrameBytes);
    const media::Sequence taken = next();
    frame(Picture::key);
    EXPECT_FALSE(show.is_whole()) << "not encoded in one turn";
    MUST(io::yield(io::Deadline::after(io::kSoon)));
    frame(Picture::inter);
    EXPECT_EQ(next(), taken);
    show.source->append(media::bridge_test::avc_config());
    EXPECT_EQ(next(), taken + 1) << "it is needed later";
    io::wait_until([&] { return show.source->backlog().empty(); });
    frame(Picture::inter);
    EXPECT_EQ(next(), taken + 1) << "it refers to frames that nobody has got";
    frame(Picture::key);
    frame(Picture::inter);
    EXPECT_EQ(next(), taken + 3);
    EXPECT_TRUE(show.is_whole());
    EXPECT_EQ(show.source->counters().dropped_packets, 3U);
}

// They are never dropped, so they are not left either.
TEST_F(DeferredEncoderTest, ConfigurationsWithoutEndAreEncodedAtOnce) {
    Show show(pool_, encoder_);
    show.frame(kFrameBytes);
    media::Packet config = media::bridge_test::avc_config();
    config.payload = Slice::allocate(media::Backlog::kBytesMax);
    show.source->append(media::Packet(config));
    EXPECT_FALSE(show.is_whole());
    show.source->append(media::Packet(config));
    EXPECT_TRUE(show.is_whole());
}

TEST_F(DeferredEncoderTest, AStreamEndsAfterItsLastFrame) {
    Show show(pool_, encoder_);
    Signal left;
    EndWatch watch(show.source, left);
    show.frame(kFrameBytes);
    show.publication.reset();
    EXPECT_FALSE(left.is_raised());
    io::wait_until([&] { return left.is_raised(); });
    EXPECT_TRUE(show.is_whole());
    EXPECT_TRUE(watch.take_ended());
    show.publication = MUST(media::Publication::start(show.source, media::Takeover::refuse));
    show.frame(kFrameBytes);
    show.publication.reset();
    show.publication = MUST(media::Publication::start(show.source, media::Takeover::refuse));
    io::wait_until([&] { return show.is_whole(); });
    EXPECT_FALSE(watch.take_ended()) << "it goes on";
}

TEST_F(DeferredEncoderTest, WhenItsFiberIsOverFlushDoesItAll) {
    Show show(pool_, encoder_);
    show.frame(kFrameBytes);
    MUST(scope_.stop(io::Deadline::after(io::kSoon)));
    show.frame(kFrameBytes);
    EXPECT_TRUE(show.is_whole());
}

// A publisher that has a fiber encodes its frame itself, and leaves nothing for others.
TEST_F(DeferredEncoderTest, APublishersFiberEncodesInTurnsOfItsOwn) {
    Show show(pool_, encoder_);
    show.source->append(
        media::bridge_test::avc_frame(Picture::key, 40ms * show.frames++, {media::bridge_test::idr(kFrameBytes)}));
    ASSERT_FALSE(show.source->backlog().empty());
    bool done = false;
    std::size_t turns = 0;
    MUST(scope_.start("other", [&](io::Deadline forever) {
        for (; !done && io::yield(forever).ok(); ++turns) {
        }
    }));
    MUST(encode_rest(*show.source, io::Deadline::after(io::kSoon)));
    done = true;
    EXPECT_TRUE(show.is_whole());
    EXPECT_GE(turns, kFrameBytes / media::WireLogs::kCatchUpBytes / 2) << "a piece may be somewhat longer";
}

TEST_F(DeferredEncoderTest, ALongCatchUpYields) {
    bool done = false;
    std::size_t turns = 0;
    MUST(scope_.start("other", [&](io::Deadline forever) {
        for (; !done && io::yield(forever).ok(); ++turns) {
        }
    }));
    int steps = 0;
    const auto step = [&](std::size_t bytes) {
        EXPECT_EQ(bytes, media::WireLogs::kCatchUpBytes);
        // As long as a turn may be.
        while (!io::is_turn_over()) {
        }
        return ++steps == 4;
    };
    MUST(catch_up(step, io::Deadline::after(io::kSoon)));
    done = true;
    EXPECT_EQ(steps, 4);
    EXPECT_GE(turns, 2U);
}

}  // namespace
}  // namespace live::session
