#include "service/segments/source_feed.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"
#include "media/source/stream_table.hpp"
#include "service/files/frame_limit.hpp"

namespace live::service::segments {
namespace {

using Drained = SourceFeed::Drained;

class SourceFeedTest : public testing::Test, private SourceFeed::Sink {
protected:
    void SetUp() override {
        source_ = MUST(streams_.find_or_create("/live/cam", {}, 60'000));
        feed_ = std::make_unique<SourceFeed>("HLS", source_, media::WakeMode::batched, log_);
        publish("first");
    }

    void publish(const std::string& id) {
        publication_ = MUST(media::Publication::start(source_, media::Takeover::refuse));
        session::ClientRequest request;
        request.id = id;
        feed_->on_published(request);
    }
    void unpublish() {
        publication_.reset();
        feed_->on_unpublished();
    }
    void append(std::size_t bytes) {
        source_->append(media::plain_packet(MediaKind::video, false, false, {}, Slice::allocate(bytes)));
    }
    // One turn of the loop.
    Drained drain() {
        const Drained drained = drain_once();
        if (drained == Drained::in_part) {
            EXPECT_EQ(feed_->wait(drained, {}, io::Deadline::never()), SourceFeed::Next::packets);
        }
        return drained;
    }
    // Without the pause after it.
    Drained drain_once() {
        turns_.emplace_back();
        return feed_->drain(*this, io::Deadline::never());
    }
    void drain_all() {
        while (drain() == Drained::in_part) {
        }
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    Log log_;
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    Ref<media::Source> source_;
    std::unique_ptr<media::Publication> publication_;
    std::unique_ptr<SourceFeed> feed_;
    std::chrono::microseconds work_{};             // for each packet
    std::vector<std::vector<std::size_t>> turns_;  // sizes of the packets of each
    std::vector<std::string> events_;

private:
    void on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline) override {
        events_.push_back(publisher ? publisher->id : "left");
    }
    void on_packet(const media::Packet& packet, io::Deadline) override {
        turns_.back().push_back(packet.payload.size());
        events_.emplace_back("packet");
        for (const auto until = std::chrono::steady_clock::now() + work_; std::chrono::steady_clock::now() < until;) {
        }
    }
    void on_sync(const media::SyncMessage& message, io::Deadline) override { events_.push_back("sync " + message.text); }
    void on_buffer(const media::Packet& next, std::vector<std::uint8_t> room) override {
        EXPECT_TRUE(room.empty());
        EXPECT_GT(room.capacity(), next.payload.size() / 40 * 41);
        events_.push_back("room for " + std::to_string(next.payload.size()));
    }
    void on_gap() override { events_.emplace_back("hole"); }
};

TEST_F(SourceFeedTest, EndsATurnByItsTime) {
    work_ = std::chrono::microseconds(2'500);
    for (int i = 0; i < 30; ++i)
        append(100);
    drain_all();
    std::size_t packets = 0;
    for (const auto& turn : turns_) {
        EXPECT_LE(turn.size(), 1U);
        packets += turn.size();
    }
    EXPECT_EQ(packets, 30U);
}

TEST_F(SourceFeedTest, GivesALargeFrameASeparateTurn) {
    for (int i = 0; i < 5; ++i) {
        append(100);
        append(files::kFrameBytesMax);
        append(files::kFrameBytesMax);
        append(SourceFeed::kTurnBytes / 2);
    }
    drain_all();
    std::size_t packets = 0;
    for (const auto& turn : turns_) {
        std::size_t bytes = 0;
        for (const std::size_t size : turn)
            bytes += size;
        EXPECT_TRUE(turn.size() <= 1 || bytes <= SourceFeed::kTurnBytes) << turn.size() << " packets of " << bytes << " bytes";
        packets += turn.size();
    }
    EXPECT_EQ(packets, 20U);
}

// The first write to new memory takes up to 3 ms per MiB. On a busy machine a worker may exceed the limit of the wait:
// the sink then receives the frame without memory.
TEST_F(SourceFeedTest, AllocatesMemoryForALargeFrameInAWorker) {
    io::Scope others("others");
    bool ran = false;
    MUST(others.start("other", [&ran](io::Deadline) { ran = true; }));
    append(SourceFeed::kTurnBytes);
    drain_once();
    EXPECT_FALSE(ran);
    const std::string room = "room for " + std::to_string(files::kFrameBytesMax);
    for (int tries = 0; tries < 100 && std::ranges::count(events_, room) == 0; ++tries) {
        events_.clear();
        append(files::kFrameBytesMax);
        drain_once();
    }
    EXPECT_TRUE(ran);
    EXPECT_EQ(events_, (std::vector<std::string>{room, "packet"}));
    append(files::kFrameBytesMax + 1);
    drain_all();
    EXPECT_EQ(events_.size(), 2U) << "the frame is dropped";
    MUST(others.stop(io::Deadline::never()));
}

TEST_F(SourceFeedTest, HandlesPublisherChangesBetweenTurns) {
    append(SourceFeed::kTurnBytes);
    append(SourceFeed::kTurnBytes);
    EXPECT_EQ(drain(), Drained::in_part);
    unpublish();
    EXPECT_FALSE(feed_->has_ended()) << "one packet is still unread";
    publish("second");
    append(SourceFeed::kTurnBytes);
    drain_all();
    EXPECT_EQ(events_, (std::vector<std::string>{"first", "packet", "packet", "left", "second", "packet"}));
    unpublish();
    EXPECT_EQ(drain(), Drained::all);
    EXPECT_TRUE(feed_->has_ended());
}

TEST_F(SourceFeedTest, HandsOutSyncMessagesBetweenPacketsAndPublishers) {
    append(100);
    source_->append_sync({"hls", "1", {}});
    append(100);
    unpublish();
    source_->append_sync({"hls", "2", {}});
    publish("second");
    source_->append_sync({"hls", "3", {}});
    append(100);
    drain_all();
    EXPECT_EQ(events_,
              (std::vector<std::string>{"first", "packet", "sync 1", "packet", "left", "sync 2", "second", "sync 3", "packet"}));
    source_->append_sync({"hls", "4", {}});
    drain_all();
    EXPECT_EQ(events_.back(), "sync 4");
}

TEST_F(SourceFeedTest, StartsWithTheNextSyncMessage) {
    drain_all();
    append(100);
    source_->append_sync({"hls", "1", {}});
    feed_ = std::make_unique<SourceFeed>("HLS", source_, media::WakeMode::batched, log_);
    publication_.reset();
    publish("second");
    source_->append_sync({"hls", "2", {}});
    drain_all();
    EXPECT_EQ(events_, (std::vector<std::string>{"first", "second", "sync 2"}));
}

}  // namespace
}  // namespace live::service::segments
