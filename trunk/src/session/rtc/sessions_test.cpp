// Whole sessions: a client of our own engine publishes, others play, over loopback.
#include "io/fibers/wait_fixture.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/rtp/rtp_layers.hpp"
#include "media/source/cursor.hpp"
#include "media/source/publication.hpp"
#include "session/rtc/play_session.hpp"
#include "session/rtc/publish_session.hpp"
#include "session/rtc/session_fixture.hpp"
#include "session/rtc/transport/plaintext_mirror.hpp"
#include "wire/rtp/packet.hpp"

namespace live::session::rtc {
namespace {

using wire::sdp::Purpose;

const std::vector<std::uint8_t> kKey{0x65, 0x88, 1, 2, 3};
const std::vector<std::uint8_t> kInter{0x41, 0x9A, 4, 5};
const std::vector<std::uint8_t> kAudioFrame{0xF8, 0xFF, 0xFE};

struct RtcSessions : SessionFixture {
    // A frame and its audio; then gives the players some time.
    void publish(TestClient& publisher, bool is_key) {
        publisher.send(MediaKind::video, frame, frame * 3'600U, is_key ? kKey : kInter);
        publisher.send(MediaKind::audio, frame, frame * 960U, kAudioFrame);
        ++frame;
        publisher.run(10ms);
    }
    static std::size_t count(const TestClient& client, MediaKind kind) {
        return static_cast<std::size_t>(std::ranges::count(client.media, kind, &engine::rtp::MediaPacket::kind));
    }
    // Packets reported to the players as lost.
    std::uint64_t dropped() {
        std::uint64_t sum = 0;
        clients.for_each([&](ClientEntry& entry) { sum += entry.client().figures().dropped_packets; });
        return sum;
    }
    OfferRequest play_with(std::string_view from, const std::string& to) const {
        OfferRequest made = offer_request(Purpose::play);
        made.offer.replace(made.offer.find(from), from.size(), to);
        return made;
    }
    std::uint16_t frame = 1;
};

TEST_F(RtcSessions, PlaysThePublishedMedia) {
    const auto publisher = come(Purpose::publish);
    const auto source = streams.find("/live/cam");
    ASSERT_NE(source.get(), nullptr);
    publish(*publisher, true);
    const auto player = come(Purpose::play);
    for (int i = 0; i < 10; ++i) {
        publish(*publisher, i % 5 == 4);
        player->run(10ms);
    }
    EXPECT_GE(count(*player, MediaKind::video), 9U);
    EXPECT_GE(count(*player, MediaKind::audio), 8U);
    const auto first = std::ranges::find(player->media, MediaKind::video, &engine::rtp::MediaPacket::kind);
    EXPECT_TRUE(first->begins_key);
    EXPECT_EQ(std::vector(first->payload.bytes().begin(), first->payload.bytes().end()), kKey);
    EXPECT_GT(port->shared().rtp_out, 16U);
    EXPECT_GT(port->memory().engine_bytes, sizeof(engine::webrtc::PublishSession) + sizeof(engine::webrtc::PlaySession));

    publisher->close();
    for (int i = 0; i < 100 && source->is_published(); ++i)
        player->run(10ms);
    EXPECT_FALSE(source->is_published()) << "close_notify ends a publisher at once";
    EXPECT_EQ(port->sessions(), 1U) << "its players wait for the next one";
}

// A worker thread is still converting it when the publisher leaves.
TEST_F(RtcSessions, ThePublishersLastAudioReachesReadersOfFrames) {
    media::bridge_test::EchoTranscoders transcoders;
    transcoders.later = true;
    streams.set_conversion(&transcoders, log);
    door.bridge.rtc_to_rtmp = true;
    // Whether readers got it, which `comes` in time; none where this process stood still for as long as the server waits.
    const auto is_read = [&](bool comes) -> std::optional<bool> {
        const auto publisher = come(Purpose::publish);
        const auto source = streams.find("/live/cam");
        media::Cursor reader(source);
        publish(*publisher, true);
        const TimePoint last = io::now() + PublishSession::kLastAudioMax;
        publisher->close();
        publisher->run(3 * TimerWheel::kTick);
        while (reader.take()) {
        }
        const bool waits = source->is_published() && port->sessions() == 1;
        bool is_late = io::now() >= last;
        if (comes && waits)
            transcoders.newest->come();
        io::wait_until([&] {
            publisher->run(10ms);
            return !source->is_published();
        });
        is_late = is_late || (comes && io::now() >= last);
        if (is_late)
            return std::nullopt;
        EXPECT_TRUE(waits);
        const auto packet = reader.take();
        return packet && packet->kind == MediaKind::audio;
    };
    for (const bool comes : {true, false}) {
        std::optional<bool> got;
        for (int tries = 0; tries < 50 && !got; ++tries)
            got = is_read(comes);
        EXPECT_EQ(got, comes);
    }
}

TEST_F(RtcSessions, APlayersKeyFrameRequestReachesThePublisher) {
    const auto publisher = come(Purpose::publish);
    publish(*publisher, true);
    const auto player = come(Purpose::play);
    publish(*publisher, false);
    player->run(30ms);
    ASSERT_GT(count(*player, MediaKind::video), 0U);
    // The server's own initial requests.
    publisher->run(30ms);
    static_cast<void>(publisher->sender().take_key_frame_request());
    player->receiver().request_key_frame(io::now());
    bool is_asked = false;
    for (int i = 0; i < 150 && !is_asked; ++i) {
        player->step();
        publisher->step();
        is_asked = publisher->sender().take_key_frame_request();
    }
    EXPECT_TRUE(is_asked);
}

TEST_F(RtcSessions, APublishersSsrcsGoThroughWhereThatIsWanted) {
    const auto publisher = come(Purpose::publish);
    come(Purpose::play);
    EXPECT_EQ(answer.find("a=ssrc:" + std::to_string(kVideoSsrc)), std::string::npos);
    vhosts.options.keep_original_ssrc = true;
    come(Purpose::play);
    EXPECT_NE(answer.find("a=ssrc:" + std::to_string(kVideoSsrc)), std::string::npos) << answer;
    EXPECT_NE(answer.find("a=ssrc:" + std::to_string(kAudioSsrc)), std::string::npos);
}

TEST_F(RtcSessions, PlayersReceiveNothingWhileTheCpuIsBusyThenAKeyFrame) {
    const auto publisher = come(Purpose::publish);
    publish(*publisher, true);
    const auto player = come(Purpose::play);
    publish(*publisher, false);
    player->run(30ms);
    const std::size_t before = player->media.size();
    EXPECT_GT(before, 0U);
    players->set_dropping(true);
    EXPECT_EQ(dropped(), 0U);
    for (int i = 0; i < 5; ++i)
        publish(*publisher, i == 2);
    player->run(30ms);
    EXPECT_EQ(player->media.size(), before);
    EXPECT_EQ(dropped(), 10U) << "five frames and their audio";
    players->set_dropping(false);
    const std::size_t frames = count(*player, MediaKind::video);
    publish(*publisher, false);
    player->run(30ms);
    EXPECT_EQ(count(*player, MediaKind::video), frames) << "it could not be decoded";
    EXPECT_GT(player->media.size(), before) << "but audio goes on";
    publish(*publisher, true);
    player->run(30ms);
    EXPECT_EQ(count(*player, MediaKind::video), frames + 1);
    EXPECT_FALSE(player->media.back().follows_loss) << "what was left out is no loss";
    EXPECT_EQ(dropped(), 11U) << "and the frame that could not be decoded";
}

// The newest key frame may be seconds old: a newcomer gets it and what followed at the speed of its link, or skips to the next.
// A stream whose publisher has two layers; the tests write their packets.
struct LayeredSessions : RtcSessions, media::LayerSource, media::KeyFrameSource {
    LayeredSessions() {
        source = streams.find_or_create("/live/cam", {}, 60'000).value();
        publication = media::Publication::start(source, media::Takeover::refuse).value();
        stream_log = &publication->fill_rtp_log(*this);
        stream_log->set_track({MediaKind::video, "H264", 90'000, 0, ""});
        stream_log->set_track({MediaKind::audio, "opus", 48'000, 2, ""});
        layers.emplace(static_cast<media::LayerSource&>(*this), *stream_log, std::vector<std::string>{"q", "f"});
        stream_log->set_layers(*layers);
        layers->set_state(0, 100'000, true);
        layers->set_state(1, 900'000, true);
    }
    void on_layer_wanted(std::size_t layer, bool is_wanted) override { wanted[layer] = is_wanted; }
    void on_layer_key_frame_wanted(std::size_t layer) override { key_due[layer] = true; }
    void on_key_frame_wanted() override {}

    // A frame of each layer and audio; frames of layer "q" have 10 bytes, those of "f" 20.
    void frame_of_each(TestClient& client) {
        const MediaTime time = ++number * 40ms;
        const auto timestamp = static_cast<std::uint32_t>(number * 3'600);
        for (const std::size_t layer : {0U, 1U}) {
            const bool is_key = std::exchange(key_due[layer], false);
            std::vector<std::uint8_t> payload(layer == 0 ? 10 : 20, 0x9A);
            payload[0] = is_key ? 0x65 : 0x41;
            media::RtpPacket packet{.kind = MediaKind::video, .timestamp = timestamp, .marker = true, .begins_key = is_key};
            packet.payload = Slice::copy_of(payload);
            packet.arrived = io::now();
            packet.time = time;
            layers->append(layer, std::move(packet));
        }
        media::RtpPacket audio{.kind = MediaKind::audio, .timestamp = static_cast<std::uint32_t>(number * 1'920), .time = time};
        audio.payload = Slice::copy_of(kAudioFrame);
        audio.arrived = io::now();
        stream_log->append(std::move(audio));
        stream_log->flush();
        client.run(10ms);
    }
    void frames(TestClient& client, int count) {
        for (int i = 0; i < count; ++i)
            frame_of_each(client);
    }
    static std::size_t newest(const TestClient& client) {
        std::size_t size = 0;
        for (const auto& packet : client.media)
            size = packet.kind == MediaKind::video ? packet.payload.size() : size;
        return size;
    }
    // As one stream: numbers without a gap, rising timestamps, changes at key frames.
    static void expect_one_stream(const TestClient& client) {
        const engine::rtp::MediaPacket* last = nullptr;
        for (const auto& packet : client.media) {
            if (packet.kind != MediaKind::video)
                continue;
            if (last != nullptr) {
                EXPECT_EQ(packet.sequence, last->sequence + 1);
                EXPECT_GT(static_cast<std::int32_t>(packet.timestamp - last->timestamp), 0);
                EXPECT_TRUE(packet.begins_key || packet.payload.size() == last->payload.size());
            } else {
                EXPECT_TRUE(packet.begins_key);
            }
            last = &packet;
        }
    }
    std::string layer_of_the_player() {
        std::string found;
        clients.for_each([&](ClientEntry& entry) {
            if (const auto link = entry.client().link_figures())
                found = std::get<std::string>(*link->find("layer"));
        });
        return found;
    }
    std::unique_ptr<TestClient> player(const std::string& rendition) {
        OfferRequest asked = offer_request(Purpose::play);
        asked.rendition = rendition;
        return come(std::move(asked));
    }

    Ref<media::Source> source;
    std::unique_ptr<media::Publication> publication;
    media::RtpLog* stream_log = nullptr;
    std::optional<media::RtpLayers> layers;
    std::array<bool, 2> wanted{};
    std::array<bool, 2> key_due{};
    std::int64_t number = 0;
};

TEST_F(LayeredSessions, APlayerWithoutReportsGetsTheBestLayerAndAnotherWhenItEnds) {
    const auto client = player("");
    frames(*client, 10);
    EXPECT_EQ(newest(*client), 20U);
    EXPECT_EQ(layer_of_the_player(), "f");
    EXPECT_TRUE(wanted[1] && !wanted[0]) << "only what is played";
    layers->set_state(1, 0, false);
    frames(*client, 20);
    EXPECT_EQ(newest(*client), 10U);
    EXPECT_EQ(layer_of_the_player(), "q");
    EXPECT_TRUE(wanted[0] && !wanted[1]);
    expect_one_stream(*client);
    EXPECT_GT(count(*client, MediaKind::audio), 25U) << "audio goes on";
    EXPECT_EQ(port->shared().layer_changes[static_cast<std::size_t>(engine::rtp::LayerSelector::Reason::start)], 1U);
    EXPECT_EQ(port->shared().layer_changes[static_cast<std::size_t>(engine::rtp::LayerSelector::Reason::lost)], 1U);
}

TEST_F(LayeredSessions, ANamedLayerIsKept) {
    const auto client = player("q");
    frames(*client, 10);
    EXPECT_EQ(newest(*client), 10U);
    EXPECT_FALSE(wanted[1]);
    expect_one_stream(*client);
    OfferRequest asked = offer_request(Purpose::play);
    asked.rendition = "x";
    EXPECT_EQ(opener->open(std::move(asked), io::Deadline::after(io::kSoon)).code(), Errc::not_found);
}

TEST_F(LayeredSessions, PlayersFollowAPublisherThatReturnsWithoutLayers) {
    const auto client = player("");
    frames(*client, 10);
    EXPECT_EQ(newest(*client), 20U);
    publication.reset();
    layers.reset();
    client->run(20ms);
    publication = media::Publication::start(source, media::Takeover::refuse).value();
    stream_log = &publication->fill_rtp_log(*this);
    client->media.clear();
    for (int i = 0; i < 10; ++i) {
        media::RtpPacket packet{
            .kind = MediaKind::video, .timestamp = static_cast<std::uint32_t>(++number * 3'600), .marker = true};
        packet.begins_key = i == 2;
        packet.payload = Slice::copy_of(packet.begins_key ? kKey : kInter);
        packet.arrived = io::now();
        stream_log->append(std::move(packet));
        stream_log->flush();
        client->run(10ms);
    }
    ASSERT_GE(count(*client, MediaKind::video), 7U);
    EXPECT_TRUE(client->media.front().begins_key);
}

TEST_F(RtcSessions, PacketsSkippedAtTheStartAreNotCountedAsDropped) {
    const auto publisher = come(Purpose::publish);
    for (int i = 0; i < 20; ++i)
        publish(*publisher, i == 0);
    players->set_dropping(true);
    const auto player = come(Purpose::play);
    player->run(30ms);
    EXPECT_TRUE(player->media.empty());
    EXPECT_EQ(dropped(), 0U);
    players->set_dropping(false);
    publish(*publisher, false);
    publish(*publisher, true);
    player->run(30ms);
    EXPECT_EQ(count(*player, MediaKind::video), 1U) << "it begins with the new key frame";
    EXPECT_EQ(dropped(), 0U);
    players->set_dropping(true);
    publish(*publisher, false);
    player->run(30ms);
    EXPECT_EQ(dropped(), 2U) << "now it has begun";
    players->set_dropping(false);
}

TEST_F(RtcSessions, APlayerThatTakesSingleNalUnitsOnlyGetsThose) {
    const auto publisher = come(Purpose::publish);
    publish(*publisher, true);
    const auto whole = come(Purpose::play);
    const auto single = come(play_with("packetization-mode=1", "packetization-mode=0"));
    EXPECT_NE(answer.find("packetization-mode=0"), std::string::npos) << answer;
    EXPECT_EQ(players->groups(), 2U);
    const std::vector<std::uint8_t> aggregate{24, 0, 3, 0x41, 1, 2, 0, 2, 0x41, 3};
    const std::vector<std::uint8_t> fragment{0x5C, 0x81, 1, 2, 3};
    publisher->send(MediaKind::video, 2, 7'200, aggregate);
    publisher->send(MediaKind::video, 3, 10'800, fragment);
    publisher->send(MediaKind::video, 4, 14'400, kInter);
    for (TestClient* const player : {publisher.get(), whole.get(), single.get()})
        player->run(50ms);
    const auto frames = [](const TestClient& player) {
        std::vector<std::vector<std::uint8_t>> got;
        for (const auto& packet : player.media)
            if (packet.kind == MediaKind::video)
                got.emplace_back(packet.payload.bytes().begin(), packet.payload.bytes().end());
        return got;
    };
    EXPECT_EQ(frames(*whole), (std::vector<std::vector<std::uint8_t>>{kKey, aggregate, fragment, kInter}));
    EXPECT_EQ(frames(*single), (std::vector<std::vector<std::uint8_t>>{kKey, {0x41, 1, 2}, {0x41, 3}, kInter}));
    EXPECT_EQ(dropped(), 0U);
}

TEST_F(RtcSessions, APublisherMaySendSingleNalUnitsOnly) {
    OfferRequest made = offer_request(Purpose::publish);
    made.offer.replace(made.offer.find("packetization-mode=1"), 20, "packetization-mode=0");
    const auto publisher = come(std::move(made));
    publish(*publisher, true);
    const auto player = come(Purpose::play);
    publish(*publisher, false);
    player->run(30ms);
    EXPECT_GE(count(*player, MediaKind::video), 2U);
}

TEST_F(RtcSessions, ThePlaintextMirrorGetsAllOfIt) {
    const auto sink = io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 16).value();
    EXPECT_FALSE(PlaintextMirror::create("nowhere").ok());
    const auto mirror = PlaintextMirror::create(sink->endpoint().text()).value();
    port->shared().tap = [&mirror](Bytes packet) { mirror->send(packet); };
    const auto publisher = come(Purpose::publish);
    publish(*publisher, true);
    const auto player = come(Purpose::play);
    publish(*publisher, false);
    player->run(30ms);
    std::size_t keys = 0;
    std::size_t reports = 0;
    for (auto came = sink->receive(io::Deadline::after(50ms)); came.ok(); came = sink->receive(io::Deadline::after(50ms)))
        for (const io::Datagram& datagram : *came) {
            const auto packet = wire::rtp::parse_packet(datagram.bytes);
            const bool is_rtcp = wire::rtp::looks_like_rtcp(datagram.bytes);
            reports += is_rtcp ? 1 : 0;
            keys += !is_rtcp && packet.ok() && std::ranges::equal(packet->payload, kKey) ? 1 : 0;
        }
    EXPECT_EQ(keys, 2U) << "as it came, and as it was sent to the player";
    EXPECT_GT(reports, 0U);
    port->shared().tap = nullptr;
}

TEST_F(RtcSessions, AStreamOfAnotherKindIsRefusedUnlessItIsConverted) {
    vhosts.options.rtmp_to_rtc = false;
    const auto source = streams.find_or_create("/live/rtmp", {}, 60'000).value();
    const auto publication = media::Publication::start(source, media::Takeover::refuse).value();
    EXPECT_EQ(open(Purpose::play, "rtmp").code(), Errc::unsupported);
    EXPECT_EQ(port->sessions(), 0U);
    vhosts.options.rtmp_to_rtc = true;
    EXPECT_TRUE(open(Purpose::play, "rtmp").ok());
}

TEST_F(RtcSessions, AClientTakesAPlaceOnConnectingOrIsClosed) {
    const auto first = come(Purpose::publish);
    EXPECT_EQ(places.used(), 1U);
    EXPECT_EQ(places.half_open(), 0U);
    places.set_limits(2, {.connections_per_ip = 1});
    const auto opened = open(Purpose::play);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(places.half_open(), 1U);
    TestClient second(*client_context, opened->answer, Purpose::play, server);
    second.run(100ms);
    EXPECT_EQ(port->sessions(), 1U);
    EXPECT_EQ(places.used(), 1U);
    EXPECT_EQ(places.half_open(), 0U);
    EXPECT_EQ(places.refused(ConnectionLimits::Reason::connections_per_ip), 1U);
}

TEST_F(RtcSessions, KickClosesThePublisherAndFreesTheStream) {
    const auto publisher = come(Purpose::publish);
    clients.for_each([](ClientEntry& entry) { entry.kick("by the operator"); });
    publisher->run(50ms);
    EXPECT_EQ(port->sessions(), 0U);
    EXPECT_EQ(places.used(), 0U);
    EXPECT_TRUE(open(Purpose::publish).ok());
}

TEST_F(RtcSessions, DisconnectsASilentPublisherButNotASilentPlayer) {
    vhosts.options.stun_timeout = 60s;
    const auto find = [this](const std::string& ufrag) { return dynamic_cast<SessionPeer*>(port->find(ufrag)); };
    const auto publisher = come(Purpose::publish);
    const std::string speaks = value_in(answer, "a=ice-ufrag:");
    publish(*publisher, true);
    const auto player = come(Purpose::play);
    const std::string listens = value_in(answer, "a=ice-ufrag:");
    const TimePoint silent = io::now() + PublishSession::kSilenceMax;
    ASSERT_NE(find(speaks), nullptr);
    EXPECT_LE(find(speaks)->next_timeout(), silent);
    find(speaks)->on_due(silent - 2s);
    EXPECT_NE(find(speaks), nullptr);
    find(speaks)->on_due(silent + 1s);
    EXPECT_EQ(find(speaks), nullptr);
    find(listens)->on_due(silent + 1s);
    EXPECT_NE(find(listens), nullptr);
}

// The sessions release everything: the server's counts are the same as before.
TEST_F(RtcSessions, SessionsLeaveNoMemory) {
    const auto publisher = come(Purpose::publish);
    publish(*publisher, true);
    const PortMemory before = port->memory();
    for (int i = 0; i < 5; ++i) {
        const auto player = come(Purpose::play);
        publish(*publisher, true);
        player->run(20ms);
        clients.for_each([](ClientEntry& entry) {
            if (entry.client().request().kind == ClientKind::rtc_play)
                entry.kick("enough");
        });
        publisher->run(20ms);
    }
    const PortMemory after = port->memory();
    EXPECT_EQ(port->sessions(), 1U);
    EXPECT_EQ(after.dtls_objects, before.dtls_objects);
    EXPECT_EQ(after.paths, before.paths);
    EXPECT_EQ(players->groups(), 0U);
    EXPECT_EQ(places.used(), 1U);
}

}  // namespace
}  // namespace live::session::rtc
