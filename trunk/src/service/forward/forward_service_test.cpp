#include "service/forward/forward_service.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/options_of_fixture.hpp"
#include "engine/rtmp/server.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"
#include "wire/amf/amf.hpp"

namespace live::service::forward {
namespace {

namespace rtmp = engine::rtmp;
using wire::rtmp::MessageType;
using namespace std::string_view_literals;

using io::kSoon;

// Collects log lines for searching.
class Lines final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::debug; }
    void write(LogLevel, std::string_view, std::string_view message, int) override { lines_.emplace_back(message); }
    std::size_t count(std::string_view part) const {
        std::size_t found = 0;
        for (const std::string& line : lines_)
            found += line.find(part) != std::string::npos ? 1 : 0;
        return found;
    }

private:
    std::vector<std::string> lines_;
};

// The other server: accepts one connection after another and records the exchange.
class FakeServer {
public:
    struct Media {
        MessageType type{};
        std::uint32_t time_ms = 0;
        std::string payload;
    };

    void run(io::Deadline deadline) {
        for (;;) {
            auto stream = listener->accept(deadline);
            if (!stream.ok())
                return;
            ++connections;
            const auto ended = serve(**stream, deadline);
            ++finished;
            changed.raise();
            if (!ended.ok() && ended.code() == Errc::cancelled)
                return;
        }
    }

    std::unique_ptr<io::TcpListener> listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    bool refuses = false;
    std::string refusal = "NetStream.Publish.BadName";
    bool stops_reading = false;               // after the publish
    bool is_enhanced = true;                  // otherwise it announces nothing
    std::optional<std::string> reconnect_to;  // requested after the first media
    bool could_reconnect = false;
    Signal changed;
    std::vector<Media> media;
    std::string tc_url;
    std::string stream_name;
    int connections = 0;
    int finished = 0;
    bool said_goodbye = false;

private:
    Result<void> serve(io::Stream& stream, io::Deadline deadline) {
        rtmp::Server engine({}, 7);
        std::array<std::uint8_t, 4096> buffer;
        for (;;) {
            while (auto event = engine.poll_event())
                TRY(handle(engine, *event));
            take_media(engine);
            if (stops_reading && !media.empty())
                TRY(io::sleep(deadline));
            std::vector<std::uint8_t> output;
            engine.take_output(output);
            constexpr std::string_view kCaps = "capsEx";
            const auto caps = std::search(output.begin(), output.end(), kCaps.begin(), kCaps.end());
            if (!is_enhanced && caps != output.end())
                *caps = '?';
            const std::array parts{io::as_part(output)};
            if (!output.empty())
                TRY(stream.write_all(parts, deadline));
            const auto count = TRY(stream.read_some(buffer, deadline));
            TRY(engine.handle_bytes(io::now(), Bytes(buffer).first(count)));
        }
    }

    void take_media(rtmp::Server& engine) {
        for (const rtmp::GotMedia& got : engine.take_media()) {
            if (reconnect_to) {
                could_reconnect = engine.can_reconnect();
                engine.request_reconnect(*std::exchange(reconnect_to, std::nullopt), "about to stop");
            }
            media.push_back({got.type, got.timestamp_ms, std::string(as_text(got.payload.bytes()))});
            changed.raise();
        }
    }

    Result<void> handle(rtmp::Server& engine, rtmp::Event& event) {
        if (const auto* connect = std::get_if<rtmp::WantsToConnect>(&event)) {
            tc_url = connect->request->tc_url;
            return engine.accept_connect();
        }
        if (const auto* publish = std::get_if<rtmp::WantsToPublish>(&event)) {
            stream_name = publish->stream;
            return refuses ? engine.reject_publish(refusal, "busy") : engine.accept_publish();
        }
        if (std::holds_alternative<rtmp::StoppedPublishing>(event) || std::holds_alternative<rtmp::StreamDeleted>(event))
            said_goodbye = true;
        changed.raise();
        return {};
    }
};

class ForwardServiceTest : public testing::Test {
protected:
    void SetUp() override {
        MUST(scope_.start("fake server", [this](io::Deadline deadline) { other_.run(deadline); }));
        media::PlayOptions options;
        options.queue_length = 1s;
        source_ = MUST(streams_.find_or_create("/live/cam", options, 60'000));
        publication_ = MUST(media::Publication::start(source_, media::Takeover::refuse));
    }
    void TearDown() override {
        if (service_)
            MUST(service_->stop(io::Deadline::after(kSoon)));
        MUST(scope_.stop(io::Deadline::after(kSoon)));
    }

    void create(std::vector<Endpoint> own) {
        ForwardContext context;
        context.dial.own_endpoints = [own = std::move(own)] { return own; };
        context.dial.scratch = scratch_;
        context.silence_limit = silence_limit_;
        service_ = std::make_unique<ForwardService>(streams_, same_options_, context, Log(lines_, "test"));
    }
    std::string other_text() const { return other_.listener->endpoint().text(); }
    void publish(std::vector<std::string> destinations) {
        session::ClientRequest request;
        request.vhost = "__defaultVhost__";
        request.app = "live";
        request.stream = "cam";
        request.param = "?token=t";
        session::StreamPlan plan;
        plan.url = "/live/cam";
        options_ = {true, std::move(destinations), ""};
        service_->on_published(request, plan);
    }
    void append(MediaKind kind, bool key, bool config, MediaTime time, std::string_view payload) {
        source_->append(media::plain_packet(kind, key, config, time, Slice::copy_of(as_bytes(payload))));
        source_->flush();
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::array<std::uint8_t, 4096> scratch_{};
    Lines lines_;
    std::chrono::milliseconds silence_limit_{};
    FakeServer other_;
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    Ref<media::Source> source_;
    std::unique_ptr<media::Publication> publication_;
    io::Scope scope_{"test"};
    ForwardOptions options_;
    const SameOptions<ForwardOptions> same_options_{options_};
    std::unique_ptr<ForwardService> service_;
};

TEST_F(ForwardServiceTest, SendsMetadataHeadersCachedGopAndLiveMedia) {
    create({});
    append(MediaKind::data, false, true, 0ms, "\x02\x00\x0AonMetaData"sv);
    append(MediaKind::video, false, true, 0ms, "\x17\x00 video header"sv);
    append(MediaKind::audio, false, true, 0ms, "\xAF\x00 audio header"sv);
    append(MediaKind::video, true, false, 40ms, "\x17\x01 key");
    append(MediaKind::audio, false, false, 50ms, "\xAF\x01 audio");
    publish({other_text()});
    io::wait_until([&] { return other_.media.size() >= 5; });
    append(MediaKind::video, false, false, 80ms, "\x27\x01 inter");
    io::wait_until([&] { return other_.media.size() >= 6; });

    EXPECT_EQ(other_.tc_url, "rtmp://" + other_text() + "/live");
    EXPECT_EQ(other_.stream_name, "cam?token=t");
    ASSERT_EQ(other_.media.size(), 6U);
    EXPECT_EQ(other_.media[0].type, MessageType::amf0_data);
    EXPECT_NE(other_.media[0].payload.find("@setDataFrame"), std::string::npos);
    EXPECT_NE(other_.media[0].payload.find("onMetaData"), std::string::npos);
    EXPECT_NE(other_.media[1].payload.find("header"), std::string::npos);
    EXPECT_NE(other_.media[2].payload.find("header"), std::string::npos);
    EXPECT_EQ(other_.media[3].payload, "\x17\x01 key");
    EXPECT_EQ(other_.media[3].time_ms, 40U);
    EXPECT_EQ(other_.media[4].type, MessageType::audio);
    EXPECT_EQ(other_.media[4].time_ms, 50U);
    EXPECT_EQ(other_.media[5].payload, "\x27\x01 inter");
    EXPECT_EQ(other_.media[5].time_ms, 80U);
}

// A server that does not announce tracks gets the default track of each kind.
TEST_F(ForwardServiceTest, SendsFurtherTracksToServersThatSupportThem) {
    const auto append_of_track = [this](std::uint8_t track, std::string_view payload) {
        auto packet = media::plain_packet(MediaKind::audio, false, false, 40ms, Slice::copy_of(as_bytes(payload)));
        packet.track = media::TrackId{track};
        source_->append(std::move(packet));
        source_->flush();
    };
    create({});
    for (const bool is_enhanced : {true, false}) {
        other_.is_enhanced = is_enhanced;
        other_.media.clear();
        const int before = other_.finished;
        publish({other_text()});
        io::wait_until([&] { return lines_.count("FWR publishing to") == (is_enhanced ? 1U : 2U); });
        append_of_track(0, "\xAF\x01 first");
        append_of_track(1, "\x95\x01mp4a\x01 second");
        append_of_track(0, "\xAF\x01 last");
        const auto has = [this](std::string_view text) {
            return std::ranges::any_of(other_.media, [text](const auto& one) { return one.payload.ends_with(text); });
        };
        io::wait_until([&] { return has(" last"); });
        EXPECT_TRUE(has(" first"));
        EXPECT_EQ(has(" second"), is_enhanced);
        service_->on_unpublished("/live/cam");
        io::wait_until([&] { return other_.finished > before; });
    }
}

TEST_F(ForwardServiceTest, PushesOnlyToDestinationsOfBackend) {
    create({});
    session::StreamPlan plan;
    plan.url = "/live/cam";
    options_ = {true, {"127.0.0.1:1"}, "http://127.0.0.1:1/"};
    service_->on_published({}, plan);
    EXPECT_EQ(service_->active(), 0U) << "the backend has not answered";
    plan.forward_urls.emplace();
    service_->on_published({}, plan);
    EXPECT_EQ(service_->active(), 0U);
    plan.forward_urls->push_back("rtmp://" + other_text() + "/relay/renamed");
    service_->on_published({}, plan);
    EXPECT_EQ(service_->active(), 1U);
    io::wait_until([&] { return other_.stream_name == "renamed"; });
}

TEST_F(ForwardServiceTest, UnpublishesWhenStreamEnds) {
    create({});
    publish({other_text()});
    io::wait_until([&] { return lines_.count("FWR publishing to") == 1; });
    EXPECT_EQ(service_->active(), 1U);
    EXPECT_EQ(source_->readers().count(), 1U);
    EXPECT_FALSE(source_->readers().is_watched()) << "an edge that forwards what it pulls would pull forever";
    service_->on_unpublished("/live/cam");
    EXPECT_EQ(service_->active(), 0U);
    io::wait_until([&] { return other_.finished == 1; });
    EXPECT_TRUE(other_.said_goodbye);
    EXPECT_EQ(source_->readers().count(), 0U);
}

TEST_F(ForwardServiceTest, IgnoresUnpublishOfOtherStream) {
    create({});
    publish({other_text()});
    io::wait_until([&] { return lines_.count("FWR publishing to") == 1; });
    service_->on_unpublished("/live/other");
    EXPECT_EQ(service_->active(), 1U);
}

TEST_F(ForwardServiceTest, KeepsPushAfterTakeover) {
    create({});
    publish({other_text()});
    io::wait_until([&] { return lines_.count("FWR publishing to") == 1; });
    publish({other_text()});
    EXPECT_EQ(service_->active(), 1U);
    EXPECT_EQ(other_.connections, 1);
}

// TCP of the destination still accepts bytes.
TEST_F(ForwardServiceTest, LeavesDestinationThatStopsAnswering) {
    silence_limit_ = 700ms;
    create({});
    publish({other_text()});
    append(MediaKind::video, true, false, 0ms, "\x17\x01 key");
    io::wait_until([&] { return !other_.media.empty(); });
    static_cast<void>(io::sleep(io::Deadline::after(1s)));
    EXPECT_EQ(lines_.count("no answer for"), 0U) << "it answers";
    other_.stops_reading = true;
    append(MediaKind::video, false, false, 40ms, "\x27\x01 inter");
    io::wait_until([&] { return lines_.count("no answer for") == 1; });
    EXPECT_EQ(lines_.count("FWR retry in"), 1U);
}

TEST_F(ForwardServiceTest, KeepsDestinationThatNeverAnswersPings) {
    silence_limit_ = 100ms;
    other_.stops_reading = true;
    create({});
    append(MediaKind::video, true, false, 0ms, "\x17\x01 key");
    publish({other_text()});
    io::wait_until([&] { return !other_.media.empty(); });
    static_cast<void>(io::sleep(io::Deadline::after(700ms)));
    EXPECT_EQ(lines_.count("FWR retry in"), 0U);
}

TEST_F(ForwardServiceTest, RefusesItselfOnceWithoutRetry) {
    create({other_.listener->endpoint()});
    publish({other_text()});
    io::wait_until([&] { return service_->list().at(0).state == ForwardFacts::State::refused; });
    EXPECT_EQ(lines_.count("FWR refused"), 1U);
    EXPECT_EQ(lines_.count("retry"), 0U);
    EXPECT_EQ(other_.connections, 0);
    EXPECT_NE(service_->list().at(0).last_error, "");
    service_->on_unpublished("/live/cam");
    io::wait_until([&] { return service_->list().empty(); });
}

TEST_F(ForwardServiceTest, ReportsStateAndSentBytes) {
    create({});
    append(MediaKind::video, true, false, 0ms, "\x17\x01 key");
    publish({other_text()});
    EXPECT_EQ(service_->list().at(0).state, ForwardFacts::State::connecting);
    io::wait_until([&] { return !other_.media.empty() && service_->list().at(0).state == ForwardFacts::State::sending; });
    const ForwardFacts sending = service_->list_of("/live/cam").at(0);
    EXPECT_EQ(sending.url, "/live/cam");
    EXPECT_NE(sending.to.find(other_.listener->endpoint().text()), std::string::npos) << sending.to;
    EXPECT_EQ(sending.tries, 1U);
    EXPECT_GT(sending.sent_bytes, 0U);
    EXPECT_EQ(sending.last_error, "");
    EXPECT_TRUE(service_->list_of("/live/other").empty());
    EXPECT_EQ(service_->totals().sent_bytes, sending.sent_bytes);
    service_->on_unpublished("/live/cam");
    io::wait_until([&] { return service_->list().empty(); });
    EXPECT_GE(service_->totals().sent_bytes, sending.sent_bytes) << "a total does not fall";
}

TEST_F(ForwardServiceTest, RetriesAfterRefusalWithoutDelayingSource) {
    create({});
    other_.refuses = true;
    publish({other_text()});
    io::wait_until([&] { return lines_.count("FWR retry in") == 1; });
    EXPECT_EQ(lines_.count("NetStream.Publish.BadName"), 1U);
    EXPECT_EQ(service_->active(), 1U);
    EXPECT_EQ(service_->list().at(0).state, ForwardFacts::State::waiting);
    EXPECT_NE(service_->list().at(0).last_error.find("NetStream.Publish.BadName"), std::string::npos);
    EXPECT_EQ(service_->totals().failures, 1U);
    EXPECT_EQ(source_->readers().count(), 0U);
}

// E-RTMP's ReconnectRequest: the new connection publishes, then the old one ends; no frame is lost between them.
TEST_F(ForwardServiceTest, FollowsReconnectRequest) {
    create({});
    FakeServer next;
    MUST(scope_.start("the next server", [&next](io::Deadline deadline) { next.run(deadline); }));
    other_.reconnect_to = "rtmp://" + next.listener->endpoint().text() + "/moved";
    append(MediaKind::video, false, true, 0ms, "\x17\x00 video header"sv);
    append(MediaKind::video, true, false, 40ms, "\x17\x01 key");
    publish({other_text()});
    io::wait_until([&] { return other_.media.size() >= 2; });
    EXPECT_TRUE(other_.could_reconnect);
    append(MediaKind::video, false, false, 80ms, "\x27\x01 second");
    io::wait_until([&] { return other_.media.size() >= 3; });
    EXPECT_EQ(next.connections, 0) << "at the first destination for a second";
    append(MediaKind::video, true, false, 600ms, "\x17\x01 newest key");
    io::wait_until([&] { return next.media.size() >= 4; });
    EXPECT_EQ(next.tc_url, "rtmp://" + next.listener->endpoint().text() + "/moved");
    EXPECT_EQ(next.stream_name, "cam?token=t");
    EXPECT_EQ(next.media[1].payload, "\x17\x01 key") << "the last half second is repeated for viewers that have not received it";
    EXPECT_EQ(next.media[3].payload, "\x17\x01 newest key");
    io::wait_until([&] { return other_.finished == 1; });
    EXPECT_TRUE(other_.said_goodbye);
    append(MediaKind::video, false, false, 640ms, "\x27\x01 last");
    io::wait_until([&] { return next.media.size() >= 5; });
    EXPECT_EQ(lines_.count("FWR continues at"), 1U);
    MUST(service_->stop(io::Deadline::after(kSoon)));
    MUST(scope_.stop(io::Deadline::after(kSoon)));
}

TEST_F(ForwardServiceTest, KeepsDestinationWhenReconnectTargetIsDown) {
    create({});
    other_.reconnect_to = "rtmp://127.0.0.1:1/live";
    append(MediaKind::video, false, true, 0ms, "\x17\x00 video header"sv);
    append(MediaKind::video, true, false, 40ms, "\x17\x01 key");
    publish({other_text()});
    io::wait_until([&] { return lines_.count("FWR keeps the connection to") == 1; });
    const std::size_t seen = other_.media.size();
    append(MediaKind::video, false, false, 80ms, "\x27\x01 more");
    io::wait_until([&] { return other_.media.size() > seen; });
    EXPECT_EQ(other_.connections, 1);
    EXPECT_EQ(lines_.count("FWR retry"), 0U);
}

// The new connection leads to the same server, which accepts no further publisher.
TEST_F(ForwardServiceTest, KeepsDestinationWhenReconnectTargetRefuses) {
    create({});
    other_.reconnect_to = "";
    append(MediaKind::video, false, true, 0ms, "\x17\x00 video header"sv);
    append(MediaKind::video, true, false, 40ms, "\x17\x01 key");
    publish({other_text()});
    io::wait_until([&] { return !other_.media.empty(); });
    other_.refuses = true;
    other_.refusal = "NetStream.Publish.Rejected";
    io::wait_until([&] { return lines_.count("FWR keeps the connection to") == 1; });
    const std::size_t seen = other_.media.size();
    append(MediaKind::video, false, false, 80ms, "\x27\x01 more");
    io::wait_until([&] { return other_.media.size() > seen; });
    EXPECT_EQ(lines_.count("FWR retry"), 0U);
    EXPECT_FALSE(other_.said_goodbye);
}

TEST_F(ForwardServiceTest, UnreachableDestinationDoesNotDelayOthers) {
    create({});
    publish({"127.0.0.1:1", "not a host:port", other_text()});
    io::wait_until([&] { return lines_.count("FWR publishing to") == 1 && lines_.count("FWR retry in") == 1; });
    EXPECT_EQ(service_->active(), 2U);
    EXPECT_EQ(lines_.count("not a host:port"), 1U);
}

TEST_F(ForwardServiceTest, BlockedDestinationLosesPacketsAndDelaysNobody) {
    create({});
    other_.stops_reading = true;
    publish({other_text()});
    io::wait_until([&] { return lines_.count("FWR publishing to") == 1; });
    // 100 s of media, a key frame each second, far more than a socket buffer holds: the publisher's call never waits.
    const std::string picture(256 * 1024, 'x');
    for (int second = 0; second < 100; ++second) {
        append(MediaKind::video, true, false, std::chrono::seconds(second), picture);
        static_cast<void>(io::yield(io::Deadline::never()));
    }
    EXPECT_GT(source_->counters().dropped_packets, 0U);
    EXPECT_LT(source_->ring().bytes(), 40 * picture.size());
    service_->on_unpublished("/live/cam");
    io::wait_until([&] { return source_->readers().count() == 0; });
    EXPECT_EQ(lines_.count("FWR stop"), 1U);
}

// Connections end while the server stops, and report it.
TEST_F(ForwardServiceTest, StreamMayEndDuringStop) {
    create({});
    publish({"127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:1"});
    io::wait_until([&] { return lines_.count("FWR retry in") == 3; });
    MUST(scope_.start("publisher", [this](io::Deadline deadline) {
        do
            service_->on_unpublished("/live/cam");
        while (io::yield(deadline).ok());
    }));
    MUST(service_->stop(io::Deadline::after(kSoon)));
    EXPECT_EQ(service_->active(), 0U);
    EXPECT_EQ(lines_.count("FWR stop"), 3U);
}

TEST_F(ForwardServiceTest, RetriesRtmpsWithoutTls) {
    create({});
    publish({"rtmps://" + other_text()});
    io::wait_until([&] { return lines_.count("TLS is not available") == 1; });
}

TEST_F(ForwardServiceTest, BoundsDestinations) {
    create({});
    publish(std::vector<std::string>(ForwardService::kDestinationsMax + 1, "127.0.0.1:1"));
    EXPECT_EQ(service_->active(), ForwardService::kDestinationsMax);
    EXPECT_EQ(lines_.count("the limit is"), 1U);
}

TEST_F(ForwardServiceTest, StartsNothingWhenDisabled) {
    create({});
    session::StreamPlan plan;
    plan.url = "/live/cam";
    options_ = {false, {other_text()}, ""};
    service_->on_published({}, plan);
    EXPECT_EQ(service_->active(), 0U);
}

}  // namespace
}  // namespace live::service::forward
