#include "service/segments/output.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/source/publication.hpp"
#include "media/source/stream_table.hpp"
#include "service/segments/segment_sync.hpp"
#include "service/segments/segmenter_fixture.hpp"

namespace live::service::segments {
namespace {

using io::kSoon;

// Notes the calls of its Output.
class TestOutput final : public Output, private SegmentWriter {
public:
    explicit TestOutput(const Ref<media::Source>& source)
        : Output({"TEST", "test", 1, media::WakeMode::at_once, std::make_shared<StreamOfFiles>()}, *this, source,
                 {two_second_cuts(), Segmenter::Layout::together, make_ts()}, Log()) {}

    using Output::follow_from;
    using Output::is_following;
    using Output::lacks_segments;
    using Output::push_configs;
    using Output::relays;
    using Output::segmenter;
    using Output::set_shift;
    using Output::skip_below;

    std::vector<std::string> calls;
    std::vector<MediaTime> starts;  // of segments
    SegmentState newest;
    std::size_t packets = 0;
    bool accepts = true;

private:
    void on_publisher_change(const std::optional<session::ClientRequest>& publisher, io::Deadline) override {
        calls.push_back(publisher ? "publisher " + publisher->id : "left");
    }
    bool accept(const media::Packet&, io::Deadline) override {
        ++packets;
        return accepts;
    }
    void on_segment_sync(const SegmentSync& sync, io::Deadline) override {
        calls.push_back("sync " + std::to_string(std::get<SegmentState>(sync.event).number));
    }
    void on_headers(const HeadersChanged&) override {}
    void on_opened(const SegmentState& state) override {
        calls.push_back("opened " + std::to_string(state.number));
        newest = state;
        publish(state, {17});
    }
    void on_part(PartMade) override {}
    void on_segment(SegmentMade event, io::Deadline) override {
        calls.push_back("segment " + std::to_string(event.number));
        starts.push_back(event.start);
    }
    void on_dropped(const SegmentDropped& event) override { calls.push_back("dropped " + std::to_string(event.number)); }
    void on_resumed(const Resumed& event) override {
        calls.push_back("resumed " + std::to_string(std::get<SegmentState>(event.sync.event).number));
    }
    void dispose(io::Deadline) override { calls.emplace_back("dispose"); }
    Duration time_after_end() const override { return Duration::zero(); }
    void finish() override { calls.emplace_back("finish"); }
};

class OutputTest : public testing::Test {
protected:
    void TearDown() override {
        publication_.reset();
        MUST(fibers_.stop(io::Deadline::after(kSoon)));
    }
    void start() {
        MUST(fibers_.start("output", [this](io::Deadline deadline) { output_.run(deadline); }));
    }
    void publish(session::ClientKind kind = session::ClientKind::fmle_publish) {
        publication_ = MUST(media::Publication::start(source_, media::Takeover::refuse));
        session::ClientRequest request;
        request.id = "a";
        request.kind = kind;
        output_.on_published(request);
        source_->append(config_packet(MediaKind::video, avc_config()));
    }
    void unpublish() {
        publication_.reset();
        output_.on_unpublished();
    }
    // Appends a key frame per second.
    void seconds(int count) {
        for (int i = 0; i < count; ++i, at_ += 1s)
            source_->append(video_packet(at_, true));
        source_->flush();
    }
    void wait_for_packets(std::size_t count) {
        io::wait_until([this, count] { return output_.packets >= count; });
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    Ref<media::Source> source_ = MUST(streams_.find_or_create("/live/cam", {}, 60'000));
    TestOutput output_{source_};
    std::unique_ptr<media::Publication> publication_;
    io::Scope fibers_{"output"};
    MediaTime at_{};
};

TEST_F(OutputTest, PassesEventsFromTheFirstPublisherToTheEnd) {
    publish();
    start();
    seconds(5);
    wait_for_packets(6);
    unpublish();
    io::wait_until([this] { return output_.is_over(); });
    EXPECT_EQ(output_.calls, (std::vector<std::string>{"publisher a", "opened 0", "segment 0", "opened 1", "segment 1",
                                                       "opened 2", "segment 2", "left", "dispose", "finish"}));
}

TEST_F(OutputTest, PublishesItsSegmentsAndTheirEnd) {
    publish();
    start();
    seconds(3);
    wait_for_packets(4);
    unpublish();
    io::wait_until([this] { return output_.is_over(); });
    const media::SyncLog& syncs = source_->syncs();
    ASSERT_EQ(syncs.next(), 3U);
    const auto opened = MUST(read_segment_sync(syncs.at(1).message.text));
    EXPECT_EQ(std::get<SegmentState>(opened.event).number, 1U);
    EXPECT_EQ(opened.list, std::vector<std::uint64_t>{17});
    const auto ended = MUST(read_segment_sync(syncs.at(2).message.text));
    EXPECT_EQ(std::get<SegmentsEnded>(ended.event).number, 2U);
    EXPECT_EQ(source_->ring().size(), 4U) << "the ring has the packets alone";
}

TEST_F(OutputTest, ShiftsPackets) {
    output_.set_shift(100s);
    publish();
    start();
    seconds(3);
    io::wait_until([this] { return !output_.starts.empty(); });
    EXPECT_EQ(output_.starts.front(), MediaTime(100s));
}

TEST_F(OutputTest, SegmentsNoPacketThatItsWriterRefuses) {
    output_.accepts = false;
    publish();
    start();
    seconds(5);
    wait_for_packets(6);
    EXPECT_EQ(output_.calls, std::vector<std::string>{"publisher a"});
}

// Freeing tens of MiB takes milliseconds: a worker does it.
TEST_F(OutputTest, KeepsNoBlocksOfADroppedSegment) {
    publish();
    start();
    for (int i = 0; i < 4; ++i)
        source_->append(media::tag_packet(MediaKind::video, i == 0, false, 0s, picture(i == 0, 0, Segmenter::kBlockBytes)));
    source_->flush();
    wait_for_packets(5);
    unpublish();
    io::wait_until([this] { return output_.is_over(); });
    EXPECT_TRUE(output_.starts.empty()) << "too short";
    EXPECT_TRUE(output_.segmenter().take_dropped_blocks().empty());
}

// All nodes need the same order of tracks, which is part of the state.
TEST_F(OutputTest, PushesConfigurationsInOneOrder) {
    publish();
    source_->append(media::tag_packet(MediaKind::video, false, true, {}, second_video_config()));
    source_->append(config_packet(MediaKind::audio, aac_config()));
    start();
    source_->flush();
    wait_for_packets(3);
    output_.segmenter().restart(Segmenter::Layout::by_track, make_cmaf());
    output_.push_configs();
    seconds(5);
    io::wait_until([this] { return !output_.starts.empty(); });
    const auto of = [](const SegmentState::Track& track) { return std::pair(track.kind, track.id); };
    EXPECT_EQ(output_.newest.tracks.size(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(output_.newest.tracks, {}, of));
}

// The messages are those of another output with equal packets.
TEST_F(OutputTest, FollowsTheOriginAndSkipsListedSegments) {
    const Ref<media::Source> origin = MUST(streams_.find_or_create("/live/origin", {}, 60'000));
    SyncedSegmenter segmenter({"test", 1, *origin, Log()}, {two_second_cuts(), Segmenter::Layout::together, make_ts()});
    segmenter.push(config_packet(MediaKind::video, avc_config()));
    const auto push = [&](MediaTime at) {
        segmenter.push(video_packet(at, true));
        for (const SegmenterEvent& event : segmenter.take())
            if (const auto* opened = std::get_if<SegmentOpened>(&event))
                segmenter.publish(opened->state, {});
    };
    publish(session::ClientKind::relay_pull);
    start();
    EXPECT_FALSE(output_.lacks_segments(3));
    std::uint64_t sent = 0;
    for (int i = 0; i < 9; ++i) {
        push(at_);
        seconds(1);
        for (; sent < origin->syncs().next(); ++sent)
            source_->append_sync(media::SyncMessage(origin->syncs().at(sent).message));
        source_->flush();
        wait_for_packets(static_cast<std::size_t>(i) + 2);
        if (i == 2) {
            EXPECT_TRUE(output_.relays());
            EXPECT_TRUE(output_.is_following());
            output_.skip_below(3);
            output_.follow_from(3);
        }
    }
    io::wait_until([this] { return output_.calls.back() == "segment 3"; });
    const auto count = [this](const std::string& call) { return std::ranges::count(output_.calls, call); };
    EXPECT_EQ(count("sync 2"), 1);
    EXPECT_EQ(count("segment 1") + count("segment 2"), 0) << "listed already";
    EXPECT_EQ(count("opened 2"), 0) << "the origin publishes it";
    EXPECT_TRUE(output_.lacks_segments(3));
    EXPECT_FALSE(output_.lacks_segments(4));
    EXPECT_TRUE(output_.lacks_segments({}));
}

}  // namespace
}  // namespace live::service::segments
