#include "media/ingest/rendition.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"

namespace live::media {
namespace {

using wire::codec::Frame;

TrackName name_of_track(MediaKind kind, unsigned id, std::string name) {
    return {.kind = kind, .id = TrackId(static_cast<std::uint8_t>(id)), .language = "", .name = std::move(name)};
}

Frame aac(unsigned track, Content content, const char* data) {
    return {.codec = Codec::aac,
            .content = content,
            .track = TrackId(static_cast<std::uint8_t>(track)),
            .data = Slice::copy_of(hex(data))};
}

// A packet of the publisher.
Packet publisher_packet(MediaKind kind, unsigned track, bool is_config, const char* data) {
    Frame frame;
    frame.codec = kind == MediaKind::audio ? Codec::aac : Codec::vp8;
    frame.content = is_config ? Content::config : Content::frame;
    frame.track = TrackId(static_cast<std::uint8_t>(track));
    frame.data = Slice::copy_of(hex(data));
    return make_packet(kind, std::move(frame));
}

struct RenditionTest : ::testing::Test {
    std::unique_ptr<Rendition> start(std::vector<TrackName> tracks = {name_of_track(MediaKind::audio, 0, "low")}) {
        auto started = Rendition::start(source, std::move(tracks));
        return started.ok() ? *std::move(started) : nullptr;
    }
    std::size_t rendition_tracks() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            source->tracks().all(), [](const Track& track) { return track.rendition != RenditionId::none; }));
    }

    SlabPool pool;
    PlayOptions options;
    Ref<Source> source = make_ref<Source>("/live/test", options, 60'000U, pool);
    std::unique_ptr<Publication> publication = *Publication::start(source, Takeover::refuse);
};

TEST_F(RenditionTest, AddsNamedTrackBesideThePublishers) {
    source->append(publisher_packet(MediaKind::audio, 0, true, "1210"));
    auto rendition = start();
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::frame, "aabb"));
    ASSERT_EQ(source->tracks().all().size(), 2U);
    const Track& added = source->tracks().all()[1];
    EXPECT_EQ(added.name, "low");
    EXPECT_EQ(added.codec, Codec::aac);
    EXPECT_TRUE(std::ranges::equal(added.config.bytes(), hex("1190")));
    EXPECT_TRUE(source->ring().newest().extra);
    EXPECT_EQ(source->ring().newest().track, added.id);
    EXPECT_TRUE(std::ranges::equal(source->tracks().default_of(MediaKind::audio)->config.bytes(), hex("1210")));
    EXPECT_NE(source->tracks().config_of(MediaKind::audio, added.id), nullptr);

    const auto version = source->tracks().version();
    rendition.reset();
    EXPECT_EQ(source->tracks().all().size(), 1U);
    EXPECT_TRUE(source->tracks().extra_configs().empty());
    EXPECT_NE(source->tracks().version(), version);
}

TEST_F(RenditionTest, SecondOrdinaryPublisherIsRefused) {
    const auto rendition = start();
    EXPECT_EQ(Publication::start(source, Takeover::refuse).code(), Errc::conflict);
    EXPECT_TRUE(publication->is_current());
    EXPECT_TRUE(rendition->is_current());
}

TEST_F(RenditionTest, NeedsAPublisher) {
    publication.reset();
    EXPECT_EQ(Rendition::start(source, {}).code(), Errc::not_found);
}

TEST_F(RenditionTest, IsNeverTheDefaultTrack) {
    auto rendition = start();
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    EXPECT_EQ(source->tracks().default_of(MediaKind::audio), nullptr);
    EXPECT_FALSE(source->tracks().has_default(MediaKind::audio));
    EXPECT_FALSE(source->tracks().config(MediaKind::audio).is_config());
    EXPECT_EQ(source->counters().packets[index_of(MediaKind::audio)], 0U);
}

TEST_F(RenditionTest, EndsWithThePublisher) {
    auto rendition = start();
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    publication.reset();
    EXPECT_FALSE(rendition->is_current());
    EXPECT_TRUE(rendition->ended().is_raised());
    EXPECT_EQ(rendition_tracks(), 0U);
    const auto next = source->ring().next();
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::frame, "aa"));
    EXPECT_EQ(source->ring().next(), next);
}

TEST_F(RenditionTest, EndsWithATakeoverAndDoesNotTouchTheSuccessor) {
    auto old = start();
    old->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    auto successor = *Publication::start(source, Takeover::replace);
    EXPECT_FALSE(old->is_current());
    auto current = start();
    current->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    old.reset();
    EXPECT_EQ(rendition_tracks(), 1U);
    EXPECT_TRUE(current->is_current());
    EXPECT_TRUE(successor->is_current());
}

TEST_F(RenditionTest, PublisherTakesTheIdOfATrack) {
    auto rendition = start();
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    const TrackId id = source->tracks().all()[0].id;
    source->append(publisher_packet(MediaKind::audio, 0, true, "1210"));
    source->append(publisher_packet(MediaKind::audio, static_cast<unsigned>(id), true, "1208"));
    EXPECT_EQ(rendition_tracks(), 0U);
    EXPECT_TRUE(std::ranges::equal(source->tracks().config_of(MediaKind::audio, id)->frame(), hex("1208")));
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    EXPECT_FALSE(rendition->is_current());
    EXPECT_TRUE(std::ranges::equal(source->tracks().config_of(MediaKind::audio, id)->frame(), hex("1208")));
}

TEST_F(RenditionTest, DropsUndeclaredTracksAndBadConfigurations) {
    auto rendition = start();
    rendition->push_frame(MediaKind::audio, 0, aac(1, Content::frame, "aa"));
    rendition->push_frame(MediaKind::video, 0, aac(0, Content::frame, "aa"));
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::config, "00"));
    rendition->push_frame(MediaKind::audio, 0,
                          {.codec = Codec::g711a, .content = Content::frame, .data = Slice::copy_of(hex("aa"))});
    EXPECT_EQ(rendition->dropped(), 4U);
    EXPECT_EQ(source->ring().next(), 0U);
}

TEST_F(RenditionTest, RepeatedConfigurationIsLeftOut) {
    auto rendition = start();
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    EXPECT_EQ(source->ring().next(), 1U);
    EXPECT_EQ(rendition->dropped(), 0U);
}

TEST_F(RenditionTest, CountsAreBounded) {
    std::vector<TrackName> many;
    for (unsigned id = 0; id <= Tracks::kRenditionMax; ++id)
        many.push_back(name_of_track(MediaKind::audio, id, "many"));
    EXPECT_EQ(Rendition::start(source, many).code(), Errc::limit);
    many.pop_back();
    auto full = start(many);
    for (unsigned id = 0; id < Tracks::kRenditionMax; ++id)
        full->push_frame(MediaKind::audio, 0, aac(id, Content::config, "1190"));
    EXPECT_EQ(rendition_tracks(), Tracks::kRenditionMax);
    std::vector<std::unique_ptr<Rendition>> others;
    for (std::size_t i = 1; i < Publications::kRenditionsMax; ++i)
        others.push_back(start());
    EXPECT_EQ(Rendition::start(source, {}).code(), Errc::limit);
    others.back()->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    EXPECT_EQ(others.back()->dropped(), 1U);
    full.reset();
    others.back()->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    EXPECT_EQ(rendition_tracks(), 1U);
    EXPECT_TRUE(source->tracks().has_room_for(MediaKind::audio, TrackId(0)));
}

TEST_F(RenditionTest, PublishersNamesDoNotRenameIt) {
    auto rendition = start();
    rendition->push_frame(MediaKind::audio, 0, aac(0, Content::config, "1190"));
    source->tracks().name_tracks({});
    EXPECT_EQ(source->tracks().all()[0].name, "low");
}

TEST_F(RenditionTest, TimesAreThoseOfTheSource) {
    source->timeline().map(MediaKind::video, 5'000);
    source->timeline().map(MediaKind::video, 9'000);
    auto rendition = start();
    rendition->push_frame(MediaKind::audio, 3'500, aac(0, Content::frame, "aa"));
    EXPECT_EQ(to_ms(source->ring().newest().dts), 3'500);
    auto foreign = start();
    foreign->push_frame(MediaKind::audio, 700'000, aac(0, Content::frame, "aa"));
    EXPECT_EQ(to_ms(source->ring().newest().dts), 4'000);
}

// The naive model: the publisher's part of the tracks equals that of a source without renditions, and the rest is a plain list.
class RenditionModel {
public:
    explicit RenditionModel(std::uint32_t seed) : random_(seed) {}

    void run(int steps) {
        for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
            step();
            compare();
        }
    }

private:
    struct Shown {
        RenditionId rendition;
        MediaKind kind;
        TrackId id;
        Codec codec;
        std::vector<std::uint8_t> config;
        std::string name;
        bool operator==(const Shown&) const = default;
    };
    struct Running {
        std::unique_ptr<Rendition> rendition;
        std::string name;
        bool is_over = false;
    };

    unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
    MediaKind pick_kind() { return pick(2) == 0 ? MediaKind::audio : MediaKind::video; }

    void start_publisher() {
        for (Running& running : renditions_)
            running.is_over = true;
        publication_ = std::make_unique<Publication>(source_);
        twin_publication_ = std::make_unique<Publication>(twin_);
    }
    void end_publisher() {
        for (Running& running : renditions_)
            running.is_over = true;
        publication_.reset();
        twin_publication_.reset();
    }
    void push_publisher() {
        const MediaKind kind = pick_kind();
        const unsigned id = pick(8) == 0 ? 255 - pick(10) : pick(3);
        const bool has_room = source_->tracks().has_room_for(kind, TrackId(static_cast<std::uint8_t>(id)));
        ASSERT_EQ(has_room, twin_->tracks().has_room_for(kind, TrackId(static_cast<std::uint8_t>(id))));
        if (publication_ == nullptr || !has_room)
            return;
        const bool is_config = pick(3) == 0;
        const char* const data = pick(2) == 0 ? "1210" : "1190";
        source_->append(publisher_packet(kind, id, is_config, data));
        twin_->append(publisher_packet(kind, id, is_config, data));
    }
    void start_rendition() {
        const std::string name = "r" + std::to_string(++started_);
        std::vector<TrackName> tracks;
        for (unsigned id = 0; id < 3; ++id)
            for (const MediaKind kind : {MediaKind::audio, MediaKind::video})
                tracks.push_back(name_of_track(kind, id, name));
        auto started = Rendition::start(source_, tracks);
        const auto running = std::ranges::count(renditions_, false, &Running::is_over);
        const bool may = publication_ != nullptr && static_cast<std::size_t>(running) < Publications::kRenditionsMax;
        ASSERT_EQ(started.ok(), may);
        if (started.ok())
            renditions_.push_back({*std::move(started), name, false});
    }
    void push_rendition() {
        if (renditions_.empty())
            return;
        Running& running = renditions_[pick(static_cast<unsigned>(renditions_.size()))];
        const MediaKind kind = pick_kind();
        const auto id = TrackId(static_cast<std::uint8_t>(pick(3)));
        const auto next = source_->ring().next();
        const auto dropped = running.rendition->dropped();
        if (kind == MediaKind::audio)
            running.rendition->push_frame(kind, 0,
                                          aac(static_cast<unsigned>(id), Content::config, pick(2) == 0 ? "1208" : "1190"));
        else
            running.rendition->push_frame(kind, 0, {.codec = Codec::vp8, .track = id, .data = Slice::copy_of(hex("aabb"))});
        const bool is_appended = source_->ring().next() != next;
        ASSERT_FALSE(is_appended && (running.is_over || !source_->ring().newest().extra));
        if (running.rendition->dropped() != dropped) {
            ASSERT_EQ(count(kind), Tracks::kRenditionMax);
        }
        // It ends if the publisher has taken one of its ids.
        running.is_over = running.is_over || !running.rendition->is_current();
    }
    void end_rendition() {
        if (!renditions_.empty())
            renditions_.erase(renditions_.begin() + pick(static_cast<unsigned>(renditions_.size())));
    }
    void step() {
        switch (pick(32)) {
            case 0: return start_publisher();
            case 1: return end_publisher();
            case 2:
            case 3:
            case 4: return start_rendition();
            case 5:
            case 6: return end_rendition();
            default: return pick(2) == 0 ? push_publisher() : push_rendition();
        }
    }

    std::size_t count(MediaKind kind) const {
        return static_cast<std::size_t>(std::ranges::count_if(source_->tracks().all(), [kind](const Track& track) {
            return track.kind == kind && track.rendition != RenditionId::none;
        }));
    }
    static std::vector<Shown> shown(const Source& source, bool of_publisher) {
        std::vector<Shown> shown;
        for (const Track& track : source.tracks().all())
            if ((track.rendition == RenditionId::none) == of_publisher)
                shown.push_back({track.rendition,
                                 track.kind,
                                 track.id,
                                 track.codec,
                                 {track.config.bytes().begin(), track.config.bytes().end()},
                                 track.name});
        return shown;
    }
    void compare() const {
        ASSERT_EQ(shown(*source_, true), shown(*twin_, true));
        for (const MediaKind kind : {MediaKind::audio, MediaKind::video}) {
            const Packet& config = source_->tracks().config(kind);
            ASSERT_TRUE(std::ranges::equal(config.payload.bytes(), twin_->tracks().config(kind).payload.bytes()));
            ASSERT_EQ(source_->tracks().has_default(kind), twin_->tracks().has_default(kind));
            ASSERT_LE(count(kind), Tracks::kRenditionMax);
        }
        ASSERT_EQ(source_->counters().packets, twin_->counters().packets);
        std::map<std::pair<MediaKind, TrackId>, int> ids;
        for (const Track& track : source_->tracks().all())
            ASSERT_EQ(++ids[std::pair(track.kind, track.id)], 1) << "two tracks with one id";
        for (const Shown& track : shown(*source_, false)) {
            const auto owner = std::ranges::find(renditions_, track.name, &Running::name);
            ASSERT_TRUE(owner != renditions_.end() && !owner->is_over) << track.name;
        }
        for (const Running& running : renditions_)
            ASSERT_EQ(running.rendition->is_current(), !running.is_over);
        std::size_t configs = 0;
        for (const Packet& config : source_->tracks().extra_configs())
            configs += ids.contains(std::pair(config.kind, config.track)) ? 0 : 1;
        ASSERT_EQ(configs, 0U) << "a configuration of a track that is gone";
    }

    std::mt19937 random_;
    SlabPool pool_;
    PlayOptions options_;
    Ref<Source> source_ = make_ref<Source>("/live/test", options_, 60'000U, pool_);
    Ref<Source> twin_ = make_ref<Source>("/live/twin", options_, 60'000U, pool_);
    std::unique_ptr<Publication> publication_;
    std::unique_ptr<Publication> twin_publication_;
    std::vector<Running> renditions_;
    int started_ = 0;
};

TEST(RenditionProperty, NeverChangesThePublishersTracks) {
    for (std::uint32_t seed = 0; seed < rounds(20U, 500U); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RenditionModel(seed).run(600);
        if (HasFailure())
            return;
    }
}

}  // namespace
}  // namespace live::media
