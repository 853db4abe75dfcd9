// Whole clients over loopback: the engine's calling end is the encoder and the player.
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "media/ingest/ingest.hpp"
#include "media/source/publication.hpp"
#include "session/srt/play_session.hpp"
#include "session/srt/self_tester.hpp"
#include "session/srt/session_fixture.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace live::session::srt {
namespace {

TEST_F(SrtSessions, AnEncoderPublishesUntilItLeaves) {
    Remote encoder(socket(), "#!::r=live/cam,m=publish,token=x");
    ASSERT_TRUE(encoder.connect());
    EXPECT_TRUE(is_published());
    ASSERT_EQ(admission.asked.size(), 1U);
    EXPECT_EQ(admission.asked[0].kind, ClientKind::srt_publish);
    EXPECT_EQ(admission.asked[0].ip, "127.0.0.1");
    EXPECT_EQ(admission.asked[0].param, "?token=x");
    EXPECT_EQ(places.used(), 1U);
    encoder.send(second_of_units());
    const auto source = streams.find("/live/cam");
    EXPECT_TRUE(encoder.pump_until([&] { return source->counters().packets[index_of(MediaKind::video)] >= 24; }));
    EXPECT_EQ(source->counters().key_frames, 1U);
    clients.for_each([](ClientEntry& entry) {
        const auto link = entry.client().link_figures();
        ASSERT_TRUE(link);
        EXPECT_EQ(link->name, "srt");
        EXPECT_EQ(*link->find("latency_ms"), LinkFigures::Value(std::uint64_t{120}));
        EXPECT_EQ(*link->find("encrypted"), LinkFigures::Value(false));
        EXPECT_EQ(link->find("nothing"), nullptr);
        EXPECT_GT(entry.figures().received_bytes, 10'000U);
    });
    encoder.connection->close();
    encoder.pump();
    io::wait_until([this] { return !events.order.empty() && events.order.back() == "closed"; });
    EXPECT_EQ(events.order, (std::vector<std::string>{"published", "publish ended", "unpublished", "closed"}));
    EXPECT_GT(events.last.received_bytes, 10'000U);
    EXPECT_EQ(port.links(), 0U);
    EXPECT_EQ(places.used(), 0U);
    EXPECT_EQ(clients.size(), 0U);
}

TEST_F(SrtSessions, SendsTheReasonOfARefusalAndChecksAdmissionOnce) {
    admission.refusal.emplace(Errc::denied, "not today");
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam,m=publish").refusal(), RejectReason::forbidden);
    EXPECT_EQ(admission.asked.size(), 1U);
    admission.refusal.emplace(Errc::not_found, "nowhere");
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam").refusal(), RejectReason::not_found);
    admission.refusal.emplace(Errc::limit, "too many");
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam").refusal(), RejectReason::overload);
    admission.refusal.reset();
    EXPECT_EQ(Remote(socket(), "#!::m=publish").refusal(), RejectReason::bad_request);
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam,m=other").refusal(), RejectReason::bad_mode);
    EXPECT_EQ(admission.asked.size(), 3U);
    vhosts.options.enabled = false;
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam").refusal(), RejectReason::forbidden);
    EXPECT_EQ(port.read().port.refused, 6U);
    EXPECT_EQ(port.read().opening, 0U);
    EXPECT_EQ(places.used(), 0U);
}

TEST_F(SrtSessions, APassphraseIsChecked) {
    vhosts.options.passphrase = kPassphrase;
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam,m=publish", "another passphrase").refusal(), RejectReason::bad_secret);
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam,m=publish").refusal(), RejectReason::unsecure);
    EXPECT_TRUE(admission.asked.empty()) << "nobody is asked about them";
    for (const std::size_t key_bytes : {16U, 24U, 32U}) {
        Remote encoder(socket(), "#!::m=publish,r=live/cam" + std::to_string(key_bytes), kPassphrase, key_bytes);
        ASSERT_TRUE(encoder.connect());
        encoder.send(second_of_units());
        const auto source = streams.find("/live/cam" + std::to_string(key_bytes));
        EXPECT_TRUE(encoder.pump_until([&] { return source->counters().key_frames == 1; }));
    }
    vhosts.options.passphrase.clear();
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam,m=publish", kPassphrase).refusal(), RejectReason::unsecure);
}

TEST_F(SrtSessions, AnAnswerNamesThePassphraseOfAStream) {
    vhosts.options.passphrase_callback = true;
    admission.passphrase = kPassphrase;
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam,m=publish", "another passphrase").refusal(), RejectReason::bad_secret);
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam,m=publish").refusal(), RejectReason::unsecure);
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam,m=request", "another passphrase").refusal(), RejectReason::bad_secret);
    EXPECT_EQ(admission.asked.size(), 3U) << "it is checked after the answer";
    EXPECT_EQ(events.order, (std::vector<std::string>{"closed", "closed", "play ended", "closed"}));
    EXPECT_FALSE(is_published()) << "it does not disturb the stream";
    Remote encoder(socket(), "#!::r=live/cam,m=publish", kPassphrase, 32);
    ASSERT_TRUE(encoder.connect());
    encoder.send(second_of_units());
    const auto source = streams.find("/live/cam");
    EXPECT_TRUE(encoder.pump_until([&] { return source->counters().key_frames == 1; }));
    admission.passphrase.reset();
    vhosts.options.passphrase = "of the virtual host";
    EXPECT_TRUE(Remote(socket(), "#!::r=live/two,m=publish", "of the virtual host").connect()) << "an answer without one";
    admission.passphrase = "";
    EXPECT_TRUE(Remote(socket(), "#!::r=live/three,m=publish").connect()) << "no encryption, by the answer";
    EXPECT_EQ(Remote(socket(), "#!::r=live/four,m=publish", "of the virtual host").refusal(), RejectReason::unsecure);
}

TEST_F(SrtSessions, ASilentCallerReleasesItsPlace) {
    vhosts.server_options.connect_timeout = 1s;
    admission.is_slow = true;
    Remote patient(socket(), "#!::r=live/cam,m=publish");
    {
        Remote impatient(socket(), "#!::r=live/other,m=publish");
        ASSERT_TRUE(impatient.pump_until([this] { return admission.asked.size() == 1; }));
    }
    ASSERT_TRUE(patient.pump_until([this] { return admission.asked.size() == 2; }));
    EXPECT_EQ(port.read().opening, 2U);
    ASSERT_TRUE(patient.pump_until([this] { return port.read().opening == 1; })) << "nobody has answered yet";
    EXPECT_EQ(places.used(), 1U);
    EXPECT_EQ(events.order, std::vector<std::string>{"closed"});
    admission.is_slow = false;
    EXPECT_TRUE(patient.connect());
    EXPECT_EQ(port.read().opening, 0U);
}

TEST_F(SrtSessions, ASlowVirtualHostLeavesPlacesToOthers) {
    vhosts.limit_options.srt_half_open = 4;
    admission.is_slow = true;
    std::vector<std::unique_ptr<Remote>> waiting;
    for (std::size_t i = 1; i <= 2; ++i) {
        waiting.push_back(std::make_unique<Remote>(socket(), "#!::h=slow,m=publish,r=live/cam" + std::to_string(i)));
        ASSERT_TRUE(waiting.back()->pump_until([&] { return admission.asked.size() == i; }));
    }
    EXPECT_EQ(Remote(socket(), "#!::h=slow,m=publish,r=live/third").refusal(), RejectReason::overload);
    EXPECT_EQ(opener.half_open().refusals()[2].count(), 1U);
    admission.is_slow = false;
    EXPECT_TRUE(Remote(socket(), "#!::h=quick,m=publish,r=live/other").connect());
}

TEST_F(SrtSessions, AStreamHasOnePublisher) {
    Remote first(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(first.connect());
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam,m=publish").refusal(), RejectReason::conflict);
    EXPECT_TRUE(is_published());
    EXPECT_EQ(port.links(), 1U);
}

TEST_F(SrtSessions, PlayersBeginAtAKeyFrameAndShareTheirUnits) {
    const auto source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    const auto publication = MUST(media::Publication::start(source, media::Takeover::refuse));
    media::Ingest ingest(*publication, {}, {}, log);
    ingest.push_frame(MediaKind::video, 0, frames::config(Codec::avc, wire::codec::avc_vectors().front().record));
    for (std::uint32_t i = 0; i < 30; ++i)
        ingest.push_frame(
            MediaKind::video, i * 40,
            i == 5 ? frames::key(Codec::avc, hex("00000004 65aabbcc")) : frames::inter(Codec::avc, hex("00000003 41aabb")));
    source->flush();
    Remote player(socket(), "#!::r=live/cam,m=request");
    ASSERT_TRUE(player.connect());
    wire::ts::TsReader reader;
    std::vector<wire::ts::TsReader::Unit> pictures;
    EXPECT_TRUE(player.pump_until([&] {
        for (const Slice& unit : std::exchange(player.received, {})) {
            EXPECT_EQ(unit.size() % 188, 0U);
            EXPECT_LE(unit.size(), 1'316U);
            reader.feed(unit.bytes());
        }
        while (auto unit = reader.next())
            if (unit->kind == MediaKind::video)
                pictures.push_back(*std::move(unit));
        return pictures.size() >= 20;
    }));
    EXPECT_EQ(transports.find(*source), nullptr);
    EXPECT_TRUE(pictures.front().frame.key);
    EXPECT_EQ(players.groups(), 1U);
    EXPECT_GT(players.held_bytes(), 0U);
    player.connection->close();
    player.pump();
    io::wait_until([this] { return players.groups() == 0; });
    EXPECT_EQ(events.order.front(), "play ended");
    io::wait_until([this] { return events.order.back() == "closed"; });
}

// Sending audio in separate datagrams would cost a system call each, an ACK from every player and its ACKACK.
TEST_F(SrtSessions, AudioWaitsForAFrameOfVideoButNotForLong) {
    const auto source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    const auto publication = MUST(media::Publication::start(source, media::Takeover::refuse));
    media::Ingest ingest(*publication, {}, {}, log);
    const auto picture = [&](std::uint32_t at, bool is_key) {
        ingest.push_frame(
            MediaKind::video, at,
            is_key ? frames::key(Codec::avc, hex("00000004 65aabbcc")) : frames::inter(Codec::avc, hex("00000003 41aabb")));
        source->flush();
    };
    const auto sound = [&](std::uint32_t at) {
        ingest.push_frame(MediaKind::audio, at, frames::audio(Codec::aac, hex("210a0b0c")));
        source->flush();
    };
    ingest.push_frame(MediaKind::video, 0, frames::config(Codec::avc, wire::codec::avc_vectors().front().record));
    ingest.push_frame(MediaKind::audio, 0, frames::config(Codec::aac, hex("1190")));
    picture(0, true);
    Remote player(socket(), "#!::r=live/cam,m=request");
    ASSERT_TRUE(player.connect());
    wire::ts::TsReader reader;
    std::array<std::size_t, 2> units{};  // of audio and video
    const auto pump_until = [&](std::size_t audio, std::size_t video) {
        return player.pump_until([&] {
            for (const Slice& unit : std::exchange(player.received, {}))
                reader.feed(unit.bytes());
            while (const auto unit = reader.next())
                ++units[unit->kind == MediaKind::video ? 1 : 0];
            return units[0] >= audio && units[1] >= video && players.due() == 0;
        });
    };
    sound(10);
    picture(40, false);
    ASSERT_TRUE(pump_until(1, 1)) << "a picture ends where the next one begins";
    sound(50);
    EXPECT_EQ(players.due(), 0U) << "it waits";
    sound(70);
    EXPECT_EQ(players.due(), 0U);
    picture(80, false);
    EXPECT_EQ(players.due(), 1U) << "everything goes out with it";
    EXPECT_TRUE(pump_until(3, 2));
    sound(90);
    EXPECT_EQ(players.due(), 0U);
    EXPECT_TRUE(pump_until(4, 2)) << "there is no more video, and it comes";
}

// The stream contains a table that our own muxer does not write: players receive an SRT publisher's stream unchanged.
TEST_F(SrtSessions, PlayersReceiveAnSrtStreamUnchanged) {
    Remote encoder(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(encoder.connect());
    const auto sent = second_of_units();
    encoder.send(sent);
    const auto source = streams.find("/live/cam");
    ASSERT_TRUE(encoder.pump_until([&] { return source->counters().packets[index_of(MediaKind::video)] >= 24; }));
    ASSERT_NE(transports.find(*source), nullptr);
    Remote player(socket(), "#!::r=live/cam,m=request");
    ASSERT_TRUE(player.connect());
    ASSERT_TRUE(player.pump_until([&] { return player.received.size() > sent.size() - 2; }));
    std::vector<std::uint8_t> got;
    for (const Slice& unit : player.received)
        got.insert(got.end(), unit.bytes().begin(), unit.bytes().end());
    std::vector<std::uint8_t> all;
    for (const Slice& unit : sent)
        all.insert(all.end(), unit.bytes().begin(), unit.bytes().end());
    ASSERT_GT(got.size(), 10U * 188);
    // Behind the tables.
    EXPECT_NE(std::search(all.begin(), all.end(), got.begin() + 2 * 188, got.end()), all.end());
    encoder.connection->close();
    encoder.pump();
    io::wait_until([&] { return transports.find(*source) == nullptr; });
}

TEST_F(SrtSessions, AKickSendsAShutdown) {
    Remote encoder(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(encoder.connect());
    clients.for_each([](ClientEntry& entry) { entry.kick("an operator has ended it"); });
    EXPECT_TRUE(encoder.pump_until([&] { return !encoder.connection->is_open(); }));
    EXPECT_EQ(encoder.connection->close_reason(), engine::srt::CloseReason::peer_shutdown);
    EXPECT_FALSE(is_published());
}

TEST_F(SrtSessions, DatagramsFromAnotherAddressAreDropped) {
    Remote encoder(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(encoder.connect());
    const auto goodbye =
        engine::srt::write_control({engine::srt::ControlType::shutdown, 0, 0, 0, encoder.connection->peer_socket_id()}, Bytes());
    const auto stranger = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 20));
    const std::array one{io::GsoBatch{goodbye, goodbye.size(), {MUST(parse_ip("127.0.0.1")), socket().endpoint().port}, {}}};
    EXPECT_EQ(stranger->send(one), 1U);
    EXPECT_TRUE(encoder.pump_until([&] { return port.figures().strangers == 1; }));
    encoder.pump_until([] { return false; }, 50ms);
    EXPECT_TRUE(encoder.connection->is_open() && is_published());
    EXPECT_EQ(encoder.socket->send(one), 1U);
    EXPECT_TRUE(encoder.pump_until([&] { return !is_published(); })) << "from its own address it is taken";
}

TEST_F(SrtSessions, CallersFromOneAddressAreAnsweredByTheSocketsTheyCameTo) {
    Remote first(socket(), "#!::r=live/one,m=publish");
    Remote second(*port.sockets().back(), "#!::r=live/two,m=publish");
    ASSERT_TRUE(first.connect());
    second.socket = std::move(first.socket);
    ASSERT_TRUE(second.connect());
    ASSERT_EQ(port.links(), 2U);
    io::UdpSocket& client = *second.socket;
    while (client.receive(io::Deadline::after(50ms)).ok()) {
    }
    port.advance(io::now() + 2s);               // both keepalives are due at once and have one size
    const auto soon = io::Deadline::after(5s);  // before both shutdowns are sent, one by one
    std::set<std::uint16_t> from;
    while (from.size() < 2) {
        const auto datagrams = client.receive(soon);
        ASSERT_TRUE(datagrams.ok());
        for (const io::Datagram& datagram : *datagrams)
            from.insert(datagram.from.port);
    }
    EXPECT_TRUE(from.contains(socket().endpoint().port) && from.contains(port.sockets().back()->endpoint().port));
}

// Records the datagrams forwarded to another process.
struct RecordedDatagrams final : DatagramForwarding {
    void pass(const ForwardedDatagram& forwarded, Bytes datagram) override {
        headers.push_back(forwarded);
        datagrams.emplace_back(datagram.begin(), datagram.end());
    }
    std::vector<ForwardedDatagram> headers;
    std::vector<std::vector<std::uint8_t>> datagrams;
};

TEST_F(SrtSessions, ForwardsUnknownDatagramsOnce) {
    RecordedDatagrams sink;
    port.set_forwarding(&sink);
    const Remote stranger(socket(), "#!::r=live/cam,m=publish");
    // Data for a socket that there is not.
    auto data = hex("00000001 e0000001 00000000 12345678 47");
    data.resize(204, 0x11);
    const TransportAddress to{MUST(parse_ip("127.0.0.1")), socket().endpoint().port};
    const std::array one{io::GsoBatch{data, data.size(), to, {}}};
    EXPECT_EQ(stranger.socket->send(one), 1U);
    io::wait_until([&] { return !sink.headers.empty(); });
    ASSERT_EQ(sink.datagrams.size(), 1U);
    EXPECT_EQ(sink.datagrams[0], data);
    const ForwardedDatagram forwarded = sink.headers[0];
    EXPECT_EQ(forwarded.protocol, ForwardedDatagram::Protocol::srt);
    EXPECT_TRUE(forwarded.came_by(socket().endpoint()));
    EXPECT_EQ(forwarded.from.port, stranger.socket->endpoint().port);
    EXPECT_EQ(port.read().port.strangers, 1U);

    port.take_forwarded(forwarded, io::now(), data);
    EXPECT_EQ(port.read().port.strangers, 2U) << "this process does not know it either";
    EXPECT_EQ(sink.headers.size(), 1U) << "and the other one is not asked again";
    ForwardedDatagram other = forwarded;
    ++other.port;
    port.take_forwarded(other, io::now(), data);
    EXPECT_EQ(port.read().port.strangers, 2U) << "it came by a socket that is not ours";
    port.set_forwarding(nullptr);
    port.take_forwarded(forwarded, io::now(), data);
    EXPECT_EQ(port.read().port.strangers, 3U);
}

TEST(SrtReport, ReportsTheDifferenceToThePreviousReading) {
    PortReading then;
    then.links.received = 100;
    then.links.receive_lost = 1;
    then.links.retransmitted = 7;
    then.port.strangers = 3;
    then.lost = 5;
    PortReading now = then;
    now.publishers = 2;
    now.players = 3;
    now.links.received += 10;
    now.links.receive_retransmitted += 11;
    now.links.receive_dropped += 12;
    now.links.sent += 13;
    now.links.send_lost += 14;
    now.links.retransmitted += 15;
    now.links.send_dropped += 16;
    now.port.strangers += 17;
    now.lost += 18;
    now.unsent += 19;
    EXPECT_EQ(report_line(now, then),
              "SRT: Server conns=5, pub=2, play=3, Transport Stats # pktRecv=10, pktRcvLoss=0, pktRcvRetrans=11, pktRcvDrop=12, "
              "pktSent=13, pktSndLoss=14, pktRetrans=15, pktSndDrop=16, unknown=17, loss=(r:18,s:19)");
}

TEST_F(SrtSessions, SelfTestReachesEverySocketOfThePort) {
    SelfTester test(port);
    const auto report = test.run(io::Deadline::after(io::kSoon));
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->is_enabled);
    ASSERT_EQ(report->probes.size(), port.sockets().size());
    for (std::size_t i = 0; i < report->probes.size(); ++i) {
        EXPECT_TRUE(report->is_well) << report->probes[i].finding;
        EXPECT_EQ((Endpoint{report->probes[i].address, report->probes[i].port}), port.sockets()[i]->endpoint());
    }
    EXPECT_EQ(port.links(), 0U);
}

TEST_F(SrtSessions, SelfTestWithoutAPortReportsThatSrtIsDisabled) {
    const Port closed(io::now(), log);
    const auto report = SelfTester(closed).run(io::Deadline::after(io::kSoon));
    ASSERT_TRUE(report.ok());
    EXPECT_FALSE(report->is_enabled);
    EXPECT_FALSE(report->is_well);
    EXPECT_EQ(report->advice.size(), 1U);
}

}  // namespace
}  // namespace live::session::srt
