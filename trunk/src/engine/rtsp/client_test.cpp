#include "engine/rtsp/client.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "engine/rtsp/server.hpp"
#include "wire/rtsp/rtsp_vectors.hpp"

namespace live::engine::rtsp {
namespace {

using wire::rtsp::Message;

const TimePoint kNow{std::chrono::hours(1)};

// RFC 2617, 3.5, and RFC 7616, 3.9.1.
TEST(RtspCredentials, AnswersTheVectorsOfTheText) {
    const auto response = [](Credentials credentials, std::string_view challenge, std::string_view client_nonce) {
        EXPECT_TRUE(credentials.accept(*wire::rtsp::parse_challenges(challenge)));
        const std::string header = *credentials.answer("GET", "/dir/index.html", client_nonce);
        const std::size_t at = header.find("response=\"") + std::string_view("response=\"").size();
        return header.substr(at, header.find('"', at) - at);
    };
    EXPECT_EQ(response({"Mufasa", "Circle Of Life"},
                       R"(Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093")",
                       "0a4f113b"),
              "6629fae49393a05397450978507c4ef1");
    const std::string nonces =
        R"(realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v")";
    constexpr std::string_view kClientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
    EXPECT_EQ(response({"Mufasa", "Circle of Life"}, "Digest algorithm=MD5, " + nonces, kClientNonce),
              "8ca523f5e9506fed4657c9700eebdbec");
    EXPECT_EQ(response({"Mufasa", "Circle of Life"}, "Digest algorithm=SHA-256, " + nonces, kClientNonce),
              "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
}

TEST(RtspCredentials, PrefersTheStrongerChallenge) {
    Credentials credentials("a", "b");
    EXPECT_FALSE(credentials.answer("GET", "/", "c"));
    ASSERT_TRUE(credentials.accept(*wire::rtsp::parse_challenges("Basic realm=r")));
    EXPECT_EQ(credentials.answer("GET", "/", "c"), "Basic YTpi");
    ASSERT_TRUE(
        credentials.accept(*wire::rtsp::parse_challenges("Basic realm=r, Digest realm=r, nonce=n, Digest realm=r, nonce=m, "
                                                         "algorithm=SHA-256")));
    EXPECT_NE(credentials.answer("GET", "/", "c")->find("algorithm=SHA-256"), std::string::npos);
    EXPECT_FALSE(credentials.accept(*wire::rtsp::parse_challenges("Digest realm=r, nonce=n, algorithm=other")));
}

class RtspClient : public testing::Test {
protected:
    RtspClient() { client_.start(); }

    Message request() {
        wire::rtsp::MessageReader reader;
        const std::string output = client_.take_output();
        reader.feed(as_bytes(output));
        auto item = reader.next();
        EXPECT_TRUE(item.ok() && *item) << output;
        return item.ok() && *item ? std::get<Message>(**item) : Message();
    }
    Result<std::optional<ClientEvent>> respond(const Message& request, int status,
                                               std::vector<std::pair<std::string, std::string>> headers = {},
                                               std::string body = {}) {
        Message response;
        response.status = status;
        response.reason = "R";
        response.headers = std::move(headers);
        response.headers.emplace_back("CSeq", *request.find("CSeq"));
        response.body = std::move(body);
        client_.handle_bytes(as_bytes(wire::rtsp::write(response)));
        return client_.poll_event(kNow);
    }
    void describe(const std::string& base = {}) {
        EXPECT_TRUE(respond(request(), 200, {{"Public", "OPTIONS, GET_PARAMETER"}}).ok());
        const Message describe = request();
        EXPECT_EQ(describe.method, "DESCRIBE");
        std::vector<std::pair<std::string, std::string>> headers;
        if (!base.empty())
            headers.emplace_back("Content-Base", base);
        auto event = respond(describe, 200, headers, std::string(wire::rtsp::kAnnounceBody));
        ASSERT_TRUE(event.ok() && *event);
        EXPECT_EQ(std::get<Described>(**event).description.media.size(), 2U);
    }

    Client client_{
        ClientOptions{.url = "rtsp://cam:8554/ch1", .user = "u", .password = "p", .product = "m", .client_nonce = "c"}};
};

TEST_F(RtspClient, PlaysTheTracksItIsTold) {
    describe();
    client_.play_tracks({0, 1});
    Message set_up = request();
    EXPECT_EQ(set_up.url, "rtsp://cam:8554/ch1/streamid=0");
    EXPECT_EQ(set_up.find("Transport"), "RTP/AVP/TCP;unicast;interleaved=0-1");
    EXPECT_TRUE(respond(set_up, 200, {{"Session", "s1;timeout=20"}, {"Transport", "RTP/AVP/TCP;interleaved=4-5"}}).ok());
    set_up = request();
    EXPECT_EQ(set_up.find("Session"), "s1");
    EXPECT_TRUE(respond(set_up, 200, {{"Session", "s1"}, {"Transport", "RTP/AVP/TCP;interleaved=2-3"}}).ok());
    const Message play = request();
    EXPECT_EQ(play.method, "PLAY");
    const auto playing = respond(play, 200);
    ASSERT_TRUE(playing.ok() && *playing);
    EXPECT_TRUE(std::holds_alternative<Playing>(**playing));
    ByteWriter frames;
    frames.u8('$').u8(9).u16be(1).text("x").u8('$').u8(5).u16be(2).text(
        "\x80"
        "b");
    client_.borrow_bytes(frames.written());
    EXPECT_FALSE(client_.poll_packet()) << "a frame of another channel comes first";
    const auto packet = client_.poll_event(kNow);
    ASSERT_TRUE(packet.ok() && *packet);
    EXPECT_EQ(std::get<GotPacket>(**packet).track, 0U);
    EXPECT_TRUE(std::get<GotPacket>(**packet).is_rtcp);
    client_.keep_bytes();
    ByteWriter more;
    more.u8('$').u8(2).u16be(2).text(
        "\x80"
        "c");
    client_.borrow_bytes(more.written());
    const auto quick = client_.poll_packet();
    ASSERT_TRUE(quick);
    EXPECT_EQ(quick->track, 1U);
    EXPECT_EQ(as_text(quick->bytes.subspan(1)), "c");
    EXPECT_FALSE(client_.poll_packet());
    EXPECT_EQ(*client_.next_timeout(), kNow + 16s);
    client_.handle_timeout(kNow);
    EXPECT_FALSE(client_.has_output());
    client_.handle_timeout(kNow + 16s);
    const Message keep_alive = request();
    EXPECT_EQ(keep_alive.method, "GET_PARAMETER");
    EXPECT_TRUE(respond(keep_alive, 454).ok()) << "the media counts, not this answer";
}

TEST_F(RtspClient, AsksForUdpAndThenForTheConnection) {
    describe();
    client_.play_tracks({0, 1}, {{{6000, 6001}, {6002, 6003}}, true});
    Message set_up = request();
    EXPECT_EQ(set_up.find("Transport"), "RTP/AVP;unicast;client_port=6000-6001");
    EXPECT_TRUE(respond(set_up, 461).ok());
    set_up = request();
    EXPECT_EQ(set_up.find("Transport"), "RTP/AVP/TCP;unicast;interleaved=0-1");
    EXPECT_TRUE(respond(set_up, 200, {{"Session", "s"}, {"Transport", "RTP/AVP;unicast;interleaved=0-1"}}).ok());
    EXPECT_EQ(client_.transport(0)->lower, wire::rtsp::Transport::Lower::tcp) << "some devices leave /TCP out";
    EXPECT_EQ(request().find("Transport"), "RTP/AVP/TCP;unicast;interleaved=2-3");
}

TEST_F(RtspClient, KeepsThePortsOfTheOtherSide) {
    describe();
    client_.play_tracks({1}, {{{6000, 6001}}, false});
    const Message set_up = request();
    EXPECT_TRUE(respond(set_up, 200, {{"Transport", "RTP/AVP;unicast;client_port=6000-6001;server_port=7000-7001"}}).ok());
    EXPECT_EQ(client_.transport(0), nullptr);
    EXPECT_EQ(client_.transport(1)->server_port, (wire::rtsp::NumberPair{7000, 7001}));
    EXPECT_EQ(request().method, "PLAY");
}

TEST_F(RtspClient, RefusesAnotherTransportThanTheOneItMayUse) {
    describe();
    client_.play_tracks({0}, {{{6000, 6001}}, false});
    EXPECT_EQ(respond(request(), 461).code(), Errc::unsupported);
}

TEST_F(RtspClient, GivesUpAContentBaseThatIsUnknown) {
    describe("rtsp://cam:8554/wrong/");
    client_.play_tracks({0});
    Message set_up = request();
    EXPECT_EQ(set_up.url, "rtsp://cam:8554/wrong/streamid=0");
    EXPECT_TRUE(respond(set_up, 404).ok());
    set_up = request();
    EXPECT_EQ(set_up.url, "rtsp://cam:8554/ch1/streamid=0");
    EXPECT_EQ(respond(set_up, 404).code(), Errc::not_found);
}

TEST_F(RtspClient, EndsAfterTooMuchGarbage) {
    describe();
    client_.play_tracks({0});
    EXPECT_TRUE(respond(request(), 200, {{"Transport", "RTP/AVP/TCP;interleaved=0-1"}}).ok());
    EXPECT_TRUE(respond(request(), 200).ok());
    const std::string garbage(Client::kGarbageBytesMax, 'x');
    client_.handle_bytes(as_bytes(garbage));
    EXPECT_TRUE(client_.poll_event(kNow).ok());
    client_.handle_bytes(as_bytes("x"));
    EXPECT_EQ(client_.poll_event(kNow).code(), Errc::malformed);
}

TEST_F(RtspClient, AnswersChallengesInBothForms) {
    EXPECT_TRUE(respond(request(), 200).ok());
    Message describe = request();
    EXPECT_FALSE(describe.find("Authorization"));
    for (const char* nonce : {"n1", "n2", "n3"}) {
        ASSERT_TRUE(respond(describe, 401, {{"WWW-Authenticate", std::string("Digest realm=r, nonce=") + nonce}}).ok());
        describe = request();
        EXPECT_NE(describe.find("Authorization")->find(nonce), std::string_view::npos);
        const char* uri = std::string_view(nonce) == "n1" ? "uri=\"rtsp://cam:8554/ch1\"" : "uri=\"/ch1\"";
        EXPECT_NE(describe.find("Authorization")->find(uri), std::string_view::npos);
    }
    EXPECT_EQ(respond(describe, 401, {{"WWW-Authenticate", "Digest realm=r, nonce=n4"}}).code(), Errc::denied);
}

TEST_F(RtspClient, SendsABasicPasswordOnce) {
    EXPECT_TRUE(respond(request(), 200).ok());
    ASSERT_TRUE(respond(request(), 401, {{"WWW-Authenticate", "Basic realm=r"}}).ok());
    EXPECT_EQ(respond(request(), 401, {{"WWW-Authenticate", "Basic realm=r"}}).code(), Errc::denied);
}

TEST_F(RtspClient, KeepsTheFormOfTheUrlForAStaleNonce) {
    EXPECT_TRUE(respond(request(), 200).ok());
    ASSERT_TRUE(respond(request(), 401, {{"WWW-Authenticate", "Digest realm=r, nonce=n1"}}).ok());
    ASSERT_TRUE(respond(request(), 401, {{"WWW-Authenticate", "Digest realm=r, nonce=n2, stale=true"}}).ok());
    const Message again = request();
    EXPECT_NE(again.find("Authorization")->find("uri=\"rtsp://cam:8554/ch1\""), std::string_view::npos);
}

TEST_F(RtspClient, ReportsRedirectsAndRefusals) {
    const Message options = request();
    const auto redirected = respond(options, 302, {{"Location", "rtsp://other/ch1"}});
    ASSERT_TRUE(redirected.ok() && *redirected);
    EXPECT_EQ(std::get<Redirected>(**redirected).url, "rtsp://other/ch1");
    EXPECT_TRUE(respond(options, 501).ok()) << "some devices have no OPTIONS";
    EXPECT_EQ(respond(request(), 404).code(), Errc::not_found);
}

// Cameras write private addresses.
TEST_F(RtspClient, KeepsTheHostOfTheConnection) {
    describe("rtsp://10.0.0.1/ch1/sub/");
    client_.play_tracks({1});
    EXPECT_EQ(request().url, "rtsp://cam:8554/ch1/sub/streamid=1");
}

TEST_F(RtspClient, AnswersRequestsOfTheServer) {
    client_.take_output();
    client_.handle_bytes(as_bytes("OPTIONS * RTSP/1.0\r\nCSeq: 9\r\n\r\n"));
    EXPECT_TRUE(client_.poll_event(kNow).ok());
    const Message answer = request();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.find("CSeq"), "9");
}

// Both ends joined in memory.
TEST(RtspPair, PlaysFromOurServer) {
    Client client({.url = "rtsp://h/live/cam", .user = {}, .password = {}, .product = "c", .client_nonce = "n"});
    Server server(ServerOptions{.product = "p", .session_id = "abc"});
    client.start();
    bool plays = false;
    for (int turn = 0; turn < 20 && !plays; ++turn) {
        server.handle_bytes(as_bytes(client.take_output()));
        const auto asked = server.poll_event();
        ASSERT_TRUE(asked.ok());
        if (*asked && std::holds_alternative<WantsToDescribe>(**asked))
            server.accept_describe(wire::rtsp::kAnnounceBody, 2);
        else if (*asked && std::holds_alternative<WantsToSetUp>(**asked))
            server.accept_set_up(std::get<WantsToSetUp>(**asked).transport);
        else if (*asked && std::holds_alternative<WantsToPlay>(**asked))
            server.accept_play({});
        client.handle_bytes(as_bytes(server.take_output()));
        const auto event = client.poll_event(kNow);
        ASSERT_TRUE(event.ok());
        if (*event && std::holds_alternative<Described>(**event))
            client.play_tracks({0, 1});
        plays = *event && std::holds_alternative<Playing>(**event);
    }
    EXPECT_TRUE(plays);
    EXPECT_EQ(server.state(), Server::State::active);
    client.tear_down();
    server.handle_bytes(as_bytes(client.take_output()));
    EXPECT_TRUE(std::holds_alternative<TornDown>(**server.poll_event()));
}

}  // namespace
}  // namespace live::engine::rtsp
