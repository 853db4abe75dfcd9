#include "session/gb28181/server.hpp"

#include <gtest/gtest.h>

#include "engine/gb28181/rtp_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::session::gb28181 {
namespace {

using engine::gb28181::Camera;
using engine::gb28181::kSsrc;
using Buffer = std::vector<std::uint8_t>;

class Admitter final : public Admission {
public:
    Answer publish(const ClientRequest& request, io::Deadline) override {
        asked.push_back(request);
        if (refuses)
            return Error(Errc::denied, "not today");
        StreamPlan plan;
        plan.url = "/" + request.app + "/" + request.stream;
        plan.publish.normal_timeout = silence;
        return plan;
    }
    Answer play(const ClientRequest&, io::Deadline) override { return Error(Errc::denied, "nobody plays"); }
    Result<void> check_play(const ClientRequest&) const override { return {}; }

    std::vector<ClientRequest> asked;
    bool refuses = false;
    std::chrono::milliseconds silence{60'000};
};

class EventList final : public StreamEvents {
public:
    void on_published(const ClientRequest&, const StreamPlan&) override { order.emplace_back("published"); }
    void on_publish_ended(const ClientRequest&, const StreamPlan&) override { order.emplace_back("publish ended"); }
    void on_unpublished(const std::string&) override { order.emplace_back("unpublished"); }
    void on_play_ended(const ClientRequest&, const StreamPlan&) override {}
    void on_closed(const ClientRequest&, const Traffic&) override { order.emplace_back("closed"); }
    std::vector<std::string> order;
};

class GbServer : public testing::Test {
protected:
    GbServer() {
        MUST(server.add(MUST(io::TcpListener::listen({"127.0.0.1", 0}))));
        MUST(server.add(MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1U << 16))));
        MUST(server.start());
    }
    ~GbServer() override { EXPECT_TRUE(io::stop_all({&listeners, &connections}, io::Deadline::after(io::kSoon)).ok()); }

    Result<OpenedSession> open(const std::string& id, std::uint32_t ssrc, Transport transport = Transport::udp) {
        return server.open({.id = id, .ssrc = ssrc, .transport = transport});
    }
    void send(Camera& camera, std::size_t size = 2'000, std::uint16_t from = 1'000, const std::string& own_id = {}) {
        for (Buffer& packet : camera.image(size)) {
            const io::Datagram one{packet, {MUST(parse_ip("192.0.2.7")), from}, {}};
            server.take({&one, 1}, own_id, io::now());
        }
    }
    bool is_published(const std::string& id = "cam") const {
        const auto source = streams.find("/live/" + id);
        return source && source->is_published();
    }
    void wait_published(const std::string& id = "cam") {
        io::wait_until([&] { return is_published(id); });
    }
    void wait_released() {
        io::wait_until([&] { return server.sessions() == 0; });
    }
    std::unique_ptr<io::TcpStream> connect(std::uint16_t port) {
        return MUST(io::TcpStream::connect({"127.0.0.1", port}, io::Deadline::after(io::kSoon)));
    }
    void write(io::TcpStream& stream, const std::vector<Buffer>& packets) {
        Buffer framed;
        for (const Buffer& packet : packets)
            engine::gb28181::append_framed(framed, packet);
        const ::iovec part = io::as_part(framed);
        MUST(stream.write_all({&part, 1}, io::Deadline::after(io::kSoon)));
    }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    Log log;
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    Admitter admission;
    EventList events;
    ClientTable clients;
    ConnectionLimits places{10, log};
    Buffer scratch = Buffer(64U << 10);
    io::Scope listeners{"listeners"};
    io::Scope connections{"connections"};
    Server server{{streams, admission, events, clients, places, scratch, {"rtmp://127.0.0.1/live/[stream]", 10s}},
                  listeners,
                  connections,
                  log};
};

TEST_F(GbServer, ADatagramOfAnOpenedSessionPublishesItsStream) {
    const auto opened = open("cam", kSsrc);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    EXPECT_FALSE(opened->is_tcp);
    EXPECT_GT(opened->port, 0);
    Camera camera;
    for (int i = 0; i < 3; ++i)
        send(camera);
    wait_published();
    ASSERT_EQ(admission.asked.size(), 1u);
    EXPECT_EQ(admission.asked[0].peer, "192.0.2.7:1000");
    EXPECT_EQ(admission.asked[0].protocol, "gb28181-udp");
    EXPECT_EQ(name_of(admission.asked[0].kind), "gb28181-publish");
    EXPECT_EQ(clients.size(), 1u);
    EXPECT_EQ(places.used(), 1u);
    io::wait_until([&] { return streams.find("/live/cam")->tracks().config_of(MediaKind::video, {}) != nullptr; });
    const auto listed = server.list();
    ASSERT_EQ(listed.size(), 1u);
    EXPECT_TRUE(listed[0].is_publishing);
    EXPECT_EQ(listed[0].device, "192.0.2.7:1000");
    EXPECT_EQ(listed[0].codecs, std::vector<std::string>{"H264"});
    EXPECT_TRUE(server.close("cam").ok());
    wait_released();
    EXPECT_EQ(events.order, (std::vector<std::string>{"published", "publish ended", "unpublished", "closed"}));
    EXPECT_EQ(server.totals().packets, 6u);
    EXPECT_TRUE(open("cam", kSsrc).ok()) << "id and SSRC are free again";
}

TEST_F(GbServer, AConnectionIsFoundByItsFirstPacket) {
    const auto opened = open("cam", kSsrc, Transport::tcp);
    ASSERT_TRUE(opened.ok());
    EXPECT_TRUE(opened->is_tcp);
    const auto stream = connect(opened->port);
    Camera camera;
    write(*stream, camera.image(100'000));
    wait_published();
    EXPECT_EQ(admission.asked[0].protocol, "gb28181-tcp");
    stream->close();
    wait_released();
    EXPECT_FALSE(is_published());
}

TEST_F(GbServer, AConnectionThatIsReadOnTicksLosesNothingAndEndsAtOnce) {
    const auto stream = connect(MUST(open("cam", kSsrc, Transport::tcp)).port);
    Camera camera;
    std::size_t sent = 0;
    for (int i = 0; i < 5; ++i) {
        const auto packets = camera.image(i == 0 ? 300'000 : 5'000);
        sent += packets.size();
        write(*stream, packets);
        io::wait_until([&] { return server.totals().packets == sent; });
    }
    EXPECT_TRUE(server.close("cam").ok());
    wait_released();
    EXPECT_EQ(server.totals().packets, sent);
    EXPECT_EQ(events.order.back(), "closed");
}

TEST_F(GbServer, TheSsrcMayBecomeKnownAfterTheConnection) {
    const std::uint16_t port = MUST(open("other", 1, Transport::tcp)).port;
    const auto stream = connect(port);
    Camera camera;
    write(*stream, camera.image(100));
    io::wait_until([&] { return server.traffic().received_bytes > 0; });
    ASSERT_TRUE(open("cam", kSsrc, Transport::tcp).ok());
    write(*stream, camera.image(100));
    wait_published();
}

TEST_F(GbServer, SomebodyElseCannotTakeASessionOver) {
    ASSERT_TRUE(open("cam", kSsrc).ok());
    Camera camera;
    send(camera);
    wait_published();
    Camera forged;
    send(forged, 2'000, 1'001);
    const auto stream = connect(MUST(open("tcp", 5, Transport::tcp)).port);
    Camera tcp;
    write(*stream, tcp.image(10));
    io::wait_until([&] { return server.totals().strangers == 3; });
    EXPECT_EQ(server.list()[0].device, "192.0.2.7:1000");
    EXPECT_EQ(server.totals().packets, 2u);
    std::uint8_t byte = 0;
    EXPECT_EQ(stream->read_some({&byte, 1}, io::Deadline::after(io::kSoon)).code(), Errc::closed);
}

TEST_F(GbServer, ARefusedDeviceLosesItsSession) {
    admission.refuses = true;
    ASSERT_TRUE(open("cam", kSsrc).ok());
    Camera camera;
    send(camera);
    wait_released();
    send(camera);
    EXPECT_GT(server.totals().strangers, 0u);
}

TEST_F(GbServer, ASilentDeviceLosesItsSession) {
    admission.silence = 50ms;
    ASSERT_TRUE(open("cam", kSsrc).ok());
    Camera camera;
    send(camera);
    wait_released();
    EXPECT_EQ(events.order.back(), "closed");
}

TEST_F(GbServer, ThisServerConnectsToActiveDevices) {
    const auto device = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    OpenRequest request{.id = "cam", .ssrc = kSsrc, .transport = Transport::tcp_active};
    EXPECT_EQ(server.connect("cam", device->endpoint()).code(), Errc::not_found);
    ASSERT_TRUE(server.open(request).ok());
    ASSERT_TRUE(server.connect("cam", device->endpoint()).ok());
    EXPECT_EQ(server.connect("cam", device->endpoint()).code(), Errc::conflict);
    const auto stream = MUST(device->accept(io::Deadline::after(io::kSoon)));
    Camera camera;
    write(*stream, camera.image(100));
    wait_published();
}

TEST_F(GbServer, AnActiveDeviceThatDoesNotAnswerLosesItsSession) {
    auto device = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    const Endpoint closed = device->endpoint();
    device.reset();
    ASSERT_TRUE(server.open({.id = "cam", .ssrc = kSsrc, .transport = Transport::tcp_active, .device = closed}).ok());
    wait_released();
}

TEST_F(GbServer, AClosedServerOpensNothingAndKeepsItsDevices) {
    const std::uint16_t tcp = MUST(open("tcp", 5, Transport::tcp)).port;
    ASSERT_TRUE(open("cam", kSsrc).ok());
    Camera camera;
    send(camera);
    wait_published();
    server.close();
    EXPECT_EQ(open("other", 6).code(), Errc::system);
    EXPECT_FALSE(io::TcpStream::connect({"127.0.0.1", tcp}, io::Deadline::after(io::kSoon)).ok());
    send(camera);
    EXPECT_EQ(server.totals().packets, 4u);
    EXPECT_TRUE(is_published());
}

TEST_F(GbServer, ASessionMayHaveAPortForAnySsrc) {
    const auto udp = server.open({.id = "udp", .ssrc = {}, .transport = Transport::udp, .device = {}, .port = 0});
    ASSERT_TRUE(udp.ok()) << udp.error().text();
    EXPECT_NE(udp->port, MUST(open("cam", 5)).port);
    Camera camera;
    send(camera, 2'000, 1'000, "udp");
    wait_published("udp");
    EXPECT_EQ(server.list()[1].ssrc, kSsrc);
    const auto tcp = server.open({.id = "tcp", .ssrc = {}, .transport = Transport::tcp, .device = {}, .port = 0});
    ASSERT_TRUE(tcp.ok());
    const auto stream = connect(tcp->port);
    Camera other(77);
    write(*stream, other.image(100));
    wait_published("tcp");
    EXPECT_EQ(server.open({.id = "taken", .ssrc = {}, .transport = Transport::tcp, .device = {}, .port = tcp->port}).code(),
              Errc::conflict);
    EXPECT_TRUE(server.close("udp").ok());
    EXPECT_TRUE(server.close("tcp").ok());
    EXPECT_TRUE(server.close("cam").ok());
    wait_released();
}

TEST_F(GbServer, RefusesNamesThatAreNoStreams) {
    for (const char* id : {"", "a/b", "..", "a?b"})
        EXPECT_EQ(open(id, 9).code(), Errc::malformed) << id;
    EXPECT_EQ(server.open({.id = "cam", .ssrc = 9, .transport = Transport::tcp, .device = Endpoint{"192.0.2.7", 1}}).code(),
              Errc::malformed)
        << "the device connects";
    EXPECT_EQ(server.open({.id = "cam"}).code(), Errc::malformed) << "an SSRC is needed";
    EXPECT_EQ(server.close("cam").code(), Errc::not_found);
}

TEST(GbOutput, ReplacesTheStream) {
    EXPECT_EQ(output_of("rtmp://127.0.0.1/live/[stream]", "34020000001320000001").value(),
              "rtmp://127.0.0.1/live/34020000001320000001");
    EXPECT_EQ(output_of("", "a").value(), "rtmp://127.0.0.1/live/a");
    EXPECT_EQ(output_of("rtmp://127.0.0.1/[app]/[stream]", "a").value(), "rtmp://127.0.0.1/live/a");
    EXPECT_EQ(output_of("rtmp://127.0.0.1/live/one", "a").code(), Errc::malformed);
    EXPECT_EQ(output_of("rtmp://127.0.0.1/live/[stream]-[port]", "a").code(), Errc::malformed);
    EXPECT_EQ(output_of("http://127.0.0.1/live/[stream]", "a").code(), Errc::malformed);
}

// Expiry needs a server of its own, with a short limit.
TEST_F(GbServer, ASessionWithoutADeviceIsReleased) {
    Server quick{{streams, admission, events, clients, places, scratch, {"rtmp://127.0.0.1/live/[stream]", 30ms}},
                 listeners,
                 connections,
                 log};
    MUST(quick.start());
    for (std::uint32_t i = 1; i <= 5'000; ++i)
        ASSERT_TRUE(quick.open({.id = "c" + std::to_string(i), .ssrc = i}).ok());
    io::wait_until([&] { return quick.sessions() == 0; });
    EXPECT_EQ(quick.totals().expired, 5'000u);
    EXPECT_EQ(events.order.size(), 0u);
    EXPECT_TRUE(listeners.stop(io::Deadline::after(io::kSoon)).ok());
}

}  // namespace
}  // namespace live::session::gb28181
