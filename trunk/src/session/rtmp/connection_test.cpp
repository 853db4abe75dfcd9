// Whole sessions over loopback: the acceptor, its connections and the fan-out against clients of our own engine.
#include "session/rtmp/connection.hpp"

#include <array>
#include <chrono>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "engine/rtmp/client.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/spin_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/source/wire_cursor.hpp"
#include "session/rtmp/connection.hpp"
#include "wire/amf/amf.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::session::rtmp {
namespace {

namespace rtmp = engine::rtmp;
using wire::rtmp::MessageType;

using io::kSoon;

class OpenDoor final : public Admission, public VhostOptions {
public:
    Result<RtmpOptions> options_of(const std::string& vhost) const override {
        if (vhost == "closed.example")
            return Error(Errc::not_found, "no virtual host serves closed.example");
        return options;
    }
    Answer publish(const ClientRequest& request, io::Deadline) override { return answer(request); }
    Answer play(const ClientRequest& request, io::Deadline) override { return answer(request); }
    Result<void> check_play(const ClientRequest& request) const override {
        TRY(plan_for(request));
        return {};
    }

    StreamPlan plan;
    RtmpOptions options;
    std::string refuses;  // a stream
    std::optional<Redirect> elsewhere;
    ClientRequest asked;

private:
    Answer answer(const ClientRequest& request) {
        asked = request;
        if (elsewhere)
            return *elsewhere;
        return TRY(plan_for(request));
    }
    Result<StreamPlan> plan_for(const ClientRequest& request) const {
        if (request.stream == refuses)
            return Error(Errc::denied, "not today");
        StreamPlan own = plan;
        own.url = "/" + request.app + "/" + request.stream;
        return own;
    }
};

class RecordedEvents final : public StreamEvents {
public:
    void on_published(const ClientRequest& request, const StreamPlan&) override {
        published.push_back(request.stream);
        order.push_back("published " + request.stream);
    }
    void on_publish_ended(const ClientRequest& request, const StreamPlan&) override {
        order.push_back("publish ended " + request.stream);
    }
    void on_unpublished(const std::string& url) override {
        unpublished.push_back(url);
        order.push_back("unpublished " + url);
    }
    void on_play_ended(const ClientRequest& request, const StreamPlan&) override {
        order.push_back("play ended " + request.stream);
    }
    void on_closed(const ClientRequest& request, const Traffic& traffic) override {
        order.push_back("closed " + std::string(name_of(request.kind)));
        closed = traffic;
    }
    std::vector<std::string> published;
    std::vector<std::string> unpublished;
    std::vector<std::string> order;
    Traffic closed;
};

// Records who entered and left.
class Watch final : public ClientWatcher {
public:
    void on_entered(ClientEntry& entry) override {
        order.push_back("entered " + entry.plan()->url + " as " + std::string(name_of(entry.client().request().kind)));
    }
    void on_left(ClientEntry& entry, const SessionEnd& end) override {
        order.push_back("left " + entry.plan()->url + ": " + end.why);
        figures = entry.client().figures();
    }
    void on_refused(const ClientEntry& entry, const Error& error) override {
        order.push_back("refused " + entry.client().request().stream + ": " + error.sentence());
    }
    std::vector<std::string> order;
    ClientFigures figures;
};

// A client: the events it received, and the media it got.
class TestClient {
public:
    TestClient(const Endpoint& server, rtmp::ClientOptions options)
        : stream_(MUST(io::TcpStream::connect(server, io::Deadline::after(kSoon)))), engine_(std::move(options), 1) {
        MUST(engine_.start(io::now()));
    }
    // `path`: of another node; empty for anybody else.
    static rtmp::ClientOptions options(rtmp::ClientOptions::Mode mode, const std::string& stream, const std::string& host = "h",
                                       const std::string& path = "") {
        rtmp::ClientOptions options;
        options.mode = mode;
        options.tc_url = "rtmp://" + host + "/live";
        options.app = "live";
        options.stream = stream;
        if (!path.empty())
            options.connect_arguments = wire::amf::Value::object({{"millrace_path", path}});
        return options;
    }

    // Until the request is granted or refused.
    void begin() {
        while (!started && !refused && !closed)
            step(io::Deadline::after(kSoon));
    }
    // Writes pending output, reads once.
    void step(io::Deadline deadline) {
        write();
        const auto count = stream_->read_some(buffer_, deadline);
        if (!count.ok()) {
            closed = true;
            return;
        }
        MUST(engine_.handle_bytes(io::now(), Bytes(buffer_).first(*count)));
        while (auto event = engine_.poll_event())
            note(*event);
    }
    void write() {
        std::vector<std::uint8_t> output;
        engine_.take_output(output);
        const std::array parts{io::as_part(output)};
        if (!output.empty() && !stream_->write_all(parts, io::Deadline::after(kSoon)).ok())
            closed = true;
    }
    void send(MessageType type, std::uint32_t at_ms, std::vector<std::uint8_t> payload) {
        engine_.send_media(type, at_ms, payload);
        write();
    }
    // Sends the end of its stream to the server without closing the connection.
    void stop() {
        engine_.stop();
        write();
    }
    void close() { stream_->close(); }

    std::vector<rtmp::GotMedia> media;
    std::vector<std::size_t> ends;  // for each end of the stream: number of media messages before it
    std::optional<rtmp::Rejected> refused;
    std::vector<std::string> moved;  // to where it is asked to reconnect
    bool started = false;
    bool closed = false;

private:
    void note(rtmp::ClientEvent& event) {
        if (auto* got = std::get_if<rtmp::GotMedia>(&event))
            media.push_back(*got);
        else if (std::holds_alternative<rtmp::StreamEnded>(event))
            ends.push_back(media.size());
        else if (auto* no = std::get_if<rtmp::Rejected>(&event))
            refused = *no;
        else if (auto* move = std::get_if<rtmp::ReconnectRequested>(&event))
            moved.push_back(move->tc_url);
        else if (std::holds_alternative<rtmp::PublishStarted>(event) || std::holds_alternative<rtmp::PlayStarted>(event))
            started = true;
    }

    std::unique_ptr<io::TcpStream> stream_;
    rtmp::Client engine_;
    std::array<std::uint8_t, 16'384> buffer_;
};

const std::vector<std::uint8_t> kKey{0x17, 1, 0, 0, 0, 1, 2, 3};
const std::vector<std::uint8_t> kInter{0x27, 1, 0, 0, 0, 4, 5, 6};
const std::vector<std::uint8_t> kAudio{0xAF, 1, 9, 9};

struct SessionTest : ::testing::Test {
    SessionTest() {
        door.plan.play.mw_latency = 20ms;
        door.plan.play.mw_msgs = 0;
        clients.add_watcher(watch);
        MUST(listeners.start("listener", [this](io::Deadline forever) { acceptor.run(forever); }));
    }
    ~SessionTest() override {
        for (io::Scope* scope : {&listeners, &connections, &services})
            EXPECT_TRUE(scope->stop(io::Deadline::after(kSoon)).ok());
    }
    using Mode = rtmp::ClientOptions::Mode;
    std::unique_ptr<TestClient> client(rtmp::ClientOptions options) {
        auto made = std::make_unique<TestClient>(acceptor.listener().endpoint(), std::move(options));
        made->begin();
        return made;
    }
    std::unique_ptr<TestClient> client(Mode mode, const std::string& stream = "cam", const std::string& host = "h") {
        return client(TestClient::options(mode, stream, host));
    }
    std::unique_ptr<TestClient> node() { return client(TestClient::options(Mode::play, "cam", "h", "server-1")); }
    // One that can be sent to another server.
    std::unique_ptr<TestClient> movable(Mode mode) {
        auto options = TestClient::options(mode, "cam");
        options.can_reconnect = true;
        return client(std::move(options));
    }
    void wait_until_gone() {
        while (places.used() > 0)
            ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    }
    static void publish_second(TestClient& publisher, std::uint32_t from_ms) {
        for (std::uint32_t at = 0; at < 1000; at += 40) {
            publisher.send(MessageType::video, from_ms + at, at == 0 ? kKey : kInter);
            publisher.send(MessageType::audio, from_ms + at + 5, kAudio);
        }
    }
    // Until the server has received `count` packets of the stream.
    void wait_for_packets(media::Sequence count) {
        while (streams.find("/live/cam")->ring().next() < count)
            ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    }
    void read_until(TestClient& player, std::size_t count) {
        while (player.media.size() < count && !player.closed)
            player.step(io::Deadline::after(kSoon));
    }

    std::unique_ptr<io::Loop> loop = *io::Loop::create();
    Log log;
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    OpenDoor door;
    RecordedEvents stream_events;
    Watch watch;
    io::Scope services{"service"};
    io::Scope connections{"connection"};
    io::Scope listeners{"listener"};
    FanOut fan_out{services};
    ClientTable clients;
    Traffic traffic;
    ConnectionLimits places{10, log};
    std::vector<std::uint8_t> scratch = std::vector<std::uint8_t>(64 * 1024);
    Context context{streams, door, door, stream_events, fan_out, clients, traffic, scratch, "1", "test/1", 1};
    Acceptor acceptor{*io::TcpListener::listen({"127.0.0.1", 0}), nullptr, context, places, connections, log};
};

TEST_F(SessionTest, PlayersReceiveTheStreamFromTheGopOn) {
    const auto publisher = client(Mode::publish);
    ASSERT_TRUE(publisher->started);
    EXPECT_EQ(stream_events.published, std::vector<std::string>{"cam"});
    publish_second(*publisher, 7000);
    publish_second(*publisher, 8000);
    wait_for_packets(100);
    const auto one = client(Mode::play);
    const auto two = client(Mode::play);
    read_until(*one, 50);
    publish_second(*publisher, 9000);
    read_until(*one, 100);
    read_until(*two, 100);
    for (const auto* player : {one.get(), two.get()}) {
        ASSERT_EQ(player->media.size(), 100U);
        EXPECT_EQ(player->media.front().timestamp_ms, 0U);
        EXPECT_EQ(player->media.back().timestamp_ms, 1965U);
        EXPECT_TRUE(std::ranges::equal(player->media[50].payload.bytes(), kKey));
    }
    EXPECT_EQ(clients.size(), 3U);
    EXPECT_GT(traffic.received_bytes, 0U);
}

TEST_F(SessionTest, PlayerBeforeThePublisherRemainsAcrossRepublish) {
    const auto player = client(Mode::play);
    auto publisher = client(Mode::publish);
    publish_second(*publisher, 0);
    read_until(*player, 50);
    publisher->close();
    publisher.reset();
    while (stream_events.unpublished.empty())
        ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    publisher = client(Mode::publish);
    publish_second(*publisher, 500'000);
    read_until(*player, 100);
    ASSERT_EQ(player->media.size(), 100U);
    EXPECT_EQ(player->media[50].timestamp_ms, 975U) << "the clock goes on after the newest packet";
    EXPECT_FALSE(player->closed);
}

// The time without a player begins when the last one leaves.
TEST_F(SessionTest, APublisherIsKickedForIdleSomeTimeAfterItsLastPlayer) {
    door.plan.publish.kickoff_for_idle = 1s;
    const auto publisher = client(Mode::publish);
    auto player = client(Mode::play);
    const auto go_on = [&](Duration time) {
        const auto until = io::Deadline::after(time);
        for (std::uint32_t at = 0; !until.expired() && connections.size() > 0 && !publisher->closed; at += 40) {
            publisher->send(MessageType::video, at, kKey);
            ASSERT_TRUE(io::sleep(io::Deadline::after(20ms)).ok());
        }
    };
    go_on(1300ms);
    EXPECT_TRUE(stream_events.unpublished.empty()) << "it has a player";
    player->close();
    player.reset();
    go_on(500ms);
    EXPECT_TRUE(stream_events.unpublished.empty()) << "it had one until now";
    const TimePoint began = io::now();
    go_on(kSoon);
    EXPECT_EQ(stream_events.unpublished, std::vector<std::string>{"/live/cam"});
    EXPECT_LT(io::now() - began, 5s);
}

TEST_F(SessionTest, SecondPublisherGetsReasonAndFirstContinues) {
    const auto first = client(Mode::publish);
    const auto second = client(Mode::publish);
    ASSERT_TRUE(second->refused.has_value());
    EXPECT_EQ(second->refused->code, "NetStream.Publish.BadName");
    EXPECT_NE(second->refused->description.find("published already"), std::string::npos);
    publish_second(*first, 0);
    wait_for_packets(50);
    const auto player = client(Mode::play);
    read_until(*player, 50);
    EXPECT_EQ(player->media.size(), 50U);
}

// The old connection is read on a tick: before a returning publisher is refused, the old connection is checked.
TEST_F(SessionTest, PublisherThatReturnsAtOnceIsNotRefused) {
    auto publisher = client(Mode::publish);
    for (int times = 1; times <= 6; ++times) {
        ASSERT_TRUE(publisher->started) << times;
        publish_second(*publisher, 0);
        wait_for_packets(static_cast<std::size_t>(times) * 50);
        stream_events.order.clear();
        publisher->close();
        publisher = client(Mode::publish);
        ASSERT_GE(stream_events.order.size(), 2U);
        EXPECT_EQ(stream_events.order.front(), "publish ended cam");
    }
}

TEST_F(SessionTest, TakeoverReplacesThePublisherAndPlayersStay) {
    door.plan.publish.takeover = true;
    const auto first = client(Mode::publish);
    const auto player = client(Mode::play);
    publish_second(*first, 0);
    read_until(*player, 50);
    const auto second = client(Mode::publish);
    ASSERT_TRUE(second->started);
    while (!first->closed)
        first->step(io::Deadline::after(kSoon));
    publish_second(*second, 0);
    read_until(*player, 100);
    EXPECT_EQ(player->media.size(), 100U);
}

TEST_F(SessionTest, WithoutAMergeWindowEveryPacketComesAtOnce) {
    door.plan.play.mw_latency = 0ms;
    door.options.min_latency = true;
    const auto publisher = client(Mode::publish);
    const auto player = client(Mode::play);
    publisher->send(MessageType::video, 0, kKey);
    read_until(*player, 1);
    publisher->send(MessageType::audio, 5, kAudio);
    read_until(*player, 2);
    EXPECT_EQ(player->media.size(), 2U);
}

// Its own players wait for theirs.
TEST_F(SessionTest, AnotherNodeReceivesEveryPacketAtOnce) {
    door.plan.play.mw_latency = 10s;
    door.plan.play.mw_msgs = 8;
    const auto publisher = client(Mode::publish);
    const auto relay = node();
    const TimePoint began = io::now();
    publisher->send(MessageType::video, 0, kKey);
    read_until(*relay, 1);
    publisher->send(MessageType::audio, 5, kAudio);
    read_until(*relay, 2);
    EXPECT_EQ(relay->media.size(), 2U);
    EXPECT_LT(io::now() - began, 5s);
}

TEST_F(SessionTest, AnotherNodeGetsPacketsInTheWindowForNodes) {
    door.plan.play.mw_latency = 0ms;
    door.plan.play.relay_mw_latency = 200ms;
    const auto publisher = client(Mode::publish);
    const auto relay = node();
    publisher->send(MessageType::video, 0, kKey);
    publisher->send(MessageType::audio, 5, kAudio);
    wait_for_packets(2);
    EXPECT_EQ(fan_out.counters().sends, 0U);
    read_until(*relay, 2);
    EXPECT_EQ(relay->media.size(), 2U);
}

TEST_F(SessionTest, OnlyAnotherNodeReceivesTheEndOfTheStream) {
    const auto relay = node();
    const auto player = client(Mode::play);
    for (int turn = 1; turn <= 2; ++turn) {
        const auto publisher = client(Mode::publish);
        publish_second(*publisher, 0);
        wait_for_packets(50 * static_cast<media::Sequence>(turn));
        publisher->close();
        while (relay->ends.size() < static_cast<std::size_t>(turn) && !relay->closed)
            relay->step(io::Deadline::after(kSoon));
    }
    EXPECT_EQ(relay->ends, (std::vector<std::size_t>{50, 100})) << "after all of its media";
    read_until(*player, 100);
    EXPECT_TRUE(player->ends.empty());
}

TEST_F(SessionTest, APublisherThatTakesOverEndsNothing) {
    door.plan.publish.takeover = true;
    const auto relay = node();
    const auto first = client(Mode::publish);
    publish_second(*first, 0);
    read_until(*relay, 50);
    const auto second = client(Mode::publish);
    publish_second(*second, 0);
    read_until(*relay, 100);
    EXPECT_TRUE(relay->ends.empty());
}

TEST_F(SessionTest, RefusesBadNamesAndClosedHostsByRtmpStatus) {
    const auto climber = client(Mode::publish, "../../etc");
    ASSERT_TRUE(climber->refused.has_value());
    EXPECT_NE(climber->refused->description.find(".."), std::string::npos);
    const auto lost = client(Mode::play, "cam", "closed.example");
    ASSERT_TRUE(lost->refused.has_value());
    EXPECT_EQ(lost->refused->code, "NetConnection.Connect.Rejected");
    ASSERT_EQ(watch.order.size(), 2U);
    EXPECT_EQ(watch.order[0], "refused : " + climber->refused->description);
    EXPECT_EQ(watch.order[1], "refused : no virtual host serves closed.example");
}

TEST_F(SessionTest, TheEndOfEverySessionIsReportedOnceAndInOrder) {
    auto publisher = client(Mode::publish);
    auto player = client(Mode::play);
    publish_second(*publisher, 0);
    read_until(*player, 50);
    player.reset();
    while (places.used() > 1)
        ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    EXPECT_EQ(stream_events.order, (std::vector<std::string>{"published cam", "play ended cam", "closed rtmp-play"}));
    stream_events.order.clear();
    publisher.reset();
    while (places.used() > 0)
        ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    EXPECT_EQ(stream_events.order,
              (std::vector<std::string>{"publish ended cam", "unpublished /live/cam", "closed fmle-publish"}));
    EXPECT_GT(stream_events.closed.received_bytes, 3073U + 50U * kAudio.size());  // the handshake, and the media
    EXPECT_GT(stream_events.closed.sent_bytes, 3073U);
}

TEST_F(SessionTest, EveryClientsTimeWithAStreamIsCounted) {
    auto publisher = client(Mode::publish);
    publish_second(*publisher, 0);
    wait_for_packets(50);
    auto player = client(Mode::play);
    read_until(*player, 50);
    EXPECT_EQ(clients.size(), 2U);
    std::uint64_t media_bytes = 0;
    for (const auto& media : player->media)
        media_bytes += media.payload.size();
    clients.for_each([&](ClientEntry& one) {
        const ClientFigures now = one.client().figures();
        EXPECT_GT(now.received_bytes, 3073U);
        EXPECT_GT(now.sent_bytes, 3073U);
        if (is_publisher(one.client().request().kind))
            return;
        EXPECT_EQ(now.delivered_packets, 50U);
        EXPECT_EQ(now.dropped_packets, 0U);
        EXPECT_EQ(now.queued_packets, 0U);
        EXPECT_GT(now.sent_bytes, 3073U + media_bytes);
    });
    player.reset();
    while (places.used() > 1)
        ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    EXPECT_EQ(watch.figures.delivered_packets, 50U);
    EXPECT_GT(watch.figures.sent_bytes, 3073U + media_bytes);
    clients.for_each([](ClientEntry& one) { one.kick("because of the test"); });
    while (places.used() > 0)
        ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    ASSERT_EQ(watch.order.size(), 4U);
    EXPECT_EQ(watch.order[0], "entered /live/cam as fmle-publish");
    EXPECT_EQ(watch.order[1], "entered /live/cam as rtmp-play");
    EXPECT_TRUE(watch.order[2].starts_with("left /live/cam: ")) << watch.order[2];
    EXPECT_EQ(watch.order[3], "left /live/cam: because of the test");
    EXPECT_EQ(watch.figures.sent_bytes, stream_events.closed.sent_bytes);
    EXPECT_EQ(watch.figures.received_bytes, stream_events.closed.received_bytes);
}

TEST_F(SessionTest, ARefusedClientOnlyCloses) {
    door.refuses = "cam";
    const auto publisher = client(Mode::publish);
    ASSERT_TRUE(publisher->refused.has_value());
    EXPECT_EQ(publisher->refused->code, "NetStream.Publish.Rejected");
    EXPECT_EQ(publisher->refused->description, "not today");
    const auto player = client(Mode::play);
    ASSERT_TRUE(player->refused.has_value());
    EXPECT_EQ(player->refused->description, "not today");
    const auto stranger = client(Mode::play, "../../etc");
    while (places.used() > 0)
        ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    EXPECT_EQ(stream_events.order, (std::vector<std::string>{"closed fmle-publish", "closed rtmp-play"}));
    EXPECT_EQ(watch.order, (std::vector<std::string>{"refused cam: not today", "refused cam: not today",
                                                     "refused : stream refused: the name '../../etc' contains '..'"}));
}

TEST_F(SessionTest, RefusesClientsOverTheLimitAndClosesKickedOnes) {
    places.set_limits(1, {});
    const auto publisher = client(Mode::publish);
    ASSERT_TRUE(publisher->started);
    EXPECT_TRUE(client(Mode::play)->closed);
    clients.for_each([](ClientEntry& one) { one.kick("test"); });
    publisher->step(io::Deadline::after(kSoon));
    EXPECT_TRUE(publisher->closed);
    while (places.used() > 0)
        ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    EXPECT_TRUE(client(Mode::publish)->started);
}

TEST_F(SessionTest, DisconnectsASilentPublisher) {
    door.plan.publish.first_packet_timeout = 50ms;
    const auto mute = client(Mode::publish);
    while (!mute->closed)
        mute->step(io::Deadline::after(kSoon));
    door.plan.publish.first_packet_timeout = kSoon;
    door.plan.publish.normal_timeout = 70ms;
    const auto once = client(Mode::publish);
    once->send(MessageType::video, 0, kKey);
    wait_for_packets(1);
    while (!once->closed)
        once->step(io::Deadline::after(kSoon));
    wait_until_gone();
    ASSERT_EQ(watch.order.size(), 4U);
    EXPECT_EQ(watch.order[1], "left /live/cam: no media for 50 ms");
    EXPECT_EQ(watch.order[3], "left /live/cam: no media for 70 ms");
}

// Holds the loop once, in the turn of the publisher's fiber.
class HoldsOnce final : public media::PacketListener {
public:
    explicit HoldsOnce(media::Source& source) : source_(source) { source_.readers().add_listener(*this); }
    ~HoldsOnce() { source_.readers().remove_listener(*this); }
    HoldsOnce(const HoldsOnce&) = delete;
    HoldsOnce& operator=(const HoldsOnce&) = delete;
    bool has_held() const { return has_held_; }

private:
    void on_packets() override {
        if (!std::exchange(has_held_, true))
            io::spin(1s);
    }

    media::Source& source_;
    bool has_held_ = false;
};

TEST_F(SessionTest, KeepsAPublisherWhenItsTurnIsLongerThanItsPatience) {
    door.plan.publish.normal_timeout = 700ms;
    const auto publisher = client(Mode::publish);
    publisher->send(MessageType::video, 0, kKey);
    wait_for_packets(1);
    const HoldsOnce hold(*streams.find("/live/cam"));
    for (std::uint32_t sent = 1; sent <= 10; ++sent) {
        publisher->send(MessageType::video, 40 * sent, kInter);
        io::wait_until([&] { return streams.find("/live/cam")->ring().next() > sent || places.used() == 0; });
        ASSERT_EQ(places.used(), 1U) << watch.order.back();
    }
    EXPECT_TRUE(hold.has_held());
    EXPECT_EQ(watch.order.size(), 1U) << watch.order.back();
}

TEST_F(SessionTest, ReportsAClientThatStopsLikeAnyOther) {
    auto publisher = client(Mode::publish);
    auto player = client(Mode::play);
    publish_second(*publisher, 0);
    read_until(*player, 50);
    player->stop();
    while (!player->closed)
        player->step(io::Deadline::after(kSoon));
    publisher->stop();
    while (!publisher->closed)
        publisher->step(io::Deadline::after(kSoon));
    wait_until_gone();
    EXPECT_EQ(stream_events.order,
              (std::vector<std::string>{"published cam", "play ended cam", "closed rtmp-play", "publish ended cam",
                                        "unpublished /live/cam", "closed fmle-publish"}));
}

TEST_F(SessionTest, MergedReadAndDataDoNotChangeReceivedMedia) {
    door.plan.publish.merged_read = true;
    door.plan.publish.merged_read_latency = 20ms;
    const auto publisher = client(Mode::publish);
    const auto player = client(Mode::play);
    ByteWriter data;
    for (const wire::amf::Value& value :
         {wire::amf::Value("onMetaData"), wire::amf::Value::object({{"title", wire::amf::Value("a stream")}})})
        wire::amf::write_amf0(data, value);
    publisher->send(MessageType::amf0_data, 0, data.release());
    publish_second(*publisher, 0);
    read_until(*player, 51);
    ASSERT_EQ(player->media.size(), 51U);
    EXPECT_EQ(player->media[0].type, MessageType::amf0_data);
    EXPECT_EQ(player->media[50].timestamp_ms, 965U);
}

// For formats that copy it, the frame is encoded in pieces, one per turn of the loop; later packets are sent after it.
TEST_F(SessionTest, LargeFrameIsEncodedBeforeTheNextPackets) {
    const auto publisher = client(Mode::publish);
    const auto source = streams.find("/live/cam");
    auto config = hex("17 00 000000");
    const auto& record = wire::codec::avc_vectors().front().record;
    config.insert(config.end(), record.begin(), record.end());
    publisher->send(MessageType::video, 0, config);
    wait_for_packets(1);
    media::WireCursor reader(source, {media::Container::ts, media::Framing::none, MediaKindSet::all()});
    constexpr std::uint32_t kNalBytes = 2'000'000;
    auto frame = hex("17 01 000000");
    for (const int shift : {24, 16, 8, 0})
        frame.push_back(static_cast<std::uint8_t>(kNalBytes >> shift));
    frame.push_back(0x65);
    frame.resize(frame.size() + kNalBytes - 1, 0x5A);
    publisher->send(MessageType::video, 0, frame);
    publisher->send(MessageType::video, 40, hex("27 01 000000 00000002 41aa"));
    wait_for_packets(3);
    while (!source->backlog().empty())
        ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    EXPECT_EQ(reader.wire_log().next(), source->ring().next());
    EXPECT_GT(reader.wire_log().head(), kNalBytes);
}

TEST_F(SessionTest, RequestsAPublisherToLeaveAndRedirectsAPlayer) {
    const auto publisher = client(Mode::publish);
    const auto player = client(Mode::play);
    clients.for_each([](ClientEntry& one) { one.ask_to_leave("the server is about to stop"); });
    while (!player->closed)
        player->step(io::Deadline::after(kSoon));
    while (!publisher->refused && !publisher->closed)
        publisher->step(io::Deadline::after(kSoon));
    ASSERT_TRUE(publisher->refused.has_value());
    EXPECT_EQ(publisher->refused->code, "NetConnection.Connect.AppShutdown");
    EXPECT_EQ(publisher->refused->description, "the server is about to stop");
    while (clients.size() > 1)
        ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    EXPECT_FALSE(publisher->closed) << "it has a moment to leave by itself";
    EXPECT_EQ(stream_events.order, (std::vector<std::string>{"published cam", "play ended cam", "closed rtmp-play"}));
}

TEST_F(SessionTest, RequestsReconnectFromClientsThatSupportIt) {
    const auto publisher = movable(Mode::publish);
    const auto player = movable(Mode::play);
    const auto ordinary = client(Mode::play);
    publish_second(*publisher, 0);
    read_until(*player, 50);
    std::size_t told = 0;
    clients.for_each([&](ClientEntry& one) { told += one.client().ask_to_move({.rtmp = "192.0.2.1:1935"}) ? 1U : 0U; });
    EXPECT_EQ(told, 2U);
    for (auto* one : {publisher.get(), player.get()}) {
        while (one->moved.empty() && !one->closed)
            one->step(io::Deadline::after(kSoon));
        ASSERT_EQ(one->moved.size(), 1U);
        EXPECT_TRUE(one->moved[0].starts_with("rtmp://192.0.2.1:1935/live")) << one->moved[0];
    }
    EXPECT_TRUE(ordinary->moved.empty());
}

TEST_F(SessionTest, ReconnectToThisServerNamesTheSameUrl) {
    const auto player = movable(Mode::play);
    clients.for_each([](ClientEntry& one) { EXPECT_TRUE(one.client().ask_to_move({.is_here = true})); });
    while (player->moved.empty() && !player->closed)
        player->step(io::Deadline::after(kSoon));
    EXPECT_EQ(player->moved, std::vector<std::string>{"rtmp://h/live"});
}

TEST_F(SessionTest, APlayerOfAnotherServersStreamIsRedirectedAndAPublisherRefused) {
    door.elsewhere = Redirect{.rtmp = "192.0.2.1:1935"};
    auto player = client(Mode::play);
    ASSERT_TRUE(player->refused.has_value());
    ASSERT_TRUE(player->refused->redirect_url.has_value());
    EXPECT_TRUE(player->refused->redirect_url->starts_with("rtmp://192.0.2.1:1935/live/cam")) << *player->refused->redirect_url;
    player->close();
    const auto publisher = client(Mode::publish);
    ASSERT_TRUE(publisher->refused.has_value());
    EXPECT_EQ(publisher->refused->description, "the stream is published on another server");
    wait_until_gone();
    EXPECT_EQ(stream_events.order, (std::vector<std::string>{"closed rtmp-play", "closed fmle-publish"}));
}

TEST_F(SessionTest, ARelayStatesTheVirtualHostAndItsClientsQueryDoesNot) {
    const auto asked_as = [&](const char* path, const char* vhost) {
        auto options = TestClient::options(Mode::play, "cam?vhost=other", "h");
        options.connect_arguments = wire::amf::Value::object({{"millrace_path", path}, {"millrace_vhost", vhost}});
        return client(std::move(options))->started ? door.asked.vhost : "refused";
    };
    EXPECT_EQ(asked_as("a", "open"), "open");
    EXPECT_EQ(asked_as("", "open"), "other") << "it is no relay";
    EXPECT_EQ(asked_as("a", ""), "other") << "one of an older version";
    EXPECT_EQ(asked_as("a", "closed.example"), "refused");
    EXPECT_EQ(asked_as("a", "a/../b"), "refused");
    EXPECT_EQ(asked_as("a", std::string(kRelayVhostBytesMax + 1, 'a').c_str()), "refused");
}

// During an upgrade: it names the virtual host as the host of tcUrl.
TEST_F(SessionTest, AnOlderWorkerIsServedByItsHostName) {
    const auto listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    io::Scope workers("worker");
    MUST(workers.start("worker", [&](io::Deadline forever) {
        for (;;) {
            auto accepted = listener->accept(forever);
            if (!accepted.ok())
                return;
            const Arrival arrival{.client_ip = "127.0.0.1", .server_ip = "127.0.0.1", .is_sibling = true};
            std::make_unique<Connection>(*std::move(accepted), arrival, context, places.memory(), log)->run(forever);
        }
    }));
    const auto is_served = [&](const std::string& stream) {
        TestClient player(listener->endpoint(), TestClient::options(Mode::play, stream, "open", "vid-1"));
        player.begin();
        return player.started && door.asked.vhost == "open";
    };
    EXPECT_TRUE(is_served("cam"));
    EXPECT_TRUE(is_served("cam?token=x"));
    EXPECT_FALSE(is_served("cam?domain=other"));
    EXPECT_FALSE(is_served("cam?token=x?vhost=other"));
    MUST(workers.stop(io::Deadline::after(kSoon)));
}

TEST_F(SessionTest, ClaimsOfAClientAreBounded) {
    const auto claim = [&](std::initializer_list<std::pair<std::string, wire::amf::Value>> arguments) {
        auto options = TestClient::options(Mode::play, "cam");
        options.connect_arguments = wire::amf::Value::object({});
        for (const auto& [name, value] : arguments)
            options.connect_arguments.set(name, value);
        const auto player = client(std::move(options));
        EXPECT_TRUE(player->started);
        return door.asked.claims;
    };
    EXPECT_EQ(client(Mode::play)->started, true);
    EXPECT_EQ(door.asked.claims, nullptr);
    const auto relay = claim(
        {{"millrace_path", std::string(kRelayPathBytesMax + 1, 'a')}, {"millrace_proof", std::string(kRelayProofBytesMax, 'p')}});
    ASSERT_NE(relay, nullptr);
    EXPECT_EQ(relay->path, std::string(kRelayPathBytesMax, 'a'));
    EXPECT_EQ(relay->proof, std::string(kRelayProofBytesMax, 'p'));
    EXPECT_EQ(relay->connect_arguments, "") << "only of clients that are no relay";
    const auto doubtful = claim({{"millrace_path", "a"},
                                 {"millrace_proof", std::string(kRelayProofBytesMax + 1, 'p')},
                                 {"millrace_node", std::string(kRelayNodeBytesMax + 1, 'n')}});
    EXPECT_EQ(doubtful->proof, "") << "longer than any proof";
    EXPECT_EQ(doubtful->node, "");
    EXPECT_EQ(claim({{"millrace_path", "a"}, {"millrace_node", "n1"}})->node, "n1");
    EXPECT_EQ(claim({{"millrace_path", "a"}, {"millrace_has", "340"}})->has, std::chrono::milliseconds(340));
    EXPECT_EQ(claim({{"millrace_node", "n1"}})->node, "") << "of a player";
    const auto own = claim({{"token", "x"}});
    EXPECT_FALSE(own->is_empty());
    EXPECT_NE(own->connect_arguments.find("token"), std::string::npos);
    EXPECT_EQ(claim({{"token", std::string(kConnectArgumentsBytesMax, 'x')}}), nullptr);
}

}  // namespace
}  // namespace live::session::rtmp
