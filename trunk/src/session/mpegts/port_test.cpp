#include "session/mpegts/port.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/frame_fixture.hpp"
#include "wire/ts/write/ts_converter.hpp"

namespace live::session::mpegts {
namespace {

using Buffer = std::vector<std::uint8_t>;
namespace frames = wire::codec::frames;
using wire::codec::Codec;

class Door final : public Admission {
public:
    Answer publish(const ClientRequest& request, io::Deadline) override {
        asked.push_back(request);
        if (refuses)
            return Error(Errc::denied, "not today");
        StreamPlan plan;
        plan.url = "/" + request.app + "/" + request.stream;
        return plan;
    }
    Answer play(const ClientRequest&, io::Deadline) override { return Error(Errc::denied, "nobody plays"); }
    Result<void> check_play(const ClientRequest&) const override { return {}; }

    std::vector<ClientRequest> asked;
    bool refuses = false;
};

class Events final : public StreamEvents {
public:
    void on_published(const ClientRequest&, const StreamPlan&) override { order.emplace_back("published"); }
    void on_publish_ended(const ClientRequest&, const StreamPlan&) override { order.emplace_back("publish ended"); }
    void on_unpublished(const std::string&) override { order.emplace_back("unpublished"); }
    void on_play_ended(const ClientRequest&, const StreamPlan&) override {}
    void on_closed(const ClientRequest&, const Traffic& traffic) override {
        order.emplace_back("closed");
        received = traffic.received_bytes;
    }
    std::vector<std::string> order;
    std::uint64_t received = 0;
};

// A transport stream of a second, and where its frames begin.
Buffer second_of_stream(int number = 0) {
    wire::ts::TsConverter converter;
    Buffer out;
    EXPECT_TRUE(converter.push_video(frames::config(Codec::avc, wire::codec::avc_vectors().front().record), out).ok());
    EXPECT_TRUE(converter.push_audio(frames::config(Codec::aac, hex("1190")), out).ok());
    for (int i = 0; i < 25; ++i) {
        auto picture =
            i == 0 ? frames::key(Codec::avc, hex("00000004 65aabbcc")) : frames::inter(Codec::avc, hex("00000003 41aabb"));
        picture.dts = std::chrono::seconds(number) + i * 40ms;
        EXPECT_TRUE(converter.push_video(picture, out).ok());
        auto audio = frames::audio(Codec::aac, hex("210a0b0c"));
        audio.dts = picture.dts;
        EXPECT_TRUE(converter.push_audio(audio, out).ok());
    }
    return out;
}

class CasterPort : public testing::Test {
protected:
    ~CasterPort() override { EXPECT_TRUE(io::stop_all({&sessions, &fibers}, io::Deadline::after(io::kSoon)).ok()); }

    // In datagrams of seven packets.
    void send(const Buffer& bytes, std::uint16_t from = 1'000, Duration ago = {}) {
        for (std::size_t at = 0; at < bytes.size(); at += 1'316) {
            Buffer part(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                        bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + 1'316, bytes.size())));
            const io::Datagram one{part, {MUST(parse_ip("192.0.2.7")), from}, {}};
            port.take({&one, 1}, io::now() - ago);
        }
    }
    bool is_published() const {
        const auto source = streams.find("/live/cam");
        return source && source->is_published();
    }
    void wait_published() {
        io::wait_until([this] { return is_published(); });
    }
    void wait_ended() {
        io::wait_until([this] { return !events.order.empty() && events.order.back() == "closed"; });
    }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    Log log;
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    Door door;
    Events events;
    ClientTable clients;
    ConnectionLimits places{10, log};
    Context context{streams, door, events, clients, places};
    io::Scope sessions{"sessions"};
    io::Scope fibers{"fibers"};
    Port port{context, MUST(wire::rtmp::parse_stream_url("rtmp://127.0.0.1/live/cam")), sessions, log};
};

TEST_F(CasterPort, AStreamIsPublishedUntilItsSenderIsSilent) {
    send(second_of_stream(), 1'000, DemuxedInput::kSilenceMax - 200ms);
    EXPECT_FALSE(is_published()) << "its session asks first";
    wait_published();
    EXPECT_EQ(clients.size(), 1u);
    EXPECT_EQ(places.used(), 1u);
    ASSERT_EQ(door.asked.size(), 1u);
    EXPECT_EQ(door.asked[0].ip, "192.0.2.7");
    EXPECT_EQ(door.asked[0].peer, "192.0.2.7:1000");
    EXPECT_EQ(door.asked[0].protocol, "mpegts-udp");
    const auto source = streams.find("/live/cam");
    EXPECT_NE(source->tracks().config_of(MediaKind::video, {}), nullptr) << "what came before admission is not lost";
    EXPECT_NE(source->tracks().config_of(MediaKind::audio, {}), nullptr);
    wait_ended();
    EXPECT_EQ(events.order, (std::vector<std::string>{"published", "publish ended", "unpublished", "closed"}));
    EXPECT_EQ(clients.size(), 0u);
    EXPECT_EQ(places.used(), 0u);
}

TEST_F(CasterPort, OneSenderAtATime) {
    send(second_of_stream(), 1'000);
    wait_published();
    const auto before = port.counters().bytes;
    send(second_of_stream(), 2'000);
    EXPECT_EQ(port.counters().bytes, before);
    EXPECT_GT(port.counters().strangers, 0u);
    EXPECT_EQ(door.asked.size(), 1u);
}

TEST_F(CasterPort, AnotherSenderFollowsAfterSilence) {
    send(second_of_stream(), 1'000, Port::kSenderHolds + 1s);
    wait_ended();
    events.order.clear();
    send(second_of_stream(), 2'000);
    wait_published();
    ASSERT_EQ(door.asked.size(), 2u);
    EXPECT_EQ(door.asked[1].peer, "192.0.2.7:2000");
}

TEST_F(CasterPort, OtherDatagramsOpenNoSession) {
    send(Buffer(1'316, 0x11));
    send(Buffer(1, 0x47));
    send(hex("80a1 0001 00000000 00000001"));
    EXPECT_EQ(port.counters().foreign, 3u) << "the last is RTP without a payload";
    EXPECT_TRUE(door.asked.empty());
    EXPECT_EQ(sessions.size(), 0u);
}

TEST_F(CasterPort, ToleratesGarbageFromTheSender) {
    const Buffer stream = second_of_stream();
    send(stream);
    wait_published();
    send(Buffer(500, 0x47));
    send(Buffer(1'316, 0x11));
    send(second_of_stream(1));
    EXPECT_TRUE(is_published());
    EXPECT_GE(port.reader().counters().skipped_bytes, 1u);
}

TEST_F(CasterPort, RequestsAdmissionAgainForRefusedSender) {
    door.refuses = true;
    send(second_of_stream());
    io::wait_until([this] { return !events.order.empty(); });
    EXPECT_EQ(events.order, std::vector<std::string>{"closed"});
    send(second_of_stream(1));
    io::wait_until([this] { return sessions.size() == 0; });
    EXPECT_EQ(door.asked.size(), 1u) << "not for each frame";
    door.refuses = false;
    send(second_of_stream(2), 1'000, -Port::kRetryAfter - 1s);
    send(second_of_stream(3), 1'000, -Port::kRetryAfter - 1s);
    wait_published();
    EXPECT_NE(streams.find("/live/cam")->tracks().config_of(MediaKind::video, media::TrackId()), nullptr);
}

// The beginning of a picture of 1 MB.
Buffer unfinished_unit() {
    wire::ts::TsConverter converter;
    Buffer out;
    EXPECT_TRUE(converter.push_video(frames::config(Codec::avc, wire::codec::avc_vectors().front().record), out).ok());
    Buffer picture = hex("000f4240 65");
    picture.resize(4 + 1'000'000, 0x5A);
    EXPECT_TRUE(converter.push_video(frames::key(Codec::avc, picture), out).ok());
    out.resize(out.size() / 2 / 188 * 188);
    return out;
}

TEST_F(CasterPort, ARefusedSenderIsNotRead) {
    door.refuses = true;
    send(second_of_stream());
    io::wait_until([this] { return sessions.size() == 0 && !events.order.empty(); });
    send(unfinished_unit());
    EXPECT_EQ(port.reader().held_bytes(), 0u) << "nobody would count it";
    EXPECT_GT(port.counters().left_out, 100u);
}

TEST_F(CasterPort, DropsUnfinishedFramesOfSilentSender) {
    send(unfinished_unit(), 1'000, DemuxedInput::kSilenceMax);
    EXPECT_GT(port.reader().held_bytes(), 400'000u);
    port.forget_silent(io::now() - 1s);
    EXPECT_GT(port.reader().held_bytes(), 400'000u);
    // A pause of the process is no silence of the sender: on a busy machine the silence begins with the test.
    port.forget_silent(io::now() + DemuxedInput::kSilenceMax);
    EXPECT_EQ(port.reader().held_bytes(), 0u);
}

TEST_F(CasterPort, AKickEndsTheStream) {
    send(second_of_stream());
    wait_published();
    clients.for_each([](ClientEntry& entry) { entry.kick("an operator said so"); });
    wait_ended();
    send(second_of_stream(1));
    EXPECT_EQ(door.asked.size(), 1u) << "and its sender does not come back at once";
}

TEST_F(CasterPort, WithoutAPlaceThereIsNoStream) {
    places.set_limits(0, {});
    send(second_of_stream());
    io::wait_until([this] { return sessions.size() == 0; });
    EXPECT_TRUE(door.asked.empty());
    EXPECT_FALSE(is_published());
}

TEST_F(CasterPort, ReceivesByMulticastToo) {
    const auto address = parse_listen_address("239.77.1.9@127.0.0.1:0/lo");
    EXPECT_FALSE(address.ok()) << "port 0";
    ListenAddress any{{"239.77.1.9", 0}, true, "127.0.0.1", "lo", false};
    const auto listening = port.listen(any);
    if (!listening.ok())
        GTEST_SKIP() << "no multicast here: " << listening.error().text();
    ASSERT_TRUE(port.start(fibers).ok());
    auto sender = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 20));
    const Buffer stream = second_of_stream();
    const TransportAddress to{MUST(parse_ip("239.77.1.9")), port.port_number()};
    for (std::size_t at = 0; at < stream.size(); at += 1'316) {
        const io::GsoBatch batch{Bytes(stream).subspan(at, std::min<std::size_t>(1'316, stream.size() - at)), 1'316, to, {}};
        ASSERT_EQ(sender->send({&batch, 1}), 1u);
    }
    wait_published();
    EXPECT_EQ(door.asked[0].ip, "127.0.0.1");
}

}  // namespace
}  // namespace live::session::mpegts
