#include "engine/relay/puller.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace live::engine::relay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Environment final : public PullEnvironment {
public:
    PullRules rules() const override { return rules_; }
    bool is_short_of_memory() const override { return is_short_; }
    TimePoint silence_from(TimePoint start) const override { return start + paused_; }

    PullRules rules_{.may_pull = true, .may_move = false, .linger = seconds(10)};
    bool is_short_ = false;
    Duration paused_{};
};

// A pull with demand, at a time that the tests move.
class PullerTest : public ::testing::Test {
protected:
    PullerTest() { puller_.set_demand(true, now_); }

    PullAction next() { return puller_.next_action(now_); }
    PullState state() const { return puller_.status().state; }
    // Moves to the deadline.
    PullAction at_deadline() {
        now_ = puller_.deadline().value();
        return next();
    }
    void find(const std::vector<std::string>& origins = {"rtmp://a:1935"}) {
        ASSERT_EQ(next(), PullAction::find_origins);
        puller_.handle_origins(origins, now_);
    }
    void start(const std::vector<std::string>& origins = {"rtmp://a:1935"}) {
        find(origins);
        ASSERT_EQ(next(), PullAction::dial);
        puller_.handle_dialled({}, false, now_);
        puller_.handle_started(now_);
        ASSERT_EQ(next(), PullAction::exchange);
    }
    void receive(FrameKind kind = FrameKind::key) {
        if (puller_.handle_frame(kind, now_) == FrameUse::publish) {
            failovers_ += puller_.handle_published(now_) ? 1 : 0;
            EXPECT_EQ(puller_.handle_frame(kind, now_), FrameUse::pass);
        }
    }
    void play(const std::vector<std::string>& origins = {"rtmp://a:1935"}) {
        start(origins);
        receive();
        ASSERT_EQ(state(), PullState::playing);
    }

    const std::vector<std::string> two_{"rtmp://a:1935", "rtmp://b:1935"};
    TimePoint now_ = TimePoint() + std::chrono::hours(1);
    Environment environment_;
    OriginHealth health_;
    Puller puller_{environment_, health_, "/live/cam", {}, 7, now_};
    int failovers_ = 0;
};

TEST_F(PullerTest, DialsChosenOriginAndPlays) {
    play();
    EXPECT_EQ(puller_.status().origin, "rtmp://a:1935");
    EXPECT_EQ(puller_.status().tries, 1U);
    EXPECT_TRUE(health_.find("rtmp://a:1935")->is_up);
    EXPECT_EQ(phase_of(state()), PullPhase::playing);
}

TEST_F(PullerTest, StopsWithoutDemand) {
    puller_.set_demand(false, now_);
    now_ += Puller::kLingerWithoutMedia;
    EXPECT_EQ(next(), PullAction::stop);
    EXPECT_EQ(state(), PullState::over);
}

TEST_F(PullerTest, StopsIfTheSettingsForbidIt) {
    environment_.rules_.may_pull = false;
    EXPECT_EQ(next(), PullAction::stop);
}

TEST_F(PullerTest, DoesNotDialIfDemandEndsDuringLookUp) {
    ASSERT_EQ(next(), PullAction::find_origins);
    puller_.set_demand(false, now_);
    now_ += Puller::kLingerWithoutMedia;
    EXPECT_FALSE(puller_.handle_origins(two_, now_));
    EXPECT_EQ(next(), PullAction::stop);
    EXPECT_EQ(puller_.status().tries, 0U);
}

TEST_F(PullerTest, LingersAfterLastViewer) {
    play();
    environment_.paused_ = std::chrono::hours(1);  // no silence
    puller_.set_demand(false, now_);
    EXPECT_EQ(next(), PullAction::exchange);
    EXPECT_EQ(puller_.deadline(), now_ + seconds(10));
    EXPECT_EQ(at_deadline(), PullAction::stop);
}

TEST_F(PullerTest, PausesWhenNoOriginIsKnown) {
    ASSERT_EQ(next(), PullAction::find_origins);
    puller_.handle_no_origins("the registry is away", milliseconds(700), now_);
    EXPECT_EQ(next(), PullAction::wait);
    EXPECT_EQ(puller_.deadline(), now_ + milliseconds(700));
    EXPECT_EQ(puller_.status().last_error, "the registry is away");
    EXPECT_EQ(at_deadline(), PullAction::find_origins);
}

TEST_F(PullerTest, WaitsForTheBackoffOfAFailedOrigin) {
    find();
    puller_.handle_failed("refused", now_);
    const auto notice = puller_.take_notice().value();
    EXPECT_EQ(notice.kind, PullNotice::Kind::failed);
    EXPECT_EQ(notice.origin, "rtmp://a:1935");
    find();
    EXPECT_EQ(state(), PullState::pausing);
    EXPECT_GE(puller_.deadline().value() - now_, OriginHealth::kBackoffFirst);
    EXPECT_LE(puller_.deadline().value() - now_, OriginHealth::kBackoffFirst * 5 / 4);
}

TEST_F(PullerTest, DialsAnotherOriginAtOnceAfterFailure) {
    play(two_);
    const std::string first = puller_.status().origin;
    puller_.handle_failed("reset", now_);
    play(two_);
    EXPECT_NE(puller_.status().origin, first);
    EXPECT_EQ(failovers_, 1);
}

TEST_F(PullerTest, PausesAfterRefusalAndReportsItOnce) {
    for (int i = 0; i < 2; ++i) {
        find();
        puller_.handle_dialled({}, false, now_);
        puller_.handle_refused("no such stream", now_);
        EXPECT_EQ(puller_.take_notice().has_value(), i == 0);
        EXPECT_EQ(next(), PullAction::wait);
        EXPECT_EQ(puller_.deadline(), now_ + Puller::kRefusedPause);
        now_ += Puller::kRefusedPause;
    }
    EXPECT_TRUE(health_.find("rtmp://a:1935")->is_up);
}

TEST_F(PullerTest, ReportsSilentStartAsFailure) {
    find();
    puller_.handle_dialled({}, false, now_);
    ASSERT_EQ(next(), PullAction::exchange);
    EXPECT_EQ(puller_.deadline(), now_ + Puller::kStartLimit);
    at_deadline();
    EXPECT_FALSE(health_.find("rtmp://a:1935")->is_up);
}

TEST_F(PullerTest, ReportsStartWithoutStreamAsRefusal) {
    find();
    puller_.handle_dialled({}, false, now_);
    puller_.handle_answered(now_);
    at_deadline();
    EXPECT_TRUE(health_.find("rtmp://a:1935")->is_up);
    EXPECT_EQ(state(), PullState::pausing);
}

TEST_F(PullerTest, WaitsForFirstMediaWithoutLimitAtOnlyOrigin) {
    start();
    EXPECT_FALSE(puller_.deadline());
}

TEST_F(PullerTest, LeavesOriginWithoutMediaIfOthersAreAvailable) {
    start(two_);
    const std::string first = puller_.status().origin;
    EXPECT_EQ(puller_.deadline(), now_ + Puller::kFirstMediaLimit);
    EXPECT_EQ(at_deadline(), PullAction::find_origins);
    EXPECT_TRUE(health_.find(first)->is_up);
    find(two_);
    EXPECT_NE(puller_.status().origin, first);
}

TEST_F(PullerTest, AddsLatencyToTheLimitOfFirstMedia) {
    find(two_);
    puller_.handle_dialled(milliseconds(300), false, now_);
    puller_.handle_started(now_);
    EXPECT_EQ(puller_.deadline(), now_ + Puller::kFirstMediaLimit + milliseconds(300));
}

TEST_F(PullerTest, DropsFramesBeforeKeyFrame) {
    start();
    EXPECT_EQ(puller_.handle_frame(FrameKind::delta, now_), FrameUse::drop);
    EXPECT_EQ(state(), PullState::waiting);
    receive(FrameKind::other);
    EXPECT_EQ(state(), PullState::without_key);
    EXPECT_EQ(puller_.handle_frame(FrameKind::delta, now_), FrameUse::drop);
    receive(FrameKind::key);
    EXPECT_EQ(state(), PullState::playing);
    EXPECT_EQ(puller_.handle_frame(FrameKind::delta, now_), FrameUse::pass);
}

TEST_F(PullerTest, DroppedFramesProveThatTheOriginIsAlive) {
    start(two_);
    const TimePoint began = now_;
    for (; now_ < began + SilenceWatch::kKeyLimit; now_ += milliseconds(500)) {
        EXPECT_EQ(next(), PullAction::exchange);
        puller_.handle_frame(FrameKind::delta, now_);
    }
    puller_.handle_frame(FrameKind::delta, now_ + milliseconds(1));
    at_deadline();
    EXPECT_LE(now_, began + SilenceWatch::kKeyLimit + Puller::kFirstMediaLimit);
    EXPECT_EQ(state(), PullState::choosing);
}

TEST_F(PullerTest, LeavesSilentOriginAfterTwiceItsLongestGap) {
    play();
    EXPECT_EQ(puller_.deadline(), now_ + SilenceWatch::kSilenceMin);
    now_ += milliseconds(900);
    receive();
    EXPECT_EQ(puller_.deadline(), now_ + milliseconds(1'800));
    at_deadline();
    EXPECT_EQ(puller_.status().last_error, "no media for 1800 ms");
    EXPECT_FALSE(health_.find("rtmp://a:1935")->is_up);
}

TEST_F(PullerTest, WaitsLongerWhileOtherStreamsArriveFromTheOrigin) {
    play();
    health_.note_media("rtmp://a:1935", now_ + milliseconds(700));
    EXPECT_EQ(puller_.deadline(), now_ + SilenceWatch::kSilenceMax);
    at_deadline();
    EXPECT_EQ(state(), PullState::choosing);
    EXPECT_TRUE(health_.find("rtmp://a:1935")->is_up) << "the publisher is silent, not the origin";
}

TEST_F(PullerTest, RemembersTheSilenceOfASlowStream) {
    play();
    at_deadline();
    now_ += OriginHealth::kBackoffFirst * 2;
    play();
    EXPECT_EQ(puller_.deadline(), now_ + 2 * SilenceWatch::kSilenceMin);
}

TEST_F(PullerTest, DoesNotCountAPauseOfTheProcessAsSilence) {
    play();
    environment_.paused_ = seconds(30);
    now_ += seconds(30);
    EXPECT_EQ(next(), PullAction::exchange);
}

TEST_F(PullerTest, HasNoSilenceLimitForAWorker) {
    find();
    puller_.handle_dialled({}, true, now_);
    receive();
    EXPECT_EQ(puller_.deadline(), now_ + SilenceWatch::kSilenceOfWorker);
}

TEST_F(PullerTest, KeepsConnectionAndPublicationAfterTheEndOfTheStream) {
    play();
    puller_.handle_stream_ended(now_);
    EXPECT_EQ(next(), PullAction::exchange);
    EXPECT_EQ(state(), PullState::ended);
    EXPECT_EQ(puller_.deadline(), now_ + Puller::kGoneAfter);
    EXPECT_EQ(at_deadline(), PullAction::unpublish);
    puller_.handle_unpublished();
    EXPECT_EQ(next(), PullAction::exchange);
    EXPECT_FALSE(puller_.deadline());
    receive();
    EXPECT_EQ(state(), PullState::playing);
    EXPECT_EQ(failovers_, 0) << "the same connection";
}

TEST_F(PullerTest, UnpublishesSoonerAfterTheEndAtAWorker) {
    find();
    puller_.handle_dialled({}, true, now_);
    receive();
    puller_.handle_stream_ended(now_);
    EXPECT_EQ(puller_.deadline(), now_ + Puller::kGoneAfterOfWorker);
}

TEST_F(PullerTest, UnpublishesWhileNoOriginHasTheStream) {
    play();
    const TimePoint lost = now_;
    puller_.handle_failed("reset", now_);
    while (next() != PullAction::unpublish) {
        ASSERT_LE(now_, lost + Puller::kGoneAfter);
        if (next() == PullAction::find_origins)
            puller_.handle_no_origins("nobody has it", milliseconds(400), now_);
        now_ = puller_.deadline().value();
    }
    EXPECT_EQ(now_, lost + Puller::kGoneAfter);
}

TEST_F(PullerTest, FollowsRedirectsUpToTheLimit) {
    find();
    puller_.handle_dialled({}, false, now_);
    puller_.handle_redirect("rtmp://c/live", Puller::kRtmpRedirectsMax, now_);
    ASSERT_EQ(next(), PullAction::follow_redirect);
    EXPECT_EQ(puller_.status().redirect_url, "rtmp://c/live");
    puller_.handle_redirect_target("rtmp://c:1935", now_);
    ASSERT_EQ(next(), PullAction::dial);
    EXPECT_EQ(puller_.status().asked, "rtmp://a:1935");
    EXPECT_EQ(puller_.status().origin, "rtmp://c:1935");
    puller_.handle_dialled({}, false, now_);
    puller_.handle_redirect("rtmp://a/live", Puller::kRtmpRedirectsMax, now_);
    EXPECT_EQ(next(), PullAction::wait);
    EXPECT_EQ(puller_.deadline(), now_ + Puller::kRefusedPause);
}

TEST_F(PullerTest, PausesAfterUnusableRedirect) {
    find();
    puller_.handle_dialled({}, false, now_);
    puller_.handle_redirect("ftp://c", Puller::kRtmpRedirectsMax, now_);
    puller_.handle_unusable("no URL of a stream", now_);
    EXPECT_EQ(puller_.deadline(), now_ + Puller::kRefusedPause);
    EXPECT_EQ(puller_.status().last_error, "no URL of a stream");
}

TEST_F(PullerTest, LeavesRedirectTargetWithoutMedia) {
    find();
    puller_.handle_dialled({}, false, now_);
    puller_.handle_redirect("rtmp://c/live", Puller::kRtmpRedirectsMax, now_);
    puller_.handle_redirect_target("rtmp://c:1935", now_);
    puller_.handle_dialled({}, false, now_);
    puller_.handle_started(now_);
    EXPECT_EQ(puller_.deadline(), now_ + SilenceWatch::kSilenceMax);
    at_deadline();
    EXPECT_EQ(state(), PullState::pausing) << "the origin would redirect there again at once";
}

TEST_F(PullerTest, ChecksLocationAndMoves) {
    environment_.rules_.may_move = true;
    play();
    puller_.handle_moved();
    ASSERT_EQ(next(), PullAction::check_location);
    puller_.handle_location(false, now_);
    EXPECT_EQ(next(), PullAction::exchange);
    puller_.handle_moved();
    ASSERT_EQ(next(), PullAction::check_location);
    puller_.handle_location(true, now_);
    EXPECT_EQ(next(), PullAction::find_origins);
}

TEST_F(PullerTest, IgnoresMovesWithoutALookUp) {
    play();
    puller_.handle_moved();
    EXPECT_EQ(next(), PullAction::exchange);
}

TEST_F(PullerTest, MoveEndsPauseAndDial) {
    ASSERT_EQ(next(), PullAction::find_origins);
    puller_.handle_no_origins("nobody has it", seconds(1), now_);
    puller_.handle_moved();
    find(two_);
    const std::string first = puller_.status().origin;
    puller_.handle_moved();
    EXPECT_TRUE(puller_.handle_dial_stopped(now_));
    find(two_);
    EXPECT_EQ(puller_.status().origin, first) << "it was not tried";
    EXPECT_FALSE(puller_.handle_dial_stopped(now_)) << "the owner was cancelled";
}

TEST_F(PullerTest, KickEndsTheConnection) {
    play();
    puller_.handle_kick("by an operator");
    EXPECT_EQ(next(), PullAction::find_origins);
    EXPECT_EQ(puller_.status().last_error, "by an operator");
}

TEST_F(PullerTest, RestsWhileMemoryIsShort) {
    play();
    environment_.is_short_ = true;
    puller_.handle_memory_lost("too large", now_);
    EXPECT_EQ(state(), PullState::resting);
    EXPECT_EQ(next(), PullAction::wait);
    EXPECT_EQ(at_deadline(), PullAction::wait);
    environment_.is_short_ = false;
    EXPECT_EQ(at_deadline(), PullAction::find_origins);
}

TEST_F(PullerTest, LocalPublisherIsFinal) {
    find();
    puller_.handle_local_publisher(now_);
    puller_.handle_dialled({}, false, now_);
    puller_.stop(now_);
    EXPECT_EQ(next(), PullAction::stop);
    EXPECT_EQ(state(), PullState::replaced);
    EXPECT_EQ(puller_.handle_frame(FrameKind::key, now_), FrameUse::drop);
}

TEST_F(PullerTest, FailoverKeepsThePhaseButNotItsBeginning) {
    play();
    EXPECT_EQ(puller_.status().since, now_);
    const TimePoint began = now_;
    now_ += milliseconds(500);
    receive();
    EXPECT_EQ(puller_.status().since, began);
    puller_.handle_failed("reset", now_);
    EXPECT_EQ(phase_of(state()), PullPhase::connecting);
    EXPECT_EQ(puller_.status().since, now_);
}

}  // namespace
}  // namespace live::engine::relay
