#include "service/ladder/ladder_service.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "base/files/scratch_folder_fixture.hpp"
#include "base/options_of_fixture.hpp"
#include "base/text/metrics_text.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"

namespace live::service::ladder {
namespace {

// Shell scripts stand in for ffmpeg: they return their input as the rendition, which has the times of the source then.
class LadderServiceTest : public testing::Test {
protected:
    static constexpr auto kSoon = io::kSoon;
    static constexpr const char* kCopies = "exec cat >&4";

    LadderServiceTest() {
        source_ = MUST(streams_.find_or_create("/live/cam", {}, 60'000));
        request_.app = "live";
        request_.stream = "cam";
        plan_.url = "/live/cam";
        options_.enabled = true;
        options_.renditions.emplace_back().name = "360p";
    }
    ~LadderServiceTest() override { MUST(service_->stop(io::Deadline::after(kSoon))); }

    void start(const std::string& script, LadderTiming timing = {.restart_first = 1ms, .restart_max = 5ms}) {
        options_.ffmpeg = folder_.file("ffmpeg");
        std::ofstream(options_.ffmpeg) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(options_.ffmpeg, std::filesystem::perms::owner_all);
        service_ = std::make_unique<LadderService>(streams_, same_, Log(), timing);
    }
    void publish() {
        publication_ = MUST(media::Publication::start(source_, media::Takeover::replace));
        service_->on_published(request_, plan_);
        append(true, true);
    }
    void unpublish() {
        service_->on_unpublished(plan_.url);
        publication_.reset();
    }
    void append(bool key, bool config = false) {
        const auto head = key ? hex("17 01 000000") : hex("27 01 000000");
        const Slice body = config ? media::avc_config_body() : media::tag_body(head, hex("00000002 6501"));
        source_->set_arrival(io::now());
        source_->append(media::tag_packet(MediaKind::video, key, config, at_, body));
        source_->flush();
        if (!config)
            at_ += 40ms;
    }
    // Publishes until the condition holds.
    template <class Condition>
    void publish_until(Condition&& condition) {
        int count = 0;
        io::wait_until([&] {
            append(count++ % 10 == 0);
            return condition();
        });
    }
    // The times of the key frames of the rendition, or of the stream itself.
    std::vector<MediaTime> keys(bool of_rendition) const {
        std::vector<MediaTime> times;
        const media::Ring& ring = source_->ring();
        for (media::Sequence at = ring.first(); at < ring.next(); ++at)
            if (ring.at(at).key && ring.at(at).content == media::Content::frame && ring.at(at).extra == of_rendition)
                times.push_back(ring.at(at).dts);
        return times;
    }
    LadderService::Listed listed() const { return service_->list().front(); }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    ScratchFolder folder_;
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    Ref<media::Source> source_;
    session::ClientRequest request_;
    session::StreamPlan plan_;
    LadderOptions options_;
    SameOptions<LadderOptions> same_{options_};
    std::unique_ptr<LadderService> service_;
    std::unique_ptr<media::Publication> publication_;
    MediaTime at_ = 5s;
};

TEST_F(LadderServiceTest, ARenditionJoinsTheStreamAtItsTimes) {
    start(kCopies);
    publish();
    EXPECT_EQ(source_->publications().expected_renditions(), 1U);
    publish_until([this] { return keys(true).size() >= 3; });
    const auto renditions = keys(true);
    const auto own = keys(false);
    EXPECT_TRUE(std::ranges::includes(own, renditions));
    const media::Track* const track = source_->tracks().find(MediaKind::video, media::TrackId{255});
    ASSERT_NE(track, nullptr);
    EXPECT_EQ(track->name, "360p");
    EXPECT_EQ(listed().state.phase, Ladder::Phase::running);
    EXPECT_GT(listed().child->output_bytes, 0U);
    const int pid = listed().child->pid;
    unpublish();
    io::wait_until([this] { return service_->list().empty(); });
    EXPECT_NE(::kill(pid, 0), 0) << "its process has ended";
    EXPECT_EQ(source_->tracks().find(MediaKind::video, media::TrackId{255}), nullptr);
    MetricsText metrics;
    service_->write_metrics(metrics);
    EXPECT_NE(metrics.take().find("millrace_ladder_starts_total 1\n"), std::string::npos);
}

TEST_F(LadderServiceTest, DoesNotStartWithoutAKeyFrame) {
    start(kCopies);
    publish();
    for (int i = 0; i < 10; ++i) {
        append(false);
        MUST(io::yield(io::Deadline::never()));
    }
    EXPECT_EQ(listed().state.starts, 0U);
    EXPECT_EQ(listed().state.phase, Ladder::Phase::waiting);
}

TEST_F(LadderServiceTest, StartsAgainAndGetsTheSameTrack) {
    start("dd bs=400 count=1 status=none >&4");
    publish();
    publish_until([this] { return listed().state.starts >= 3; });
    EXPECT_NE(listed().state.last_end.find("exited with 0"), std::string::npos) << listed().state.last_end;
    for (const media::Track& track : source_->tracks().all())
        EXPECT_TRUE(track.id == media::TrackId{} || track.id == media::TrackId{255});
    EXPECT_EQ(source_->publications().expected_renditions(), 0U) << "players have the stream already";
}

TEST_F(LadderServiceTest, KillsAChildThatGivesNothing) {
    start("exec sleep 60", {.restart_first = 1ms, .restart_max = 5ms, .silence_max = 20ms});
    publish();
    publish_until([this] { return listed().state.starts >= 2; });
    EXPECT_NE(listed().state.last_end.find("gave no output"), std::string::npos) << listed().state.last_end;
}

TEST_F(LadderServiceTest, EndsAChildWhoseOutputIsNoFlv) {
    start("echo this is no FLV at all >&4; exec sleep 60");
    publish();
    publish_until([this] { return listed().state.starts >= 2; });
    EXPECT_NE(listed().state.last_end.find("not usable"), std::string::npos) << listed().state.last_end;
}

TEST_F(LadderServiceTest, UsesTheFallbackAfterAMissingEncoder) {
    options_.vcodec = "h264_magic";
    options_.fallback = "libx264";
    start("case \"$*\" in *h264_magic*) echo \"Unknown encoder 'h264_magic'\" >&2; exit 1;; esac; exec cat >&4");
    publish();
    publish_until([this] { return !keys(true).empty(); });
    EXPECT_EQ(listed().state.last_end, "ffmpeg has no encoder h264_magic");
}

TEST_F(LadderServiceTest, ANewFormatStartsANewChild) {
    start(kCopies);
    publish();
    publish_until([this] { return !keys(true).empty(); });
    auto record = wire::codec::avc_vectors().front().record;
    record.back() ^= 1U;
    source_->append(media::tag_packet(MediaKind::video, true, true, at_, media::tag_body(hex("17 00 000000"), record)));
    publish_until([this] { return listed().state.starts >= 2; });
    EXPECT_NE(listed().state.last_end.find("format"), std::string::npos) << listed().state.last_end;
}

TEST_F(LadderServiceTest, ATakeoverStartsANewLadder) {
    start(kCopies);
    publish();
    publish_until([this] { return !keys(true).empty(); });
    const int pid = listed().child->pid;
    const auto before = std::move(publication_);
    publish();
    publish_until([&] { return service_->list().size() == 1 && listed().child && listed().child->pid != pid; });
    EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(LadderServiceTest, AMissingProgramLeavesTheStreamAlone) {
    start(kCopies);
    options_.ffmpeg = "/no/such/ffmpeg";
    publish();
    publish_until([this] { return listed().state.starts >= 2; });
    EXPECT_EQ(source_->publications().expected_renditions(), 0U);
    EXPECT_TRUE(publication_->is_current());
}

TEST_F(LadderServiceTest, LeavesRelayedStreamsToTheirOrigin) {
    start(kCopies);
    request_.kind = session::ClientKind::relay_pull;
    publish();
    EXPECT_TRUE(service_->list().empty());
}

}  // namespace
}  // namespace live::service::ladder
