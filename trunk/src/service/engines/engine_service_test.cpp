#include "service/engines/engine_service.hpp"

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/options_of_fixture.hpp"
#include "base/text/metrics_text.hpp"
#include "media/source/cursor.hpp"
#include "service/ffmpeg/published_stream_fixture.hpp"

namespace live::service::engines {
namespace {

class OpenAdmission final : public session::Admission {
public:
    session::Answer publish(const session::ClientRequest& request, io::Deadline) override {
        asked.push_back(request);
        session::StreamPlan plan;
        plan.url = "/" + request.app + "/" + request.stream;
        plan.vhost = "v";
        plan.publish.takeover = true;
        return plan;
    }
    session::Answer play(const session::ClientRequest&, io::Deadline) override { return Error(Errc::denied, ""); }
    Result<void> check_play(const session::ClientRequest&) const override { return {}; }

    std::vector<session::ClientRequest> asked;
};

// Passes the events of streams to the service, as the server does.
struct PassedEvents final : session::StreamEvents {
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override {
        service->on_published(request, plan);
    }
    void on_publish_ended(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_unpublished(const std::string& url) override { service->on_unpublished(url); }
    void on_play_ended(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_closed(const session::ClientRequest&, const session::Traffic&) override {}

    EngineService* service = nullptr;
};

class EngineServiceTest : public ffmpeg::PublishedStreamTest {
protected:
    static constexpr const char* kTwoCopies = "exec tee /dev/fd/4 >&5";

    EngineServiceTest() {
        TranscodeOptions& block = blocks_.emplace_back();
        block.enabled = true;
        ffmpeg::EngineOptions& engine = block.engines.emplace_back();
        engine.name = "ff";
        engine.enabled = true;
        engine.output = "rtmp://127.0.0.1:[port]/[app]/[stream]_[engine]?vhost=[vhost]";
    }
    ~EngineServiceTest() override {
        MUST(service_->stop(io::Deadline::after(io::kSoon)));
        publication_.reset();
    }

    void start(const std::string& script, EngineTiming timing = {.restart_first = 1ms, .restart_max = 5ms}) {
        blocks_.front().ffmpeg = write_ffmpeg(script);
        const PublishContext publish{streams_, admission_, events_, clients_};
        service_ = std::make_unique<EngineService>(
            same_,
            EngineService::Context{publish, [] { return Place{{1935}, "info", Zone::utc}; },
                                   [](const session::ClientRequest& stream) { return "/" + stream.app + "/" + stream.stream; }},
            Log(), timing);
        events_.service = service_.get();
    }
    void publish() {
        publication_ = MUST(media::Publication::start(source_, media::Takeover::replace));
        service_->on_published(request_, plan_);
        append_configs();
    }
    void unpublish() {
        publication_.reset();
        service_->on_unpublished(plan_.url);
    }
    // A second engine, in the same ffmpeg.
    ffmpeg::EngineOptions& share() {
        blocks_.front().share_process = true;
        ffmpeg::EngineOptions& second = blocks_.front().engines.emplace_back(blocks_.front().engines.front());
        second.name = "second";
        return second;
    }
    bool is_shared() const {
        const auto all = service_->list();
        return all.size() == 2 && all[0].child && all[1].child && all[0].child->pid == all[1].child->pid;
    }
    // Publishes until each engine has a process of its own.
    void publish_until_separate() {
        publish_until([this] {
            service_->on_tick();
            const auto all = service_->list();
            return all.size() == 2 && all[0].child && all[1].child && all[0].child->pid != all[1].child->pid;
        });
    }
    bool has_made(const std::string& engine = "ff") {
        const auto source = streams_.find("/live/cam_" + engine);
        return source && source->is_published() && source->tracks().has_default(MediaKind::video);
    }
    EngineService::Listed listed() const { return service_->list().front(); }
    std::string metrics() const {
        MetricsText text;
        service_->write_metrics(text);
        return text.take();
    }

    session::ClientTable clients_;
    OpenAdmission admission_;
    PassedEvents events_;
    std::vector<TranscodeOptions> blocks_;
    SameOptions<std::vector<TranscodeOptions>> same_{blocks_};
    std::unique_ptr<EngineService> service_;
};

TEST_F(EngineServiceTest, TheOutputBecomesAStreamOfThisServer) {
    start(kCopies);
    publish();
    publish_until([this] { return has_made(); });
    ASSERT_EQ(admission_.asked.size(), 1U);
    EXPECT_EQ(admission_.asked.front().kind, session::ClientKind::engine_publish);
    EXPECT_TRUE(admission_.asked.front().is_admitted);
    EXPECT_EQ(admission_.asked.front().stream, "cam_ff");
    EXPECT_EQ(service_->list().size(), 1U) << "the stream that it makes has no engine";
    EXPECT_EQ(listed().state.phase, EngineJob::Phase::running);
    EXPECT_GT(listed().child->output_bytes, 0U);
    EXPECT_EQ(clients_.size(), 1U);
    const int pid = listed().child->pid;
    unpublish();
    io::wait_until([this] { return clients_.size() == 0; });
    EXPECT_FALSE(has_made());
    EXPECT_NE(::kill(pid, 0), 0) << "its process has ended";
    EXPECT_NE(metrics().find("millrace_transcode_starts_total 1\n"), std::string::npos) << metrics();
}

TEST_F(EngineServiceTest, EnginesShareAChild) {
    share();
    start(kTwoCopies);
    publish();
    publish_until([this] { return has_made() && has_made("second"); });
    EXPECT_TRUE(is_shared());
    for (const auto& one : service_->list()) {
        EXPECT_EQ(one.output, "rtmp://127.0.0.1:1935/live/cam_" + one.engine + "?vhost=v");
        EXPECT_GT(one.child->output_bytes, 0U);
    }
    const std::string text = metrics();
    EXPECT_NE(text.find("millrace_transcode_engines 2\n"), std::string::npos) << text;
    EXPECT_NE(text.find("millrace_transcode_children 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("millrace_transcode_starts_total 1\n"), std::string::npos) << text;
    unpublish();
    io::wait_until([this] { return clients_.size() == 0; });
    EXPECT_FALSE(has_made() || has_made("second"));
}

TEST_F(EngineServiceTest, AChildThatWorkedAndIsKilledIsSharedAgain) {
    share();
    start(kTwoCopies);
    publish();
    publish_until([this] { return has_made() && has_made("second"); });
    ASSERT_EQ(::kill(listed().child->pid, SIGKILL), 0);
    publish_until([this] {
        service_->on_tick();
        return listed().state.starts == 2 && has_made() && has_made("second");
    });
    EXPECT_TRUE(is_shared());
}

TEST_F(EngineServiceTest, AnEngineWithoutItsEncoderDoesNotStopTheOthers) {
    share().vcodec = "no_such_encoder";
    start("case \"$*\" in *no_such_encoder*) echo \"Unknown encoder 'no_such_encoder'\" >&2; exit 1;; esac; exec cat >&4");
    publish();
    publish_until([this] {
        service_->on_tick();
        const auto all = service_->list();
        return has_made() && all.size() == 2 && all[1].state.starts > 0 && !all[1].state.last_end.empty();
    });
    const auto all = service_->list();
    EXPECT_EQ(all[0].engine, "ff");
    EXPECT_EQ(all[0].state.starts, 1U);
    EXPECT_EQ(all[1].engine, "second");
    EXPECT_EQ(all[1].state.last_end, "ffmpeg has no encoder no_such_encoder");
    blocks_.front().engines.back().vcodec = "copy";
    service_->apply(io::Deadline::never());
    EXPECT_EQ(service_->list().size(), 2U);
    EXPECT_TRUE(has_made()) << "a reload leaves it alone";
}

TEST_F(EngineServiceTest, AnOutputThatIsSilentGetsAChildOfItsOwn) {
    share();
    start(kCopies, {.restart_first = 1ms, .restart_max = 5ms, .silence_max = 600ms});
    publish();
    publish_until_separate();
    publish_until([this] { return has_made() && has_made("second"); });
}

TEST_F(EngineServiceTest, AChildThatEndsAtOnceIsSplit) {
    share();
    start("case \"$*\" in *pipe:5*) exit 1;; esac; exec cat >&4");
    publish();
    publish_until_separate();
    publish_until([this] { return has_made() && has_made("second"); });
    unpublish();
    publish();
    // The next publisher tries it together.
    publish_until([this] { return listed().state.failed.size() == 2; });
}

TEST_F(EngineServiceTest, DoesNotStartWithoutAKeyFrame) {
    start(kCopies);
    publish();
    for (int i = 0; i < 10; ++i) {
        append(false);
        MUST(io::yield(io::Deadline::never()));
    }
    EXPECT_EQ(listed().state.starts, 0U);
    EXPECT_EQ(listed().state.phase, EngineJob::Phase::waiting);
}

TEST_F(EngineServiceTest, AFailingChildIsStartedTenTimesInAMinute) {
    start("exit 3");
    publish();
    publish_until([this] { return listed().state.starts >= 10; });
    EXPECT_EQ(listed().state.last_end, "ffmpeg exited with 3");
    for (int i = 0; i < 50; ++i) {
        append(true);
        MUST(io::sleep(io::Deadline::after(2ms)));
    }
    EXPECT_EQ(listed().state.starts, 10U);
    EXPECT_EQ(listed().state.phase, EngineJob::Phase::pausing);
    EXPECT_NE(metrics().find("millrace_transcode_ends_total{reason=\"exited\"} 10\n"), std::string::npos) << metrics();
    unpublish();
    publish();
    for (int i = 0; i < 50; ++i) {
        append(true);
        MUST(io::sleep(io::Deadline::after(1ms)));
    }
    EXPECT_EQ(listed().state.starts, 0U) << "the bound holds for publishers that come and go";
}

TEST_F(EngineServiceTest, KillsAChildThatGivesNothing) {
    start("exec sleep 60", {.restart_first = 1ms, .restart_max = 5ms, .silence_max = 20ms});
    publish();
    publish_until([this] { return listed().state.starts >= 2; });
    EXPECT_NE(listed().state.last_end.find("gave no output"), std::string::npos) << listed().state.last_end;
    EXPECT_EQ(metrics().find("ends_total{reason=\"silent\"} 0\n"), std::string::npos) << metrics();
}

TEST_F(EngineServiceTest, AnIdlePublisherIsNoSilentChild) {
    start(kCopies, {.restart_first = 1ms, .restart_max = 5ms, .silence_max = 20ms});
    publish();
    publish_until([this] { return has_made(); });
    MUST(io::sleep(io::Deadline::after(1500ms)));  // longer than the interval of the watch
    EXPECT_EQ(listed().state.starts, 1U);
    EXPECT_TRUE(has_made());
}

TEST_F(EngineServiceTest, ProgressIsTheOutputOfAFile) {
    blocks_.front().engines.front().output = folder_.file("cam.flv");
    start("cat >/dev/null & while :; do n=$((n + 1)); echo frame=$n >&3; echo progress=continue >&3; sleep 0.01; done",
          {.restart_first = 1ms, .restart_max = 5ms, .silence_max = 500ms});
    publish();
    const TimePoint begin = io::now();
    publish_until([&] { return io::now() - begin > 1500ms; });
    EXPECT_EQ(listed().state.starts, 1U) << listed().state.last_end;
    EXPECT_GT(listed().child->progress.frames, 0U);
}

TEST_F(EngineServiceTest, AStreamWithAPublisherIsNotTaken) {
    const auto other = MUST(streams_.find_or_create("/live/cam_ff", {}, 60'000));
    const auto publisher = MUST(media::Publication::start(other, media::Takeover::refuse));
    start(kCopies);
    publish();
    publish_until([this] { return listed().state.starts >= 2; });
    EXPECT_NE(listed().state.last_end.find("cannot be published"), std::string::npos) << listed().state.last_end;
    EXPECT_TRUE(publisher->is_current());
}

TEST_F(EngineServiceTest, ItsOwnInputIsNoOutput) {
    blocks_.front().engines.front().output = "rtmp://localhost/live?vhost=v/cam";
    start(kCopies);
    publish();
    EXPECT_TRUE(service_->list().empty());
}

TEST_F(EngineServiceTest, OnDemandRunsWhileSomebodyPlays) {
    blocks_.front().on_demand = true;
    start(kCopies);
    EXPECT_FALSE(service_->has("/live/cam_ff"));
    publish();
    for (int i = 0; i < 20; ++i) {
        append(i == 0);
        MUST(io::yield(io::Deadline::never()));
    }
    EXPECT_EQ(listed().state.phase, EngineJob::Phase::idle);
    EXPECT_EQ(listed().state.starts, 0U);
    ASSERT_TRUE(service_->has("/live/cam_ff"));
    session::StreamPlan plan;
    plan.url = "/live/cam_ff";
    io::Scope player{"player"};
    Result<void> fetched = Error(Errc::timed_out, "");
    MUST(player.start("player", [&](io::Deadline forever) { fetched = service_->fetch(plan, forever); }));
    publish_until([&] { return player.size() == 0; });
    EXPECT_TRUE(fetched.ok());
    EXPECT_TRUE(has_made());
    unpublish();
    EXPECT_FALSE(service_->has("/live/cam_ff"));
}

TEST_F(EngineServiceTest, PlayersOfAVersionWithoutBFramesShareIt) {
    start("exit 1");
    publish();
    plan_.play.bridge.rtmp_to_rtc = true;
    io::Scope players{"players"};
    std::vector<Result<Ref<media::Source>>> fetched;
    for (int i = 0; i < 2; ++i)
        MUST(players.start("player",
                           [&](io::Deadline forever) { fetched.push_back(service_->fetch_plain(request_, plan_, forever)); }));
    // ffmpeg, if there is one, cannot decode these frames.
    publish_until([&] { return players.size() == 0; });
    ASSERT_EQ(fetched.size(), 2U);
    for (const auto& one : fetched)
        EXPECT_EQ(one.code(), Errc::not_found);
    std::size_t hidden = 0;
    for (const auto& one : service_->list())
        hidden += one.output == "WebRTC players" ? 1 : 0;
    EXPECT_EQ(hidden, 1U) << "one for both";
    EXPECT_TRUE(admission_.asked.empty());
    unpublish();
    EXPECT_EQ(service_->list().size(), 1U) << "it waits for the next publisher";
}

TEST_F(EngineServiceTest, AReloadLeavesUnchangedEnginesAlone) {
    start(kCopies);
    publish();
    publish_until([this] { return has_made(); });
    const int pid = listed().child->pid;
    blocks_.front().engines.push_back(blocks_.front().engines.front());
    blocks_.front().engines.back().name = "second";
    service_->apply(io::Deadline::never());
    EXPECT_EQ(service_->list().size(), 2U);
    EXPECT_EQ(listed().child->pid, pid);
    blocks_.front().engines.erase(blocks_.front().engines.begin());
    service_->apply(io::Deadline::never());
    ASSERT_EQ(service_->list().size(), 1U);
    EXPECT_EQ(listed().engine, "second");
}

TEST_F(EngineServiceTest, LeavesRelayedStreamsToTheirOrigin) {
    start(kCopies);
    request_.kind = session::ClientKind::relay_pull;
    publish();
    EXPECT_TRUE(service_->list().empty());
}

}  // namespace
}  // namespace live::service::engines
