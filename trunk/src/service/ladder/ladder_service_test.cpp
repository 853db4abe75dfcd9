#include "service/ladder/ladder_service.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/options_of_fixture.hpp"
#include "base/text/metrics_text.hpp"
#include "service/ffmpeg/published_stream_fixture.hpp"

namespace live::service::ladder {
namespace {

class LadderServiceTest : public ffmpeg::PublishedStreamTest {
protected:
    LadderServiceTest() {
        options_.enabled = true;
        options_.renditions.emplace_back().name = "360p";
    }
    ~LadderServiceTest() override { MUST(service_->stop(io::Deadline::after(io::kSoon))); }

    void start(const std::string& script, LadderTiming timing = {.restart_first = 1ms, .restart_max = 5ms}) {
        options_.ffmpeg = write_ffmpeg(script);
        service_ = std::make_unique<LadderService>(streams_, same_, [this] { return log_folder_; }, Log(), timing);
    }
    void publish() {
        publication_ = MUST(media::Publication::start(source_, media::Takeover::replace));
        service_->on_published(request_, plan_);
        append_configs();
    }
    void unpublish() {
        service_->on_unpublished(plan_.url);
        publication_.reset();
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

    std::string log_folder_;
    LadderOptions options_;
    SameOptions<LadderOptions> same_{options_};
    std::unique_ptr<LadderService> service_;
};

TEST_F(LadderServiceTest, TheLinesOfTheChildAreInAFileToo) {
    log_folder_ = folder_.file(".");
    start(std::string("echo 'a line of the child' >&2; ") + kCopies);
    publish();
    publish_until([this] {
        std::ifstream file(folder_.file("ffmpeg-ladder-v-live-cam.log"));
        const std::string text(std::istreambuf_iterator<char>(file), {});
        return text.find("a line of the child") != std::string::npos;
    });
}

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
    io::wait_until([pid] { return ::kill(pid, 0) != 0; });
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

TEST_F(LadderServiceTest, OnDemandItStartsWithTheFirstReader) {
    options_.on_demand = true;
    start(kCopies);
    publish();
    for (int i = 0; i < 20; ++i) {
        append(i % 10 == 0);
        service_->on_tick();
        MUST(io::yield(io::Deadline::never()));
    }
    EXPECT_EQ(listed().state.phase, Ladder::Phase::idle);
    EXPECT_EQ(listed().state.starts, 0U);
    media::Publications& publications = source_->publications();
    EXPECT_TRUE(publications.may_have_renditions());
    EXPECT_EQ(publications.expected_renditions(), 0U) << "the stream does not wait for them";
    EXPECT_EQ(publications.rendition_maker()->due_renditions(), 1U);
    publications.rendition_maker()->want_renditions();
    publish_until([this] { return !keys(true).empty(); });
    EXPECT_EQ(listed().state.starts, 1U);
    unpublish();
    io::wait_until([&] { return !publications.may_have_renditions(); });
}

TEST_F(LadderServiceTest, OnDemandAnotherNodeAndAWebRtcPlayerOfARenditionAreReaders) {
    options_.on_demand = true;
    start(kCopies);
    publish();
    const media::WireFormat relayed{.receiver = media::Receiver::node};
    source_->wire_logs().hold(relayed);
    service_->on_tick();
    publish_until([this] { return !keys(true).empty(); });
    source_->wire_logs().release(relayed);
    const media::TrackChoice rendition{.audio = {}, .video = media::TrackId{255}};
    EXPECT_FALSE(source_->rtp_logs().reads_video(*rendition.video));
    source_->rtp_logs().hold(rendition);
    EXPECT_TRUE(source_->rtp_logs().reads_video(*rendition.video));
    source_->rtp_logs().release(rendition);
}

TEST_F(LadderServiceTest, OnDemandAnRtspPlayerOfARenditionIsAReader) {
    options_.on_demand = true;
    start(kCopies);
    publish();
    media::WireFormat format;
    format.list.add({MediaKind::video, true, {}});
    format.list.add({MediaKind::video, false, media::TrackId{255}});
    format.list.set_up(0);
    EXPECT_FALSE(format.list.has_video(media::TrackId{255})) << "it is described only";
    format.list.set_up(1);
    EXPECT_FALSE(source_->wire_logs().reads_video(media::TrackId{255}));
    source_->wire_logs().hold(format);
    EXPECT_TRUE(source_->wire_logs().reads_video(media::TrackId{255}));
    EXPECT_FALSE(source_->wire_logs().reads_video(media::TrackId{254}));
    source_->wire_logs().release(format);
}

TEST_F(LadderServiceTest, NamesItsRenditionsForPlayersAndOtherNodes) {
    options_.on_demand = true;
    start(kCopies);
    publish();
    const auto announced = [this] {
        for (const media::SyncLog::Entry& entry : source_->syncs().newest())
            if (entry.message.series == media::kRelayRenditions)
                return entry.message.text;
        return std::string("none");
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(source_->publications().rendition_names(), Names{"360p"});
    EXPECT_EQ(announced(), "- 360p\n");
    source_->publications().rendition_maker()->want_renditions();
    publish_until([this] { return !keys(true).empty(); });
    EXPECT_EQ(source_->publications().rendition_names(), Names{"360p"});
    EXPECT_EQ(announced(), "255 360p\n");
    unpublish();
    EXPECT_TRUE(source_->publications().rendition_names().empty());
}

TEST_F(LadderServiceTest, NamesNoRenditionsThatItCannotMake) {
    start("exit 3", {.restart_first = 1h, .restart_max = 1h});
    publish();
    EXPECT_FALSE(source_->publications().rendition_names().empty());
    publish_until([this] { return listed().state.phase == Ladder::Phase::pausing; });
    EXPECT_TRUE(source_->publications().rendition_names().empty());
}

TEST_F(LadderServiceTest, OnDemandAWebRtcPlayerOfTheStreamIsAReader) {
    options_.on_demand = true;
    start(kCopies);
    publish();
    source_->rtp_logs().hold();
    service_->on_tick();
    publish_until([this] { return !keys(true).empty(); });
    source_->rtp_logs().release();
}

TEST_F(LadderServiceTest, OnDemandALadderThatFailsIsNotAwaited) {
    options_.on_demand = true;
    start("exit 3", {.restart_first = 1h, .restart_max = 1h});
    publish();
    source_->publications().rendition_maker()->want_renditions();
    publish_until([this] { return listed().state.phase == Ladder::Phase::pausing; });
    EXPECT_EQ(source_->publications().rendition_maker()->due_renditions(), 0U);
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

TEST_F(LadderServiceTest, APublisherThatComesAndGoesStartsTenChildrenInAMinute) {
    start("exit 3");
    publish();
    publish_until([this] { return listed().state.starts >= 10; });
    unpublish();
    publish();
    publish_until([this] { return listed().state.phase == Ladder::Phase::pausing; });
    EXPECT_EQ(listed().state.starts, 0U);
    EXPECT_EQ(source_->publications().expected_renditions(), 0U) << "players do not wait";
}

TEST_F(LadderServiceTest, KillsAChildThatGivesNothing) {
    start("exec sleep 60", {.restart_first = 1ms, .restart_max = 5ms, .silence_max = 20ms});
    publish();
    publish_until([this] { return listed().state.starts >= 2; });
    EXPECT_NE(listed().state.last_end.find("gave no output"), std::string::npos) << listed().state.last_end;
}

TEST_F(LadderServiceTest, AChildThatReturnsFramesLateLosesOthers) {
    start("dd bs=400 count=1 status=none >&4; exec cat >/dev/null");
    publish();
    publish_until([this] { return listed().child && listed().child->dropped_packets > 100; });
    EXPECT_EQ(listed().state.starts, 1U);
    MetricsText metrics;
    service_->write_metrics(metrics);
    EXPECT_EQ(metrics.take().find("millrace_ladder_dropped_packets_total 0\n"), std::string::npos);
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
    io::wait_until([pid] { return ::kill(pid, 0) != 0; });
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
