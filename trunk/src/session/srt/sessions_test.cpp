// Whole clients over loopback: the engine's calling end is the encoder and the player.
#include <gtest/gtest.h>

#include "base/hex_fixture.hpp"
#include "base/random.hpp"
#include "engine/srt/caller.hpp"
#include "io/loop.hpp"
#include "io/wait_fixture.hpp"
#include "session/srt/doctor.hpp"
#include "session/srt/opener.hpp"
#include "session/srt/play_session.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/frame_fixture.hpp"
#include "wire/ts/ts_converter.hpp"
#include "wire/ts/ts_reader.hpp"

namespace live::session::srt {
namespace {

namespace frames = wire::codec::frames;
using engine::srt::Caller;
using engine::srt::RejectReason;
using wire::codec::Codec;

constexpr const char* kPassphrase = "a passphrase of tests";

class SomeAdmission final : public Admission {
public:
    Answer publish(const ClientRequest& request, io::Deadline) override { return answer(request); }
    Answer play(const ClientRequest& request, io::Deadline) override { return answer(request); }
    Result<void> check_play(const ClientRequest&) const override { return {}; }

    std::vector<ClientRequest> asked;
    std::optional<Error> refusal;

private:
    Answer answer(const ClientRequest& request) {
        asked.push_back(request);
        if (refusal)
            return *refusal;
        StreamPlan plan;
        plan.url = "/" + request.app + "/" + request.stream;
        return plan;
    }
};

class SomeEvents final : public StreamEvents {
public:
    void on_published(const ClientRequest&, const StreamPlan&) override { order.emplace_back("published"); }
    void on_publish_ended(const ClientRequest&, const StreamPlan&) override { order.emplace_back("publish ended"); }
    void on_unpublished(const std::string&) override { order.emplace_back("unpublished"); }
    void on_play_ended(const ClientRequest&, const StreamPlan&) override { order.emplace_back("play ended"); }
    void on_closed(const ClientRequest&, const Traffic& traffic) override {
        order.emplace_back("closed");
        last = traffic;
    }
    std::vector<std::string> order;
    Traffic last;
};

class SomeVhosts final : public SrtVhosts {
public:
    Result<SrtOptions> find(const std::string&) const override {
        if (!options.enabled)
            return Error(Errc::denied, "no SRT here");
        return options;
    }
    const SrtServerOptions& server() const override { return server_options; }

    SrtOptions options{.enabled = true, .srt_to_rtmp = true, .passphrase = {}};
    SrtServerOptions server_options;
};

// A transport stream of a second, of 25 pictures, in units of seven packets.
std::vector<Slice> second_of_units() {
    wire::ts::TsConverter converter;
    std::vector<std::uint8_t> out;
    EXPECT_TRUE(converter.push_video(frames::config(Codec::avc, wire::codec::avc_vectors().front().record), out).ok());
    EXPECT_TRUE(converter.push_audio(frames::config(Codec::aac, hex("1190")), out).ok());
    for (int i = 0; i < 25; ++i) {
        auto picture =
            i == 0 ? frames::key(Codec::avc, hex("00000004 65aabbcc")) : frames::inter(Codec::avc, hex("00000003 41aabb"));
        picture.dts = i * 40ms;
        EXPECT_TRUE(converter.push_video(picture, out).ok());
        auto audio = frames::audio(Codec::aac, hex("210a0b0c"));
        audio.dts = picture.dts;
        EXPECT_TRUE(converter.push_audio(audio, out).ok());
    }
    std::vector<Slice> units;
    for (Bytes rest = out; !rest.empty(); rest = rest.subspan(std::min<std::size_t>(rest.size(), 1'316)))
        units.push_back(Slice::copy_of(rest.first(std::min<std::size_t>(rest.size(), 1'316))));
    return units;
}

// An encoder or a player.
class Remote {
public:
    Remote(const io::UdpSocket& server, const std::string& stream_id, const std::string& passphrase = {},
           std::size_t key_bytes = 16) {
        Caller::Options options;
        options.to = {MUST(parse_ip("127.0.0.1")), server.endpoint().port};
        options.socket_id = engine::srt::SocketId{(static_cast<std::uint32_t>(random_number()) & 0xFFFF) | 1};
        options.stream_id = stream_id;
        if (!passphrase.empty()) {
            Caller::Encryption encryption;
            encryption.salt = engine::srt::random_salt();
            encryption.kek = MUST(engine::srt::derive_key(passphrase, encryption.salt, key_bytes));
            options.encryption = encryption;
        }
        to_ = options.to;
        caller_.emplace(io::now(), options);
    }

    void pump() {
        const TimePoint now = io::now();
        std::array<std::uint8_t, engine::srt::kDatagramBytesMax> buffer{};
        while (const std::size_t size = connection ? connection->write_next(now, buffer) : caller_->write_next(now, buffer)) {
            const std::array one{io::GsoBatch{Bytes(buffer).first(size), size, to_, {}}};
            EXPECT_EQ(socket->send(one), 1U);
        }
        const auto datagrams = socket->receive(io::Deadline::after(2ms));
        const TimePoint then = io::now();
        if (datagrams.ok())
            for (const io::Datagram& datagram : *datagrams)
                take(then, datagram.bytes);
        if (connection) {
            connection->handle_timeout(then);
            while (auto payload = connection->next_payload(then))
                received.push_back(payload->bytes);
        } else {
            caller_->handle_timeout(then);
        }
    }
    template <class Condition>
    bool pump_until(Condition condition, Duration limit = 4s) {
        const TimePoint end = io::now() + limit;
        while (!condition() && io::now() < end)
            pump();
        return condition();
    }
    bool connect() {
        return pump_until([this] { return caller_->state() != Caller::State::calling; }) && connection != nullptr;
    }
    RejectReason refusal() {
        EXPECT_FALSE(connect());
        return caller_->reason();
    }
    void send(const std::vector<Slice>& units) {
        for (const Slice& unit : units)
            EXPECT_EQ(connection->send(io::now(), unit), engine::srt::Connection::Sent::queued);
    }
    const Caller& caller() const { return *caller_; }

    std::unique_ptr<io::UdpSocket> socket = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 20));
    std::unique_ptr<engine::srt::Connection> connection;
    std::vector<Slice> received;

private:
    void take(TimePoint now, Bytes datagram) {
        if (connection)
            return connection->handle_datagram(now, datagram);
        caller_->handle_datagram(now, datagram);
        if (caller_->state() == Caller::State::connected)
            connection = caller_->take_connection();
    }

    TransportAddress to_;
    std::optional<Caller> caller_;
};

class SrtSessions : public testing::Test {
protected:
    SrtSessions() {
        MUST(port.listen({"127.0.0.1", 0}));
        port.set_door(opener);
        MUST(port.start(fibers));
        MUST(players.start(fibers));
    }
    ~SrtSessions() override { EXPECT_TRUE(io::stop_all({&sessions, &fibers}, io::Deadline::after(io::kSoon)).ok()); }

    const io::UdpSocket& socket() const { return *port.sockets().front(); }
    bool is_published(const std::string& url = "/live/cam") const {
        const auto source = streams.find(url);
        return source && source->is_published();
    }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    Log log;
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    SomeAdmission admission;
    SomeEvents events;
    SomeVhosts vhosts;
    ClientTable clients;
    Places places{10, log};
    io::Scope sessions{"sessions"};
    io::Scope fibers{"fibers"};
    Port port{io::now(), log};
    Players players{port};
    Context context{streams, vhosts, admission, events, clients, places, port, players, log};
    Opener opener{context, sessions};
};

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
    EXPECT_TRUE(encoder.pump_until([&] { return source->counters().packets[media::index_of(media::Kind::video)] >= 24; }));
    EXPECT_EQ(source->counters().key_frames, 1U);
    clients.for_each([](ClientEntry& entry) {
        const auto srt = entry.client().srt_figures();
        ASSERT_TRUE(srt);
        EXPECT_EQ(srt->latency, 120ms);
        EXPECT_EQ(srt->key_bytes, 0U);
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

TEST_F(SrtSessions, WhoIsRefusedIsToldWhyAndAskedAboutOnce) {
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

TEST_F(SrtSessions, AStreamHasOnePublisher) {
    Remote first(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(first.connect());
    EXPECT_EQ(Remote(socket(), "#!::r=live/cam,m=publish").refusal(), RejectReason::conflict);
    EXPECT_TRUE(is_published());
    EXPECT_EQ(port.links(), 1U);
}

TEST_F(SrtSessions, PlayersBeginAtAKeyFrameAndShareTheirUnits) {
    Remote encoder(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(encoder.connect());
    encoder.send(second_of_units());
    const auto source = streams.find("/live/cam");
    ASSERT_TRUE(encoder.pump_until([&] { return source->counters().packets[media::index_of(media::Kind::video)] >= 24; }));
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
            if (unit->kind == wire::ts::StreamKind::video)
                pictures.push_back(*std::move(unit));
        return pictures.size() >= 20;
    }));
    EXPECT_TRUE(pictures.front().frame.key);
    EXPECT_EQ(players.groups(), 1U);
    EXPECT_GT(players.held_bytes(), 0U);
    player.connection->close();
    player.pump();
    io::wait_until([this] { return players.groups() == 0; });
    EXPECT_EQ(events.order.front(), "published");
    EXPECT_EQ(events.order.back(), "closed");
}

TEST_F(SrtSessions, AKickSaysGoodbye) {
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

TEST_F(SrtSessions, TheDoctorReachesThePort) {
    Doctor doctor(port);
    const auto report = doctor.examine(io::Deadline::after(io::kSoon));
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(report->probes.size(), 1U);
    EXPECT_TRUE(report->is_well()) << report->probes[0].finding;
    EXPECT_EQ(report->probes[0].endpoint, socket().endpoint());
    EXPECT_EQ(port.links(), 0U);
    const Port closed(io::now(), log);
    EXPECT_FALSE(Doctor(closed).examine(io::Deadline::after(io::kSoon))->is_well());
}

}  // namespace
}  // namespace live::session::srt
