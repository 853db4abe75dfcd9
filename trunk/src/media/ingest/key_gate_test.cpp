#include "media/ingest/key_gate.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "media/ingest/ingest.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/cursor.hpp"
#include "media/source/source_watch.hpp"

namespace live::media {
namespace {

Slice gate_body(std::initializer_list<std::uint8_t> bytes) { return Slice::copy_of(std::vector<std::uint8_t>(bytes)); }

const Slice kGateConfig = gate_body({0x17, 0, 0, 0, 0, 1, 0x64, 0, 0x1F});
const Slice kGateKey = gate_body({0x17, 1, 0, 0, 0, 1, 2, 3});
const Slice kGateInter = gate_body({0x27, 1, 0, 0, 0, 4, 5, 6});
const Slice kGateAudio = gate_body({0x2F, 9, 9, 9});

// A stream whose publisher has left, and whose slate is shown.
struct KeyGateTest : ::testing::Test, StandIn, BeginListener {
    struct Watch final : SourceWatch {
        using SourceWatch::SourceWatch;
        void on_publisher_began() override { ++began; }
        void on_publisher_left() override { ++left; }
        int began = 0;
        int left = 0;
    };

    KeyGateTest() {
        source->publications().set_stand_in(this);
        publish().reset();
    }
    ~KeyGateTest() override { source->publications().set_stand_in(nullptr); }

    void on_publisher_gone() override {
        if (is_willing)
            slate = std::make_unique<Publication>(source, Publisher::Role::stand_in);
    }
    void on_begun() override { events.emplace_back("begun at " + std::to_string(source->ring().next())); }

    std::unique_ptr<Publication> publish() { return *Publication::start(source, Takeover::refuse); }
    void show(std::uint32_t at_ms, const Slice& body) {
        Ingest ingest(*slate, options, {}, log);
        ingest.push_body(MediaKind::video, at_ms, body);
    }
    std::string content(Sequence from) const {
        std::string text;
        for (Sequence at = std::max(from, source->ring().first()); at < source->ring().next(); ++at) {
            const Packet& packet = source->ring().at(at);
            text += packet.is_config() ? 'c' : packet.key ? 'K' : packet.kind == MediaKind::audio ? 'a' : 'v';
        }
        return text;
    }

    SlabPool pool;
    PlayOptions options;
    Log log;
    Ref<Source> source = make_ref<Source>("/live/test", options, 60'000U, pool);
    Watch watch{source};
    Cursor reader{source};  // keeps the packets in the ring
    bool is_willing = true;
    std::unique_ptr<Publication> slate;
    std::vector<std::string> events;
};

TEST_F(KeyGateTest, StandInFeedsTheStreamThatThePublisherHasLeft) {
    ASSERT_NE(slate, nullptr);
    EXPECT_TRUE(source->is_published());
    EXPECT_TRUE(source->publications().is_standing_in());
    EXPECT_EQ(source->publications().owner(), nullptr);
    EXPECT_EQ(watch.left, 0) << "players stay";
    is_willing = false;
    slate.reset();
    EXPECT_FALSE(source->is_published());
    EXPECT_EQ(watch.left, 1);
}

TEST_F(KeyGateTest, PublisherHasTheRightBeforeItsKeyFrame) {
    const auto publisher = publish();
    EXPECT_TRUE(publisher->is_current());
    EXPECT_TRUE(publisher->is_waiting());
    EXPECT_TRUE(slate->is_current()) << "it goes on";
    EXPECT_EQ(Publication::start(source, Takeover::refuse).code(), Errc::conflict);
    const auto successor = *Publication::start(source, Takeover::replace);
    EXPECT_FALSE(publisher->is_current());
    EXPECT_TRUE(publisher->evicted().is_raised());
    EXPECT_TRUE(successor->is_waiting());
}

TEST_F(KeyGateTest, LivePictureBeginsAtItsKeyFrameWithItsHeaders) {
    show(0, kGateConfig);
    show(0, kGateKey);
    const Sequence shown = source->ring().next();
    auto publisher = publish();
    publisher->set_begin_listener(*this);
    Ingest ingest(*publisher, options, {}, log);
    const int began = watch.began;
    ingest.push_body(MediaKind::video, 5'000, kGateConfig);
    ingest.push_body(MediaKind::audio, 5'000, kGateAudio);
    ingest.push_body(MediaKind::video, 5'000, kGateInter);
    EXPECT_EQ(source->ring().next(), shown);
    EXPECT_EQ(watch.began, began);
    show(40, kGateInter);
    ingest.push_body(MediaKind::video, 5'040, kGateKey);
    ingest.push_body(MediaKind::video, 5'080, kGateInter);
    EXPECT_FALSE(slate->is_current());
    EXPECT_TRUE(slate->evicted().is_raised());
    EXPECT_EQ(content(shown), "vcKv");
    EXPECT_EQ(watch.began, began + 1);
    EXPECT_EQ(events, (std::vector<std::string>{"begun at " + std::to_string(shown + 1)})) << "before its first packet";
    EXPECT_GE(source->ring().at(shown + 2).dts, source->ring().at(shown).dts) << "time goes on";
    EXPECT_EQ(watch.left, 0);
}

TEST_F(KeyGateTest, PublisherThatLeavesWithoutAKeyFrameLeavesTheSlate) {
    auto publisher = publish();
    publisher.reset();
    EXPECT_TRUE(slate->is_current());
    EXPECT_EQ(watch.left, 0);
}

TEST_F(KeyGateTest, PublisherBeginsWhenTheSlateEnds) {
    const auto publisher = publish();
    slate.reset();
    EXPECT_TRUE(publisher->is_current());
    EXPECT_FALSE(publisher->is_waiting());
    EXPECT_EQ(watch.left, 0);
    Ingest ingest(*publisher, options, {}, log);
    const Sequence from = source->ring().next();
    ingest.push_body(MediaKind::video, 0, kGateInter);
    EXPECT_EQ(content(from), "v");
}

TEST_F(KeyGateTest, AudioAloneBeginsAfterASecond) {
    const auto publisher = publish();
    Ingest ingest(*publisher, options, {}, log);
    const Sequence from = source->ring().next();
    for (std::int64_t at_ms = 0; at_ms <= 1'000; at_ms += 20) {
        source->set_arrival(TimePoint(std::chrono::seconds(5) + std::chrono::milliseconds(at_ms)));
        ingest.push_body(MediaKind::audio, static_cast<std::uint32_t>(at_ms), kGateAudio);
    }
    EXPECT_EQ(content(from), "a");
}

TEST_F(KeyGateTest, VideoWithoutAKeyFrameBeginsAfterTenSeconds) {
    const auto publisher = publish();
    Ingest ingest(*publisher, options, {}, log);
    const Sequence from = source->ring().next();
    for (std::int64_t at_s = 0; at_s <= 10; ++at_s) {
        source->set_arrival(TimePoint(std::chrono::seconds(5 + at_s)));
        ingest.push_body(MediaKind::video, static_cast<std::uint32_t>(at_s * 1'000), kGateInter);
        ingest.push_body(MediaKind::audio, static_cast<std::uint32_t>(at_s * 1'000), kGateAudio);
    }
    EXPECT_EQ(content(from), "va");
}

TEST_F(KeyGateTest, AnnouncedKindsApplyFromTheKeyFrameOn) {
    const auto publisher = publish();
    MediaKindSet kinds;
    kinds.add(MediaKind::audio);
    publisher->announce(kinds);
    EXPECT_FALSE(source->tracks().expected_kinds().has(MediaKind::audio));
    publisher->begin();
    EXPECT_TRUE(source->tracks().expected_kinds().has(MediaKind::audio));
}

TEST(KeyGate, KeepsTheNewestConfigurationOfEachTrackUpToABound) {
    KeyGate gate;
    TagPacket config;
    config.packet.kind = MediaKind::video;
    config.packet.content = Content::config;
    for (unsigned round = 0; round < 2; ++round)
        for (std::size_t track = 0; track <= KeyGate::kConfigsMax; ++track) {
            config.packet.track = TrackId(track);
            config.packet.payload = gate_body({static_cast<std::uint8_t>(round)});
            EXPECT_FALSE(gate.admits(config, 0, {}));
        }
    const auto kept = gate.take_configs();
    ASSERT_EQ(kept.size(), KeyGate::kConfigsMax);
    EXPECT_EQ(kept.front().tagged.packet.payload.bytes()[0], 1);
    for (std::size_t i = 0; i <= KeyGate::kDataMax; ++i)
        gate.keep_data(0, gate_body({1}));
    EXPECT_EQ(gate.take_data().size(), KeyGate::kDataMax);
}

}  // namespace
}  // namespace live::media
