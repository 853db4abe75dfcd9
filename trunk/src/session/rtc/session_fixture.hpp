// For tests of whole sessions: the parts that app provides, with an operator who admits everyone, and clients of our own engine
// over loopback. Only tests include it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/webrtc/client_session.hpp"
#include "engine/webrtc/play_session.hpp"
#include "engine/webrtc/publish_session.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "session/rtc/session_opener.hpp"

namespace live::session::rtc {

class OpenDoor final : public Admission {
public:
    Answer publish(const ClientRequest& request, io::Deadline) override { return TRY(plan_for(request)); }
    Answer play(const ClientRequest& request, io::Deadline) override { return TRY(plan_for(request)); }
    Result<void> check_play(const ClientRequest& request) const override {
        TRY(plan_for(request));
        return {};
    }

    std::string refuses;  // a stream
    media::BridgeOptions bridge;

private:
    Result<StreamPlan> plan_for(const ClientRequest& request) const {
        if (request.stream == refuses)
            return Error(Errc::denied, "not today");
        StreamPlan plan;
        plan.url = "/" + request.app + "/" + request.stream;
        plan.play.bridge = bridge;
        return plan;
    }
};

class RecordedEvents final : public StreamEvents {
public:
    void on_published(const ClientRequest& request, const StreamPlan&) override {
        order.push_back("published " + request.stream);
    }
    void on_publish_ended(const ClientRequest& request, const StreamPlan&) override {
        order.push_back("publish ended " + request.stream);
    }
    void on_unpublished(const std::string&) override {}
    void on_play_ended(const ClientRequest& request, const StreamPlan&) override {
        order.push_back("play ended " + request.stream);
    }
    void on_closed(const ClientRequest&, const Traffic&) override { order.push_back("closed"); }
    std::vector<std::string> order;
};

class OneVhost final : public RtcVhosts {
public:
    Result<RtcOptions> find(const std::string& vhost) const override {
        if (vhost == "off.example")
            return Error(Errc::not_found, "virtual host off.example has no WebRTC");
        return options;
    }
    RtcServerOptions server() const override { return server_options; }
    bool shows_bearer() const override { return true; }

    RtcOptions options;
    RtcServerOptions server_options;
};

constexpr std::uint32_t kAudioSsrc = 0xA0A0A0;
constexpr std::uint32_t kVideoSsrc = 0xB0B0B0;
constexpr std::uint8_t kAudioType = 111;
constexpr std::uint8_t kVideoType = 102;

// A shortened browser offer: audio and video. `direction` is the client's.
inline std::string offer_of(const std::string& direction, const std::string& fingerprint, const std::string& ufrag = "them") {
    std::string text = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n";
    const auto section = [&](const std::string& kind, int type, const std::string& codec, const std::string& mid,
                             std::uint32_t ssrc) {
        const std::string number = std::to_string(type);
        text += "m=" + kind + " 9 UDP/TLS/RTP/SAVPF " + number + "\r\nc=IN IP4 0.0.0.0\r\na=ice-ufrag:" + ufrag +
                "\r\na=ice-pwd:0123456789abcdef01234567\r\na=fingerprint:sha-256 " + fingerprint +
                "\r\na=setup:actpass\r\na=mid:" + mid + "\r\na=" + direction + "\r\na=rtcp-mux\r\na=rtpmap:" + number + " " +
                codec + "\r\na=rtcp-fb:" + number + " nack\r\na=rtcp-fb:" + number + " nack pli\r\n";
        if (direction != "recvonly")
            text += "a=ssrc:" + std::to_string(ssrc) + " cname:c\r\n";
    };
    section("audio", kAudioType, "opus/48000/2", "0", kAudioSsrc);
    section("video", kVideoType, "H264/90000", "1", kVideoSsrc);
    return text + "a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f\r\n";
}

// The value after `name` in the first line that contains it.
inline std::string value_in(const std::string& sdp, const std::string& name) {
    const std::size_t at = sdp.find(name);
    EXPECT_NE(at, std::string::npos) << name << " in " << sdp;
    return at == std::string::npos ? "" : sdp.substr(at + name.size(), sdp.find('\r', at) - at - name.size());
}

// The client's end of one session, over UDP.
class TestClient {
public:
    // `purpose` is the client's.
    TestClient(const engine::dtls::Context& context, const std::string& answer, wire::sdp::Purpose purpose,
               const TransportAddress& server)
        : socket_(io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 16).value()) {
        engine::webrtc::ClientSession::Options options;
        const std::string ufrag = value_in(answer, "a=ice-ufrag:");
        const std::string pwd = value_in(answer, "a=ice-pwd:");
        options.ice = {.remote = server, .local_ufrag = "them", .remote_ufrag = ufrag, .remote_pwd = pwd};
        auto& session = options.session;
        options.make = purpose == wire::sdp::Purpose::publish
                           ? engine::webrtc::ClientSession::maker_of<engine::webrtc::PlaySession>()
                           : engine::webrtc::ClientSession::maker_of<engine::webrtc::PublishSession>();
        session.audio_ssrc = kAudioSsrc;
        session.video_ssrc = kVideoSsrc;
        session.agreement.setup = wire::sdp::SetupRole::active;
        session.agreement.remote_ufrag = ufrag;
        session.agreement.remote_pwd = pwd;
        session.agreement.remote_fingerprint = {"sha-256", value_in(answer, "a=fingerprint:sha-256 ")};
        for (const bool is_video : {false, true}) {
            wire::sdp::Accepted section;
            section.index = is_video ? 1 : 0;
            section.kind = is_video ? MediaKind::video : MediaKind::audio;
            section.mid = is_video ? "1" : "0";
            section.codec.payload_type = is_video ? kVideoType : kAudioType;
            section.codec.name = is_video ? "H264" : "opus";
            section.codec.clock_rate = is_video ? 90'000 : 48'000;
            section.codec.channels = is_video ? 0 : 2;
            section.codec.feedback = {"nack", "nack pli"};
            session.agreement.sections.push_back(std::move(section));
        }
        session_ = std::make_unique<engine::webrtc::ClientSession>(context, std::move(options), output_, io::now());
    }

    // Until both ends have keys, or it takes too long.
    bool connect() {
        const TimePoint end = io::now() + io::kSoon;
        while (!session_->is_established() && io::now() < end)
            step();
        step();
        return session_->is_established();
    }
    // Sends pending output, and takes what arrives within some milliseconds.
    void step() {
        static_cast<void>(session_->handle_timeout(io::now()));
        flush();
        const auto came = socket_->receive(io::Deadline::after(kStep));
        if (came.ok())
            for (const io::Datagram& datagram : *came)
                if (!session_->handle_datagram(io::now(), datagram.bytes, datagram.from).ok())
                    has_failed = true;
        if (auto* const receiving = dynamic_cast<engine::webrtc::PublishSession*>(session_->session()); receiving != nullptr)
            while (auto packet = receiving->poll_media())
                media.push_back(std::move(*packet));
        flush();
    }
    // Runs for at least `time`, and for at least time / kStep steps, so that the server runs even if the process was suspended.
    void run(std::chrono::milliseconds time) {
        const TimePoint end = io::now() + time;
        for (auto left = time; left > 0ms || io::now() < end; left -= kStep)
            step();
    }
    void send(MediaKind kind, std::uint16_t sequence, std::uint32_t timestamp, Bytes payload) {
        sender().send(io::now(), kind, {.sequence = sequence, .timestamp = timestamp, .marker = true}, payload);
        flush();
    }
    void close() {
        session_->close(io::now());
        flush();
    }
    engine::webrtc::PublishSession& receiver() { return dynamic_cast<engine::webrtc::PublishSession&>(*session_->session()); }
    engine::webrtc::PlaySession& sender() { return dynamic_cast<engine::webrtc::PlaySession&>(*session_->session()); }

    std::vector<engine::rtp::MediaPacket> media;
    bool has_failed = false;

private:
    static constexpr std::chrono::milliseconds kStep{5};

    void flush() {
        output_.for_each([this](const TransportAddress& to, Bytes datagram) {
            const io::GsoBatch gso{datagram, datagram.size(), to, {}};
            socket_->send({&gso, 1});
        });
        output_.clear();
    }

    std::unique_ptr<io::UdpSocket> socket_;
    engine::webrtc::DatagramBatch output_;
    std::unique_ptr<engine::webrtc::ClientSession> session_;
};

struct SessionFixture : ::testing::Test {
    SessionFixture() {
        certificate = engine::dtls::Certificate::make().value();
        client_context = engine::dtls::Context::create(*certificate).value();
        fingerprint = certificate->fingerprint().value();
        loop = io::Loop::create().value();
        port = std::make_unique<Port>(io::now(), log);
        EXPECT_TRUE(port->listen({"127.0.0.1", 0}).ok());
        EXPECT_TRUE(port->start(scope).ok());
        players = std::make_unique<Players>(*port);
        EXPECT_TRUE(players->start(scope).ok());
        context = std::make_unique<Context>(Context{streams, vhosts, door, stream_events, clients, places, *port, *players, log});
        make_opener();
        server.ip = parse_ip("127.0.0.1").value();
        server.port = port->sockets().front()->endpoint().port;
    }
    ~SessionFixture() override {
        EXPECT_TRUE(scope.stop(io::Deadline::after(io::kSoon)).ok());
        port->clear();
    }
    void make_opener() {
        opener = SessionOpener::create(*context).value();
        // Making an RSA key may take seconds under valgrind, and the loop's clock does not advance meanwhile.
        EXPECT_TRUE(io::yield(io::Deadline::never()).ok());
    }

    OfferRequest offer_request(wire::sdp::Purpose purpose, const std::string& stream = "cam") const {
        OfferRequest made;
        made.purpose = purpose;
        made.client.vhost = "h";
        made.client.app = "live";
        made.client.stream = stream;
        made.api_host = "127.0.0.1";
        made.offer = offer_of(purpose == wire::sdp::Purpose::publish ? "sendonly" : "recvonly", fingerprint);
        return made;
    }
    Result<Opened> open(wire::sdp::Purpose purpose, const std::string& stream = "cam") {
        return opener->open(offer_request(purpose, stream), io::Deadline::after(io::kSoon));
    }
    // An admitted and connected client.
    std::unique_ptr<TestClient> come(wire::sdp::Purpose purpose, const std::string& stream = "cam") {
        return come(offer_request(purpose, stream));
    }
    std::unique_ptr<TestClient> come(OfferRequest made) {
        const auto purpose = made.purpose;
        const auto opened = opener->open(std::move(made), io::Deadline::after(io::kSoon));
        EXPECT_TRUE(opened.ok()) << opened.error().text();
        answer = opened->answer;
        auto client = std::make_unique<TestClient>(*client_context, answer, purpose, server);
        EXPECT_TRUE(client->connect());
        return client;
    }

    Log log;
    std::unique_ptr<engine::dtls::Certificate> certificate;
    std::unique_ptr<engine::dtls::Context> client_context;
    std::string fingerprint;
    std::unique_ptr<io::Loop> loop;
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    OneVhost vhosts;
    OpenDoor door;
    RecordedEvents stream_events;
    ClientTable clients;
    ConnectionLimits places{100, log};
    std::unique_ptr<Port> port;
    std::unique_ptr<Players> players;
    std::unique_ptr<Context> context;
    std::unique_ptr<SessionOpener> opener;
    io::Scope scope{"test"};
    TransportAddress server;
    std::string answer;  // the latest one
};

}  // namespace live::session::rtc
