#include "engine/rtsp/server.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "wire/rtsp/rtsp_vectors.hpp"

namespace live::engine::rtsp {
namespace {

using wire::rtsp::Message;
using wire::rtsp::NumberPair;
using wire::rtsp::Transport;

constexpr std::string_view kUrl = "rtsp://h/live/cam";
constexpr std::string_view kTcp = "RTP/AVP/TCP;unicast;interleaved=0-1";

class RtspServer : public testing::Test {
protected:
    // Sends a request, and returns the event that it leads to.
    std::optional<Event> request(std::string_view method, std::string_view url, Message more = {}) {
        more.method = method;
        more.url = url;
        more.headers.insert(more.headers.begin(), {"CSeq", std::to_string(++sequence_)});
        server_.handle_bytes(as_bytes(wire::rtsp::write(more)));
        return poll();
    }
    std::optional<Event> poll() {
        auto event = server_.poll_event();
        EXPECT_TRUE(event.ok());
        return event.ok() ? *std::move(event) : std::nullopt;
    }
    Message response() {
        wire::rtsp::MessageReader reader;
        const std::string output = server_.take_output();
        reader.feed(as_bytes(output));
        auto item = reader.next();
        EXPECT_TRUE(item.ok() && *item) << output;
        if (!item.ok() || !*item)
            return {};
        EXPECT_EQ(reader.held_bytes(), 0U) << output;
        return std::get<Message>(**item);
    }
    int status_of(std::string_view method, std::string_view url, Message more = {}) {
        EXPECT_FALSE(request(method, url, std::move(more)));
        const Message answer = response();
        EXPECT_EQ(answer.find("CSeq"), std::to_string(sequence_));
        return answer.status;
    }
    void describe(std::size_t tracks = 2) {
        ASSERT_TRUE(request("DESCRIBE", kUrl));
        server_.accept_describe("v=0\r\n", tracks);
        EXPECT_EQ(response().status, 200);
    }
    void announce() {
        ASSERT_TRUE(request("ANNOUNCE", kUrl,
                            {.headers = {{"Content-Type", "application/sdp"}}, .body = std::string(wire::rtsp::kAnnounceBody)}));
        server_.accept_announce();
        EXPECT_EQ(response().status, 200);
    }
    Message set_up(std::string_view url, std::string_view transport) {
        const auto event = request("SETUP", url, {.headers = {{"Transport", std::string(transport)}}});
        if (event)
            server_.accept_set_up(std::get<WantsToSetUp>(*event).transport);
        return response();
    }
    void play() {
        describe();
        EXPECT_EQ(set_up("rtsp://h/live/cam/trackID=0", kTcp).status, 200);
        ASSERT_TRUE(request("PLAY", "rtsp://h/live/cam/"));
        server_.accept_play({});
        EXPECT_EQ(response().status, 200);
    }

    Server server_{ServerOptions{.product = "p", .session_id = "abc"}};
    int sequence_ = 0;
};

TEST_F(RtspServer, AsksForCredentialsAndPassesThemOn) {
    const std::string challenge = "Basic realm=\"live\"";
    auto event = request("DESCRIBE", kUrl);
    ASSERT_TRUE(event && std::get<WantsToDescribe>(*event).authorization.empty());
    server_.challenge(std::span(&challenge, 1));
    const Message answer = response();
    EXPECT_EQ(answer.status, 401);
    EXPECT_EQ(answer.find("WWW-Authenticate"), challenge);
    EXPECT_EQ(server_.role(), Server::Role::none);
    event = request("DESCRIBE", kUrl, {.headers = {{"Authorization", "Basic dTpw"}}});
    ASSERT_TRUE(event);
    EXPECT_EQ(std::get<WantsToDescribe>(*event).authorization, "Basic dTpw");
    server_.accept_describe("v=0\r\n", 1);
    EXPECT_EQ(response().status, 200);
}

TEST_F(RtspServer, AnswersOptionsInEveryState) {
    request("OPTIONS", "*");
    const Message answer = response();
    EXPECT_EQ(answer.status, 200);
    EXPECT_NE(answer.find("Public")->find("GET_PARAMETER"), std::string_view::npos);
    EXPECT_FALSE(answer.find("Session"));
    play();
    EXPECT_EQ(status_of("OPTIONS", kUrl), 200);
}

TEST_F(RtspServer, DescribesAndPlaysOverTheConnection) {
    const auto described = request("DESCRIBE", "rtsp://h/live/cam/", {.headers = {{"Accept", "application/sdp"}}});
    ASSERT_TRUE(described);
    EXPECT_EQ(std::get<WantsToDescribe>(*described).url, kUrl);
    server_.accept_describe("v=0\r\n", 2);
    Message answer = response();
    EXPECT_EQ(answer.find("Content-Base"), "rtsp://h/live/cam/");
    EXPECT_EQ(answer.find("Content-Type"), "application/sdp");
    EXPECT_EQ(answer.body, "v=0\r\n");
    answer = set_up("rtsp://h/live/cam/trackID=1", "RTP/AVP/TCP;unicast;interleaved=4-5");
    EXPECT_EQ(answer.find("Transport"), "RTP/AVP/TCP;unicast;interleaved=4-5");
    EXPECT_EQ(answer.find("Session"), "abc;timeout=60");
    EXPECT_EQ(server_.transport(1)->interleaved, (NumberPair{4, 5}));
    EXPECT_EQ(server_.transport(0), nullptr);
    const auto playing = request("PLAY", kUrl, {.headers = {{"Session", "abc"}}});
    ASSERT_TRUE(playing && std::holds_alternative<WantsToPlay>(*playing));
    server_.accept_play(std::array{TrackStart{1, 17, 90'000}});
    answer = response();
    EXPECT_EQ(answer.find("Range"), "npt=now-");
    EXPECT_EQ(answer.find("RTP-Info"), "url=rtsp://h/live/cam/trackID=1;seq=17;rtptime=90000");
    EXPECT_EQ(server_.state(), Server::State::active);
}

TEST_F(RtspServer, ReadsThePacketsOfAPublisher) {
    announce();
    EXPECT_EQ(set_up("rtsp://h/live/cam/streamid=0", "RTP/AVP/TCP;unicast;interleaved=0-1;mode=record").status, 200);
    EXPECT_EQ(set_up("rtsp://h/live/cam/streamid=1", "RTP/AVP/TCP;unicast;interleaved=2-3;mode=record").status, 200);
    ASSERT_TRUE(request("RECORD", kUrl));
    server_.accept_record();
    response();
    ByteWriter out;
    out.u8('$').u8(3).u16be(2).text("ab").u8('$').u8(9).u16be(1).text("x").u8('$').u8(0).u16be(0).u8('$').u8(0).u16be(1).text(
        "c");
    server_.handle_bytes(out.written());
    const auto first = poll();
    ASSERT_TRUE(first);
    EXPECT_EQ(std::get<GotPacket>(*first).track, 1U);
    EXPECT_TRUE(std::get<GotPacket>(*first).is_rtcp);
    const auto second = poll();
    ASSERT_TRUE(second);
    EXPECT_EQ(as_text(std::get<GotPacket>(*second).bytes), "c");
    EXPECT_FALSE(poll());
}

TEST_F(RtspServer, ReadsThePacketsOfAPublisherInPlace) {
    announce();
    EXPECT_EQ(set_up("rtsp://h/live/cam/streamid=0", "RTP/AVP/TCP;unicast;interleaved=0-1;mode=record").status, 200);
    ASSERT_TRUE(request("RECORD", kUrl));
    server_.accept_record();
    response();
    ByteWriter out;
    out.u8('$').u8(0).u16be(2).text("ab").u8('$').u8(0).u16be(3).text("cde");
    const Bytes whole = out.written();
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        std::string got;
        for (const Bytes part : {whole.first(cut), whole.subspan(cut)}) {
            std::vector<std::uint8_t> buffer(part.begin(), part.end());
            server_.borrow_bytes(buffer);
            while (const auto event = poll()) {
                const Bytes packet = std::get<GotPacket>(*event).bytes;
                got += as_text(packet);
                const bool is_whole = cut == 0 || cut == whole.size();
                EXPECT_TRUE(!is_whole || (packet.data() >= buffer.data() && packet.data() < buffer.data() + buffer.size()));
            }
            // The server does not refer to it after its last event.
            std::ranges::fill(buffer, std::uint8_t{0});
        }
        EXPECT_EQ(got, "abcde") << cut;
    }
}

TEST_F(RtspServer, ReadsNothingWhileAQuestionIsOpen) {
    ASSERT_TRUE(request("DESCRIBE", kUrl));
    EXPECT_FALSE(request("OPTIONS", kUrl));
    EXPECT_FALSE(server_.has_output());
    server_.refuse(404);
    EXPECT_EQ(response().status, 404);
    EXPECT_FALSE(poll());
    EXPECT_EQ(response().status, 200);
}

TEST_F(RtspServer, GivesAFreePairOfChannels) {
    describe(4);
    EXPECT_EQ(set_up("rtsp://h/live/cam/trackID=0", kTcp).status, 200);
    EXPECT_EQ(set_up("rtsp://h/live/cam/trackID=1", kTcp).find("Transport"), "RTP/AVP/TCP;unicast;interleaved=2-3");
    EXPECT_EQ(set_up("rtsp://h/live/cam/trackID=2", "RTP/AVP/TCP").find("Transport"), "RTP/AVP/TCP;unicast;interleaved=4-5");
    EXPECT_EQ(set_up("rtsp://h/live/cam/trackID=3", "RTP/AVP/TCP;interleaved=700-701").find("Transport"),
              "RTP/AVP/TCP;unicast;interleaved=6-7");
    // A second SETUP of a track gets the channels that it requests.
    EXPECT_EQ(set_up("rtsp://h/live/cam/trackID=0", kTcp).find("Transport"), kTcp);
}

TEST_F(RtspServer, ChoosesTheFirstTransportThatItHas) {
    describe();
    const auto event = request(
        "SETUP", "rtsp://h/live/cam/trackID=0",
        {.headers = {{"Transport", "RTP/SAVP;client_port=1-2,RTP/AVP;multicast,RTP/AVP;unicast,RTP/AVP;client_port=6-7"}}});
    ASSERT_TRUE(event);
    Transport transport = std::get<WantsToSetUp>(*event).transport;
    EXPECT_EQ(transport.client_port, (NumberPair{6, 7}));
    transport.server_port = NumberPair{6970, 6971};
    server_.accept_set_up(transport);
    EXPECT_EQ(response().find("Transport"), "RTP/AVP;unicast;client_port=6-7;server_port=6970-6971");
    // One way for all tracks.
    EXPECT_EQ(set_up("rtsp://h/live/cam/trackID=1", kTcp).status, 461);
}

TEST_F(RtspServer, RefusesTransportsThatItDoesNotHave) {
    describe();
    for (const std::string_view transport :
         {"", "RTP/SAVP;client_port=1-2", "RTP/AVP;multicast", "RTP/AVP;unicast", "RAW/RAW/UDP", "RTP/AVP/TCP;mode=record"})
        EXPECT_EQ(set_up("rtsp://h/live/cam/trackID=0", transport).status, 461) << transport;
    EXPECT_EQ(server_.state(), Server::State::init);
}

TEST_F(RtspServer, RefusesRequestsOfAnotherState) {
    for (const std::string_view method : {"SETUP", "PLAY", "RECORD", "PAUSE", "TEARDOWN"})
        EXPECT_EQ(status_of(method, kUrl), 455) << method;
    describe();
    EXPECT_EQ(status_of("ANNOUNCE", kUrl), 455);
    for (const std::string_view method : {"PLAY", "RECORD", "PAUSE", "TEARDOWN"})
        EXPECT_EQ(status_of(method, kUrl), 455) << method;
    EXPECT_EQ(set_up("rtsp://h/live/cam/trackID=0", kTcp).status, 200);
    EXPECT_EQ(status_of("RECORD", kUrl), 455);
    EXPECT_EQ(status_of("DESCRIBE", kUrl), 455);
    ASSERT_TRUE(request("PLAY", kUrl));
    server_.accept_play({});
    response();
    EXPECT_EQ(status_of("SETUP", "rtsp://h/live/cam/trackID=1"), 455);
    EXPECT_EQ(status_of("PLAY", kUrl), 200);
}

TEST_F(RtspServer, RefusesWhatItDoesNotKnow) {
    EXPECT_EQ(status_of("REDIRECT", kUrl), 501);
    EXPECT_EQ(status_of("OPTIONS", kUrl, {.headers = {{"Require", "funky"}}}), 551);
    EXPECT_EQ(status_of("DESCRIBE", kUrl, {.headers = {{"Accept", "text/plain"}}}), 406);
    EXPECT_EQ(status_of("ANNOUNCE", kUrl, {.headers = {{"Content-Type", "text/plain"}}}), 415);
    EXPECT_EQ(status_of("ANNOUNCE", kUrl, {.headers = {{"Content-Type", "application/sdp"}}}), 400);
    describe();
    EXPECT_EQ(status_of("SETUP", "rtsp://h/live/cam"), 459);
    EXPECT_EQ(status_of("SETUP", "rtsp://h/live/cam/trackID=2"), 404);
}

TEST_F(RtspServer, ChecksTheSession) {
    const auto with = [](std::string_view id) { return Message{.headers = {{"Session", std::string(id)}}}; };
    EXPECT_EQ(status_of("GET_PARAMETER", kUrl, with("abc")), 454);
    play();
    EXPECT_EQ(status_of("GET_PARAMETER", kUrl, with("abd")), 454);
    EXPECT_EQ(status_of("GET_PARAMETER", kUrl, with("abc")), 200);
    EXPECT_EQ(status_of("GET_PARAMETER", kUrl, with("abc;timeout=60")), 200);
    EXPECT_EQ(status_of("SET_PARAMETER", kUrl), 200);
}

TEST_F(RtspServer, PausesAndResumes) {
    play();
    const auto paused = request("PAUSE", kUrl);
    ASSERT_TRUE(paused && std::holds_alternative<Paused>(*paused));
    EXPECT_EQ(response().status, 200);
    EXPECT_EQ(status_of("PAUSE", kUrl), 455);
    const auto resumed = request("PLAY", kUrl);
    EXPECT_TRUE(resumed && std::holds_alternative<WantsToPlay>(*resumed));
}

TEST_F(RtspServer, TearsDown) {
    play();
    const auto event = request("TEARDOWN", kUrl);
    ASSERT_TRUE(event && std::holds_alternative<TornDown>(*event));
    EXPECT_EQ(response().status, 200);
}

TEST_F(RtspServer, FindsTracksOfAUrlWithAQuery) {
    ASSERT_TRUE(request("DESCRIBE", "rtsp://h/live/cam?token=a/b"));
    server_.accept_describe("v=0\r\n", 2);
    EXPECT_EQ(response().find("Content-Base"), "rtsp://h/live/cam?token=a/b/");
    EXPECT_EQ(set_up("rtsp://h/live/cam?token=a/b/trackID=1", kTcp).status, 200);
    EXPECT_NE(server_.transport(1), nullptr);
}

TEST_F(RtspServer, FindsTracksInFrontOfTheQuery) {
    ASSERT_TRUE(request("DESCRIBE", "rtsp://h/live/track1?token=a/b"));
    server_.accept_describe("v=0\r\n", 2);
    response();
    EXPECT_EQ(status_of("SETUP", "rtsp://h/live/track1?token=a/b"), 459);
    EXPECT_EQ(set_up("rtsp://h/live/track1/trackID=0?token=a/b", kTcp).status, 200);
    EXPECT_EQ(set_up("rtsp://h/live/track1/trackID=1?token=a/b", kTcp).status, 200);
    EXPECT_NE(server_.transport(0), nullptr);
    EXPECT_NE(server_.transport(1), nullptr);
}

// GStreamer names the tracks that it announces so.
TEST_F(RtspServer, FindsAnnouncedTracksOnBothSidesOfTheQuery) {
    std::string body(wire::rtsp::kAnnounceBody);
    for (std::size_t at = body.find("streamid="); at != std::string::npos; at = body.find("streamid="))
        body.replace(at, 9, "stream=");
    ASSERT_TRUE(
        request("ANNOUNCE", "rtsp://h/live/cam?vhost=x", {.headers = {{"Content-Type", "application/sdp"}}, .body = body}));
    server_.accept_announce();
    response();
    EXPECT_EQ(set_up("rtsp://h/live/cam?vhost=x/stream=0", kTcp).status, 200);
    EXPECT_NE(server_.transport(0), nullptr);
    EXPECT_EQ(set_up("rtsp://h/live/cam/stream=1?vhost=x", kTcp).status, 200);
    EXPECT_NE(server_.transport(1), nullptr);
    EXPECT_EQ(status_of("SETUP", "rtsp://h/live/cam/stream=2?vhost=x"), 459);
}

TEST_F(RtspServer, AcceptsTheStreamInPlaceOfItsOnlyTrack) {
    describe(1);
    EXPECT_EQ(set_up("rtsp://h/live/cam/", kTcp).status, 200);
}

TEST_F(RtspServer, AnswersAMalformedRequestAndEnds) {
    server_.handle_bytes(as_bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_EQ(server_.poll_event().code(), Errc::malformed);
    EXPECT_EQ(response().status, 400);
    Server other{ServerOptions{.product = "p", .session_id = "abc"}};
    other.handle_bytes(as_bytes("OPTIONS * RTSP/2.0\r\n\r\n"));
    EXPECT_EQ(other.poll_event().code(), Errc::unsupported);
    EXPECT_TRUE(other.take_output().starts_with("RTSP/1.0 505 "));
}

TEST_F(RtspServer, IgnoresResponses) {
    server_.handle_bytes(as_bytes(wire::rtsp::kSetupResponse));
    EXPECT_FALSE(poll());
    EXPECT_FALSE(server_.has_output());
}

}  // namespace
}  // namespace live::engine::rtsp
