#include "service/relay/pulled_stream.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/options_of_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "media/ring/data_message.hpp"
#include "media/ring/sync_message.hpp"
#include "service/relay/relayed_events_fixture.hpp"
#include "session/common/client_fixture.hpp"
#include "wire/amf/amf.hpp"

namespace live::service::relay {
namespace {

using engine::relay::Puller;
using engine::relay::PullState;
using engine::rtmp::GotMedia;
using wire::rtmp::MessageType;

class PullSettings final : public engine::relay::PullEnvironment {
public:
    engine::relay::PullRules rules() const override { return {}; }
    bool is_short_of_memory() const override { return false; }
    TimePoint silence_from(TimePoint start) const override { return start; }
};

// A pull whose origin has agreed to send the stream.
class PulledStreamTest : public testing::Test {
protected:
    void SetUp() override {
        source_ = MUST(streams_.find_or_create("/live/cam", {}, 60'000));
        stream_ = std::make_unique<PulledStream>(
            context_, puller_, totals_, PulledStream::Publisher{client_.entry, client_.asked, client_.plan, log_}, source_);
        puller_.set_demand(true, io::now());
        connect();
    }
    void TearDown() override { stream_->unpublish(); }

    void connect() {
        const std::vector<std::string> origins = {"rtmp://a:1935"};
        while (puller_.next_action(io::now()) == engine::relay::PullAction::find_origins)
            puller_.handle_origins(origins, io::now());
        ASSERT_EQ(puller_.status().state, PullState::dialling);
        puller_.handle_dialled({}, false, io::now());
        puller_.handle_started(io::now());
    }
    Result<bool> push(MessageType type, std::uint32_t time_ms, const std::vector<std::uint8_t>& body,
                      bool keeps_timeline = false) {
        GotMedia media{type, time_ms, Slice::copy_of(body)};
        return stream_->push(media, keeps_timeline);
    }
    bool push_key(std::uint32_t time_ms, bool keeps_timeline = false) {
        return MUST(push(MessageType::video, time_ms, {0x17, 1, 0, 0, 0, 0, 0, 0, 1, 0x65}, keeps_timeline));
    }
    bool push_delta(std::uint32_t time_ms) {
        return MUST(push(MessageType::video, time_ms, {0x27, 1, 0, 0, 0, 0, 0, 0, 1, 0x41}));
    }
    bool push_metadata() {
        ByteWriter body;
        wire::amf::write_amf0(body, "onMetaData");
        wire::amf::write_amf0(body, wire::amf::Value::object({{"width", 640}}));
        return MUST(push(MessageType::amf0_data, 0, body.release()));
    }
    std::vector<MediaKind> kinds() const {
        std::vector<MediaKind> kinds;
        for (media::Sequence at = source_->ring().first(); at < source_->ring().next(); ++at)
            kinds.push_back(source_->ring().at(at).kind);
        return kinds;
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    Log log_;
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    RelayedEvents events_;
    session::ClientTable clients_;
    ClusterOptions options_;
    SameOptions<ClusterOptions> same_options_{options_};
    PullContext context_{{}, streams_, events_, clients_, same_options_, {}};
    PullSettings settings_;
    engine::relay::OriginHealth health_;
    Puller puller_{settings_, health_, "/live/cam", {}, 1, io::now()};
    PullTotals totals_;
    session::FakeClient client_{clients_, session::ClientKind::relay_pull, "cam", "1"};
    Ref<media::Source> source_;
    std::unique_ptr<PulledStream> stream_;
};

TEST_F(PulledStreamTest, PublishesFromTheFirstKeyFrameOn) {
    EXPECT_FALSE(push_delta(0));
    EXPECT_FALSE(source_->is_published());
    EXPECT_TRUE(push_key(40));
    EXPECT_TRUE(push_delta(80));
    EXPECT_TRUE(source_->is_published());
    EXPECT_EQ(puller_.status().state, PullState::playing);
    EXPECT_EQ(events_.published, 1);
    EXPECT_EQ(kinds().size(), 2U);
}

TEST_F(PulledStreamTest, DataBeforeMediaFollowsTheStartOfThePublication) {
    EXPECT_FALSE(push_metadata());
    EXPECT_FALSE(source_->is_published());
    push_key(40);
    EXPECT_EQ(kinds(), (std::vector{MediaKind::data, MediaKind::video}));
    EXPECT_TRUE(push_metadata());
    EXPECT_EQ(kinds().back(), MediaKind::data);
}

TEST_F(PulledStreamTest, PublishesRtpDataOfDataMessages) {
    push_key(1'000, true);
    media::Packet sent;
    sent.codec = media::Codec::rtp_data;
    sent.content = media::Content::frame;
    sent.key = true;
    sent.payload = Slice::copy_of(as_bytes("<a/>"));
    const Slice body = media::write_data_message(sent, 1'040);
    const std::vector<std::uint8_t> bytes(body.bytes().begin(), body.bytes().end());
    // Their own time stamps are 0.
    EXPECT_TRUE(MUST(push(MessageType::amf0_data, 0, bytes)));
    const media::Packet& got = source_->ring().newest();
    EXPECT_EQ(got.codec, media::Codec::rtp_data);
    EXPECT_TRUE(got.key);
    EXPECT_EQ(as_text(got.payload.bytes()), "<a/>");
    EXPECT_EQ(got.dts - source_->ring().at(source_->ring().first()).dts, 40ms);
    const media::Sequence next = source_->ring().next();
    const std::vector<std::uint8_t> cut(bytes.begin(), bytes.end() - 1);
    EXPECT_TRUE(MUST(push(MessageType::amf0_data, 0, cut)));
    EXPECT_EQ(source_->ring().next(), next) << "a malformed one is dropped";
}

TEST_F(PulledStreamTest, NamesTheRenditionsOfTheOrigin) {
    const auto announce = [this](std::string list) {
        const Slice body = media::write_sync_message({std::string(media::kRelayRenditions), std::move(list), {}});
        return MUST(push(MessageType::amf0_data, 0, {body.bytes().begin(), body.bytes().end()}));
    };
    const auto push_further = [this](std::uint8_t id) {
        // E-RTMP multitrack: one track, a frame of AVC.
        EXPECT_TRUE(MUST(push(MessageType::video, 40, {0x96, 0x01, 'a', 'v', 'c', '1', id, 0, 0, 0, 0, 0, 0, 1, 0x65})));
    };
    EXPECT_FALSE(announce("255 240p\n- 120p\n")) << "before the media";
    push_key(0);
    const media::Publications& publications = source_->publications();
    EXPECT_EQ(publications.rendition_names(), (std::vector<std::string>{"240p", "120p"}));
    EXPECT_TRUE(publications.relays_renditions());
    push_further(255);
    push_further(254);
    const media::Tracks& tracks = source_->tracks();
    ASSERT_NE(tracks.find(MediaKind::video, media::TrackId(255)), nullptr);
    ASSERT_NE(tracks.find(MediaKind::video, media::TrackId(254)), nullptr);
    EXPECT_EQ(tracks.find(MediaKind::video, media::TrackId(255))->name, "240p");
    EXPECT_EQ(tracks.find(MediaKind::video, media::TrackId(254))->name, "");
    EXPECT_TRUE(announce("255 240p\n254 120p\n"));
    EXPECT_EQ(tracks.find(MediaKind::video, media::TrackId(254))->name, "120p");
    ASSERT_FALSE(source_->syncs().newest().empty()) << "for nodes behind this one";
    EXPECT_EQ(source_->syncs().newest().front().message.text, "255 240p\n254 120p\n");
    announce("255 broken");
    EXPECT_EQ(tracks.find(MediaKind::video, media::TrackId(254))->name, "120p") << "ignored";
    stream_->unpublish();
    EXPECT_FALSE(publications.relays_renditions());
}

TEST_F(PulledStreamTest, BoundsTheDataBeforeMedia) {
    for (std::size_t i = 0; i < 2 * PulledStream::kEarlyMax; ++i)
        push_metadata();
    push_key(40);
    EXPECT_EQ(kinds().size(), PulledStream::kEarlyMax + 1);
}

TEST_F(PulledStreamTest, AnotherConnectionContinuesTheStream) {
    push_key(40);
    stream_->end_connection();
    EXPECT_TRUE(source_->is_published()) << "the next connection takes over";
    puller_.handle_failed("the origin is gone", io::now());
    puller_.handle_origins(std::vector<std::string>{"rtmp://b:1935"}, io::now());
    puller_.handle_dialled({}, false, io::now());
    puller_.handle_started(io::now());
    EXPECT_FALSE(push_delta(0));
    EXPECT_TRUE(push_key(40));
    EXPECT_EQ(events_.published, 2);
    EXPECT_TRUE(events_.unpublished.empty());
    EXPECT_EQ(totals_.failovers, 1U);
    ASSERT_FALSE(source_->syncs().before(source_->ring().next() - 1).empty());
}

TEST_F(PulledStreamTest, ReportsTheEndOfThePublication) {
    stream_->unpublish();
    EXPECT_TRUE(events_.unpublished.empty()) << "it had no media";
    push_key(40);
    stream_->note_stream_ended();
    EXPECT_TRUE(source_->is_published());
    stream_->unpublish();
    EXPECT_FALSE(source_->is_published());
    EXPECT_EQ(events_.unpublished, (std::vector<std::string>{"/live/cam"}));
}

TEST_F(PulledStreamTest, APublisherOfThisNodeReplacesThePull) {
    push_key(40);
    EXPECT_FALSE(stream_->is_replaced());
    const auto local = MUST(media::Publication::start(source_, media::Takeover::replace));
    EXPECT_TRUE(stream_->is_replaced());
    stream_->unpublish();
    EXPECT_TRUE(events_.unpublished.empty()) << "the stream has another publisher";
}

TEST_F(PulledStreamTest, KeepsTheTimelineOfTheOrigin) {
    push_key(5'000, true);
    EXPECT_EQ(source_->ring().newest().dts, 5s);
}

}  // namespace
}  // namespace live::service::relay
