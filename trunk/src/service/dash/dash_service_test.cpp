#include "service/dash/dash_service.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "base/log/log_fixture.hpp"
#include "base/options_of_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/ring/sync_message.hpp"
#include "media/source/cursor.hpp"
#include "media/source/publication.hpp"
#include "service/dash/mpd_fixture.hpp"
#include "service/dash/mpd_reader.hpp"
#include "service/segments/segment_sync.hpp"

namespace live::service::dash {
namespace {

namespace mp4 = wire::mp4;

using io::kSoon;

class DashServiceTest : public testing::Test {
protected:
    void SetUp() override {
        source_ = MUST(streams_->find_or_create("/live/cam", {}, 60'000));
        service_ = std::make_unique<DashService>(*streams_, same_options_, claims_, Log(no_log_, "test"));
        request_.app = "live";
        request_.stream = "cam";
        plan_.url = "/live/cam";
        options_.enabled = true;
        options_.fragment = 1s;
        options_.window_size = 3;
        options_.path = folder_.file("");
    }
    void TearDown() override { MUST(service_->stop(io::Deadline::after(kSoon))); }

    void publish() {
        publication_ = MUST(media::Publication::start(source_, media::Takeover::refuse));
        service_->on_published(request_, plan_);
        append(MediaKind::video, false, true, media::avc_config_body());
        append(MediaKind::audio, false, true, media::aac_config_body());
    }
    void unpublish() {
        publication_.reset();
        service_->on_unpublished(plan_.url);
    }
    void append(MediaKind kind, bool key, bool config, const Slice& payload) {
        source_->append(media::tag_packet(kind, key, config, at_, payload));
    }
    // Publishes 25 frames per second with audio, a key frame each second.
    void frames(int count) {
        for (int i = 0; i < count; ++i, at_ += 40ms) {
            const bool key = at_ % 1s == MediaTime();
            append(MediaKind::video, key, false,
                   media::tag_body(key ? hex("17 01 000000 00000002 65aa") : hex("27 01 000000 00000002 41bb"),
                                   std::vector<std::uint8_t>(frame_bytes_)));
            append(MediaKind::audio, false, false, media::tag_body(hex("af 01 210a")));
            source_->flush();
            if (yields_ && i % 5 == 4)
                static_cast<void>(io::yield(io::Deadline::never()));
        }
    }
    bool is_on_disk(const std::string& name) const { return std::filesystem::exists(folder_.file(name)); }
    segments::FileRef held(const std::string& name) const {
        return service_->store().find(std::filesystem::path(folder_.file(name)).lexically_normal().string());
    }
    std::string text_of(const std::string& name) const {
        std::string text;
        if (const auto file = held(name))
            for (const Block& block : file->blocks())
                text += as_text(*block);
        return text;
    }

    // Starts a later process, which finds the files of this one. Its source is new.
    void restart() {
        publication_.reset();
        MUST(service_->stop(io::Deadline::after(kSoon)));
        source_ = Ref<media::Source>();
        streams_ = std::make_unique<media::StreamTable>(pool_);
        source_ = MUST(streams_->find_or_create("/live/cam", {}, 60'000));
        service_ = std::make_unique<DashService>(*streams_, same_options_, claims_, Log(no_log_, "test"));
        at_ = 0s;
    }
    // Reads the MPD in memory.
    ReadMpd mpd() const { return MUST(read_mpd(text_of("live/cam.mpd"))); }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    ScratchFolder folder_;
    NoLog no_log_;
    media::SlabPool pool_;
    std::unique_ptr<media::StreamTable> streams_ = std::make_unique<media::StreamTable>(pool_);
    Ref<media::Source> source_;
    std::unique_ptr<media::Publication> publication_;
    files::PathClaims claims_;
    std::unique_ptr<DashService> service_;
    session::ClientRequest request_;
    session::StreamPlan plan_;
    DashOptions options_;
    const SameOptions<DashOptions> same_options_{options_};
    MediaTime at_ = 10s;
    std::size_t frame_bytes_ = 0;
    bool yields_ = true;
};

TEST_F(DashServiceTest, HoldsTheWindowAndAGrace) {
    publish();
    frames(25 * 7);
    io::wait_until([this] { return held("live/cam/video-5.m4s") != nullptr && is_on_disk("live/cam/video-5.m4s"); });
    io::wait_until([this] { return !is_on_disk("live/cam/video-0.m4s"); });
    const std::string mpd = text_of("live/cam.mpd");
    EXPECT_NE(mpd.find("startNumber=\"3\""), std::string::npos) << mpd;
    EXPECT_NE(mpd.find("codecs=\"avc1.64001f\""), std::string::npos);
    EXPECT_EQ(held("live/cam/video-0.m4s"), nullptr);
    for (const std::string name : {"1", "2", "3", "4", "5"}) {
        ASSERT_NE(held("live/cam/audio-" + name + ".m4s"), nullptr) << name;
        EXPECT_TRUE(held("live/cam/audio-" + name + ".m4s")->is_whole());
    }
    io::wait_until([this, &mpd] { return folder_.read("live/cam.mpd") == mpd; });
    EXPECT_EQ(folder_.read("live/cam/video-5.m4s"), text_of("live/cam/video-5.m4s"));
    EXPECT_EQ(folder_.read("live/cam/audio-init.mp4"), text_of("live/cam/audio-init.mp4"));
}

TEST_F(DashServiceTest, RemovesTheOldestAboveTheByteLimit) {
    options_.window_bytes = 1 << 20;
    options_.window_size = 10;
    frame_bytes_ = 20'000;  // about half a mebibyte per segment
    publish();
    frames(25 * 7);
    io::wait_until([this] { return held("live/cam/video-5.m4s") != nullptr; });
    const std::string mpd = text_of("live/cam.mpd");
    EXPECT_NE(mpd.find("startNumber=\"4\""), std::string::npos) << mpd;
    EXPECT_EQ(held("live/cam/video-3.m4s"), nullptr);
    EXPECT_NE(held("live/cam/video-4.m4s"), nullptr);
}

TEST_F(DashServiceTest, RefusesTheFilesOfAnotherStream) {
    publish();
    session::StreamPlan other = plan_;
    other.vhost = "other.example";
    other.url = "other.example/live/cam";
    MUST(streams_->find_or_create(other.url, {}, 60'000));
    service_->on_published(request_, other);
    EXPECT_EQ(service_->size(), 1U);
    options_.mpd_file = "[vhost]/[stream].mpd";
    service_->on_published(request_, other);
    EXPECT_EQ(service_->size(), 2U);
    MUST(service_->stop(io::Deadline::after(kSoon)));
    EXPECT_EQ(claims_.size(), 0U);
}

TEST_F(DashServiceTest, ContinuesNumbersForAnotherPublisher) {
    publish();
    frames(60);
    unpublish();
    publish();
    frames(60);
    unpublish();
    io::wait_until([this] { return is_on_disk("live/cam/audio-4.m4s"); });
    EXPECT_NE(text_of("live/cam.mpd").find("startNumber=\"2\""), std::string::npos);
    EXPECT_FALSE(is_on_disk("live/cam/video-init-1.mp4")) << "with the same headers";
}

TEST_F(DashServiceTest, DisposesOfFilesOnStopIfConfigured) {
    publish();
    frames(60);
    io::wait_until([this] { return is_on_disk("live/cam.mpd"); });
    MUST(service_->stop(io::Deadline::after(kSoon)));
    EXPECT_TRUE(std::filesystem::is_empty(folder_.file("live/cam")));
    EXPECT_FALSE(is_on_disk("live/cam.mpd"));
    EXPECT_EQ(service_->store().size(), 0u);
}

TEST_F(DashServiceTest, KeepsFilesWithoutDisposal) {
    options_.dispose = 0s;
    publish();
    frames(60);
    MUST(service_->stop(io::Deadline::after(kSoon)));
    EXPECT_TRUE(is_on_disk("live/cam.mpd"));
    EXPECT_TRUE(is_on_disk("live/cam/video-2.m4s")) << "the part in progress";
    EXPECT_EQ(service_->store().size(), 0u);
}

TEST_F(DashServiceTest, ContinuesThePresentationAfterARestart) {
    options_.dispose = 0ms;
    publish();
    frames(25 * 4);
    io::wait_until([this] { return is_on_disk("live/cam.mpd") && is_on_disk("live/cam/video-2.m4s"); });
    restart();
    const auto before = MUST(read_mpd(folder_.read("live/cam.mpd")));
    const std::uint64_t next = before.first_number + before.tracks[0].segments.size();
    publish();
    frames(25 * 2 + 1);
    const std::string newest = "live/cam/video-" + std::to_string(next + 1) + ".m4s";
    io::wait_until([this, &newest] { return held(newest) != nullptr && held(newest)->is_whole(); });
    const auto after = mpd();
    EXPECT_EQ(after.began, before.began);
    EXPECT_EQ(after.init_number, 0U) << "the headers are the same";
    ASSERT_EQ(after.tracks.size(), 2U);
    EXPECT_EQ(after.first_number + after.tracks[0].segments.size(), next + 2);
    ASSERT_EQ(after.tracks[1].segments.size(), 3U) << "one previous segment";
    EXPECT_EQ(after.tracks[1].segments[0].start, before.tracks[1].segments.back().start);
    EXPECT_GE(after.tracks[1].segments[1].start, after.tracks[1].segments[0].start + after.tracks[1].segments[0].duration);
    EXPECT_TRUE(is_on_disk("live/cam/video-" + std::to_string(next - 1) + ".m4s"));
    // It leaves the list like any other segment.
    frames(25 * 5);
    io::wait_until([this, next] { return !is_on_disk("live/cam/video-" + std::to_string(next - 1) + ".m4s"); });
}

TEST_F(DashServiceTest, NumbersOtherHeadersAfterARestart) {
    options_.dispose = 0ms;
    publish();
    frames(25 * 3);
    io::wait_until([this] { return is_on_disk("live/cam.mpd") && is_on_disk("live/cam/video-1.m4s"); });
    restart();
    publish();
    append(MediaKind::audio, false, true, Slice::copy_of(hex("af 00 1190")));
    frames(25 * 2 + 1);
    io::wait_until([this] { return held("live/cam/video-init-1.mp4") != nullptr && held("live/cam.mpd") != nullptr; });
    EXPECT_EQ(mpd().init_number, 1U);
    EXPECT_EQ(mpd().tracks[0].segments.size(), mpd().tracks[1].segments.size());
    EXPECT_GE(mpd().first_number, 3U) << "the previous segments have other headers";
}

// Parts of the segment in progress may have been served.
TEST_F(DashServiceTest, SkipsANumberAfterARestartWithLowLatency) {
    options_.dispose = 0ms;
    options_.ll = true;
    publish();
    frames(25 * 3);
    io::wait_until([this] { return is_on_disk("live/cam.mpd") && is_on_disk("live/cam/video-1.m4s"); });
    restart();
    const auto before = MUST(read_mpd(folder_.read("live/cam.mpd")));
    publish();
    frames(25 * 2 + 1);
    const std::uint64_t next = before.first_number + before.tracks[0].segments.size() + 1;
    io::wait_until([this] { return held("live/cam.mpd") != nullptr; });
    EXPECT_EQ(mpd().first_number, next);
    EXPECT_EQ(mpd().began, before.began);
}

// Media time follows the clock after any pause.
TEST_F(DashServiceTest, ContinuesAtTheClockAfterALongPause) {
    Mpd left = example_mpd();
    left.began = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) - 1h;
    std::filesystem::create_directories(folder_.file("live"));
    folder_.write("live/cam.mpd", dash::text_of(left));
    publish();
    frames(25 * 2 + 1);
    io::wait_until([this] { return held("live/cam.mpd") != nullptr; });
    EXPECT_EQ(mpd().began, left.began);
    EXPECT_EQ(mpd().first_number, 9U);
    EXPECT_GE(mpd().tracks[1].segments[0].start, 1h);
    EXPECT_LE(mpd().tracks[1].segments[0].start, 1h + 1min);
}

// The source is older than the presentation on the disk.
TEST_F(DashServiceTest, StartsAnotherPresentationForMediaAheadOfTheClock) {
    Mpd left = example_mpd();
    left.began = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) - 20s;
    std::filesystem::create_directories(folder_.file("live"));
    folder_.write("live/cam.mpd", dash::text_of(left));
    at_ = 3'600s;
    publish();
    frames(25 * 2 + 1);
    io::wait_until([this] { return held("live/cam.mpd") != nullptr; });
    EXPECT_LT(mpd().began, left.began);
    EXPECT_EQ(mpd().first_number, 9U);
}

// Parts of the segment in progress were served until now.
TEST_F(DashServiceTest, RepeatsNoMediaAfterARestartWithLowLatency) {
    options_.ll = true;
    Mpd left = example_mpd();
    left.began = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) - 14'300ms;
    std::filesystem::create_directories(folder_.file("live"));
    folder_.write("live/cam.mpd", dash::text_of(left));
    publish();
    frames(25 + 12);
    io::wait_until([this] { return held("live/cam.mpd") != nullptr; });
    EXPECT_EQ(mpd().began, left.began);
    EXPECT_GE(mpd().tracks[1].segments[0].start, 14'300ms) << "listed until 14.04 s";
    EXPECT_LE(mpd().tracks[1].segments[0].start, 14'300ms + kSoon);
}

// Returns the input of a node that relays the stream: the packets, with each sync message after the frame that it names.
class Relayed {
public:
    using Item = std::variant<media::Packet, media::SyncMessage>;

    explicit Relayed(const Ref<media::Source>& origin)
        : cursor_(origin, media::WakeMode::at_once, media::Cursor::Start::now, media::Cursor::Tracks::all,
                  media::Cursor::Audience::none),
          next_sync_(origin->syncs().next()) {}

    std::vector<Item> take() {
        std::vector<Item> items;
        while (auto packet = cursor_.take())
            items.emplace_back(*std::move(packet));
        for (const media::SyncLog& syncs = cursor_.source().syncs(); next_sync_ < syncs.next(); ++next_sync_) {
            const media::SyncMessage& message = syncs.at(next_sync_).message;
            const auto sync = MUST(segments::read_segment_sync(message.text));
            const auto& state = std::get<segments::SegmentState>(sync.event);
            const MediaTime at = state.at - MediaTime(sync.list[0]);
            const auto frame = std::ranges::find_if(items, [&](const Item& item) {
                const auto* one = std::get_if<media::Packet>(&item);
                return one != nullptr && !one->is_config() && one->kind == state.kind && one->track == state.track &&
                       one->dts == at;
            });
            if (frame == items.end()) {
                ADD_FAILURE() << "a sync message without its frame";
                continue;
            }
            const auto next = std::find_if(frame + 1, items.end(), [](const Item& one) { return one.index() == 0; });
            items.insert(next, message);
        }
        return items;
    }

private:
    media::Cursor cursor_;
    std::uint64_t next_sync_;
};

struct RelayingNode {
    RelayingNode(media::SlabPool& pool, DashOptions same) : options(std::move(same)), streams(pool) {
        options.path = folder.file("");
        source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
        request.app = "live";
        request.stream = "cam";
        request.kind = session::ClientKind::relay_pull;
        plan.url = "/live/cam";
    }
    ~RelayingNode() {
        publication.reset();
        MUST(service.stop(io::Deadline::after(kSoon)));
    }
    // Pulls the stream with one connection.
    void pull(const std::vector<Relayed::Item>& items) {
        publication = MUST(media::Publication::start(source, media::Takeover::replace));
        service.on_published(request, plan);
        source->append_sync({std::string(media::kRelayStart), {}, {}});
        for (const Relayed::Item& item : items) {
            if (const auto* message = std::get_if<media::SyncMessage>(&item))
                source->append_sync(*message);
            else
                source->append(media::Packet(std::get<media::Packet>(item)));
        }
        source->flush();
    }
    std::string mpd() {
        const auto file = service.store().find(std::filesystem::path(folder.file("live/cam.mpd")).lexically_normal().string());
        std::string text;
        if (file != nullptr)
            for (const Block& block : file->blocks())
                text += as_text(*block);
        return text;
    }

    ScratchFolder folder;
    DashOptions options;
    const SameOptions<DashOptions> same_options{options};
    NoLog no_log;
    media::StreamTable streams;
    Ref<media::Source> source;
    files::PathClaims claims;
    DashService service{streams, same_options, claims, Log(no_log, "edge")};
    session::ClientRequest request;
    session::StreamPlan plan;
    std::unique_ptr<media::Publication> publication;
};

// Initialization sections have the origin's numbers, also after the origin has restarted its count.
TEST_F(DashServiceTest, RelayNumbersHeadersLikeItsOrigin) {
    options_.dispose = 0ms;
    RelayingNode edge(pool_, options_);
    const Slice other_audio = Slice::copy_of(hex("af 00 1190"));
    {
        Relayed relayed(source_);
        publish();
        frames(25 * 2);
        append(MediaKind::audio, false, true, other_audio);
        frames(25 * 3 + 1);
        io::wait_until([this] { return held("live/cam/video-4.m4s") != nullptr; });
        edge.pull(relayed.take());
    }
    EXPECT_EQ(mpd().init_number, 1U);
    io::wait_until([&] { return edge.mpd() == text_of("live/cam.mpd"); });
    restart();
    std::filesystem::remove(folder_.file("live/cam.mpd"));
    Relayed relayed(source_);
    publish();
    append(MediaKind::audio, false, true, other_audio);
    frames(25 * 3 + 1);
    io::wait_until([this] { return held("live/cam/video-2.m4s") != nullptr; });
    edge.pull(relayed.take());
    EXPECT_EQ(mpd().init_number, 0U) << "not 1, which these headers had";
    io::wait_until([&] { return edge.mpd() == text_of("live/cam.mpd"); });
}

// The bandwidths include those of the earlier segments.
TEST_F(DashServiceTest, RelayHasTheSameMpdAfterACrashOfItsOrigin) {
    options_.dispose = 0ms;
    RelayingNode edge(pool_, options_);
    std::string before;
    frame_bytes_ = 5'000;
    {
        Relayed relayed(source_);
        publish();
        frames(25 * 4 + 1);
        io::wait_until([this] { return held("live/cam/video-3.m4s") != nullptr; });
        edge.pull(relayed.take());
        before = text_of("live/cam.mpd");
        io::wait_until([this, &before] { return folder_.read("live/cam.mpd") == before; });
    }
    io::wait_until([&] { return edge.mpd() == before; });
    restart();
    folder_.write("live/cam.mpd", before);  // without the changes of a stop
    frame_bytes_ = 100;
    Relayed relayed(source_);
    publish();
    frames(25 + 1);
    io::wait_until([this] { return held("live/cam/video-4.m4s") != nullptr; });
    edge.pull(relayed.take());
    const std::string after = text_of("live/cam.mpd");
    EXPECT_EQ(mpd().first_number, MUST(read_mpd(before)).first_number + 1) << "two previous segments are listed";
    io::wait_until([&] { return edge.mpd() != before; });
    EXPECT_EQ(edge.mpd(), after);
}

TEST_F(DashServiceTest, HoldsALowLatencySegmentInProgress) {
    options_.ll = true;
    publish();
    frames(25 + 12);
    io::wait_until([this] { return held("live/cam/video-1.m4s") != nullptr && !held("live/cam/video-1.m4s")->blocks().empty(); });
    const auto open = held("live/cam/video-1.m4s");
    EXPECT_FALSE(open->is_whole());
    const std::string mpd = text_of("live/cam.mpd");
    EXPECT_NE(mpd.find("<S t=\"11000\" d=\"1000\"/>"), std::string::npos) << mpd;
    EXPECT_NE(mpd.find("availabilityTimeOffset=\"0.800\""), std::string::npos);
    EXPECT_EQ(folder_.read("live/cam.mpd").find("t=\"11000\""), std::string::npos) << "the disk has whole segments only";
    frames(25);
    io::wait_until([&open] { return open->is_whole(); });
    ASSERT_NE(held("live/cam/video-2.m4s"), nullptr);
    const auto promised = held("live/cam/video-2.m4s");
    unpublish();
    io::wait_until([&promised] { return promised->is_whole(); });
}

// The publisher leaves more packets than fit into one turn: parts are made before and after.
TEST_F(DashServiceTest, CompletesALowLatencySegmentAfterItsPublisher) {
    options_.ll = true;
    frame_bytes_ = 60'000;
    publish();
    frames(25 + 5);
    io::wait_until([this] { return held("live/cam/video-1.m4s") != nullptr; });
    const auto open = held("live/cam/video-1.m4s");
    yields_ = false;
    frames(18);
    unpublish();
    io::wait_until([this] { return is_on_disk("live/cam/video-1.m4s"); });
    EXPECT_TRUE(folder_.read("live/cam/video-1.m4s") == text_of("live/cam/video-1.m4s"));
    EXPECT_TRUE(held("live/cam/video-1.m4s") == open) << "a player that loads it gets all of it";
}

}  // namespace
}  // namespace live::service::dash
