#include "session/rtc/session_opener.hpp"

#include "io/fibers/wait_fixture.hpp"
#include "media/ring/tag_packet.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/source/publication.hpp"
#include "session/rtc/session_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::session::rtc {
namespace {

using wire::sdp::Purpose;
using SessionOpenerTest = SessionFixture;

class Ends final : public ClientWatcher {
public:
    void on_entered(ClientEntry&) override {}
    void on_left(ClientEntry&, const SessionEnd& end) override { all.push_back(end); }
    void on_refused(const ClientEntry&, const Error&) override {}
    std::vector<SessionEnd> all;
};

TEST_F(SessionOpenerTest, AnswersAnOfferWithASessionThatATokenEnds) {
    Ends ends;
    clients.add_watcher(ends);
    const auto opened = open(Purpose::publish);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    EXPECT_EQ(opened->session, value_in(opened->answer, "a=ice-ufrag:") + ":them");
    EXPECT_EQ(value_in(opened->answer, "a=fingerprint:sha-256 "), opener->fingerprint());
    EXPECT_NE(opened->answer.find("127.0.0.1 " + std::to_string(server.port) + " typ host"), std::string::npos);
    EXPECT_EQ(port->sessions(), 1U);
    EXPECT_EQ(clients.size(), 1U);
    EXPECT_EQ(places.half_open(), 1U);
    EXPECT_EQ(places.used(), 0U) << "nobody has come yet";

    EXPECT_TRUE(opener->check(opened->session, opened->token).ok());
    EXPECT_EQ(opener->check(opened->session, opened->token + "x").code(), Errc::denied);
    EXPECT_EQ(opener->close(opened->session, std::string(opened->token.size(), 'x')).code(), Errc::denied);
    EXPECT_EQ(opener->close("nobody00:them", opened->token).code(), Errc::not_found);
    EXPECT_EQ(opener->close(value_in(opened->answer, "a=ice-ufrag:") + ":others", opened->token).code(), Errc::not_found);
    EXPECT_EQ(port->sessions(), 1U);
    EXPECT_TRUE(opener->close(opened->session, opened->token).ok());
    EXPECT_EQ(opener->check(opened->session, opened->token).code(), Errc::not_found);
    port->end_batch(io::now());
    EXPECT_EQ(port->sessions(), 0U);
    EXPECT_EQ(places.half_open(), 0U);
    EXPECT_EQ(places.used(), 0U);
    EXPECT_EQ(stream_events.order, (std::vector<std::string>{"published cam", "publish ended cam"}));
    ASSERT_EQ(ends.all.size(), 1U);
    EXPECT_TRUE(ends.all[0].failed) << "it has never come in";
    EXPECT_EQ(ends.all[0].why, "never connected: the client has ended the session");
}

TEST_F(SessionOpenerTest, AClientsNameIsResolvedWhenItIsLetInAndOnceInAWhile) {
    OfferRequest asked = offer_request(Purpose::publish);
    asked.api_host = "no-such-host.invalid";
    door.refuses = "cam";
    EXPECT_EQ(opener->open(asked, io::Deadline::after(io::kSoon)).code(), Errc::denied);
    EXPECT_EQ(opener->names().size(), 0U) << "nothing is asked of DNS for who is refused";
    door.refuses.clear();
    const auto opened = opener->open(asked, io::Deadline::after(io::kSoon));
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    EXPECT_EQ(opener->names().size(), 1U);
    EXPECT_TRUE(opener->close(opened->session, opened->token).ok());
    port->end_batch(io::now());
    const TimePoint start = io::now();
    EXPECT_TRUE(opener->open(asked, io::Deadline::after(io::kSoon)).ok());
    EXPECT_LT(io::now() - start, SessionOpener::kResolveLimit / 2) << "it is known that there is no such host";
}

// The answer for another worker's stream; none: no other worker has it.
struct Others final : RemoteSessionOpener {
    Result<std::optional<Opened>> open(const OfferRequest& offered, io::Deadline) override {
        asked.push_back(offered.client.stream);
        return answer;
    }
    std::optional<Opened> answer;
    std::vector<std::string> asked;
};

TEST_F(SessionOpenerTest, APlayerOfAStreamThatOnlyAnotherWorkerCanServeIsAnsweredByIt) {
    Others others;
    opener->set_others(others);
    others.answer = Opened{"its answer", "its:session", "its token", {}};
    EXPECT_EQ(MUST(open(Purpose::play)).answer, "its answer");
    EXPECT_EQ(clients.size() + port->sessions() + places.half_open(), 0U);
    EXPECT_NE(MUST(open(Purpose::publish)).answer, "its answer");
    vhosts.options.rtc_to_rtmp = true;
    EXPECT_NE(MUST(open(Purpose::play)).answer, "its answer") << "workers relay its frames";
    EXPECT_EQ(others.asked.size(), 1U);
    vhosts.options.rtc_to_rtmp = false;
    others.answer.reset();
    EXPECT_TRUE(open(Purpose::play).ok()) << "nobody else has it";
    EXPECT_EQ(others.asked.size(), 2U);
}

TEST_F(SessionOpenerTest, RefusesWithTheReasonAndKeepsNothing) {
    const auto refused = [this](OfferRequest asked) {
        const auto opened = opener->open(std::move(asked), io::Deadline::after(io::kSoon));
        EXPECT_FALSE(opened.ok());
        return opened.ok() ? Errc::system : opened.code();
    };
    OfferRequest asked = offer_request(Purpose::publish);
    asked.offer = "v=0\r\nm=video nonsense\r\n";
    EXPECT_EQ(refused(asked), Errc::malformed);
    asked = offer_request(Purpose::publish);
    asked.offer = offer_of("recvonly", fingerprint);
    EXPECT_EQ(refused(asked), Errc::unsupported);
    asked = offer_request(Purpose::publish);
    asked.codec = "AV1";
    EXPECT_EQ(refused(asked), Errc::unsupported);
    asked = offer_request(Purpose::publish);
    asked.ufrag = "a b c";
    EXPECT_EQ(refused(asked), Errc::malformed);
    asked = offer_request(Purpose::publish);
    asked.pwd = "short";
    EXPECT_EQ(refused(asked), Errc::malformed);
    asked = offer_request(Purpose::publish);
    asked.client.vhost = "off.example";
    EXPECT_EQ(refused(asked), Errc::not_found);
    door.refuses = "cam";
    EXPECT_EQ(refused(offer_request(Purpose::publish)), Errc::denied);
    EXPECT_EQ(refused(offer_request(Purpose::play)), Errc::denied);
    places.set_limits(0, {});
    EXPECT_EQ(refused(offer_request(Purpose::publish, "other")), Errc::limit);
    EXPECT_EQ(port->sessions(), 0U);
    EXPECT_EQ(clients.size(), 0U);
    EXPECT_EQ(places.half_open(), 0U);
    EXPECT_EQ(places.used(), 0U);
    EXPECT_TRUE(stream_events.order.empty());
}

TEST_F(SessionOpenerTest, AClientCannotDoWithoutTheHandshakeWhereTheServerEncrypts) {
    OfferRequest asked = offer_request(Purpose::play);
    asked.dtls = false;
    const auto opened = opener->open(asked, io::Deadline::after(io::kSoon));
    ASSERT_TRUE(opened.ok());
    TestClient client(*client_context, opened->answer, Purpose::play, server);
    EXPECT_TRUE(client.connect()) << "by DTLS";
}

TEST_F(SessionOpenerTest, PlayerGetsRequestedTracksOrIsRefused) {
    vhosts.options.rtmp_to_rtc = true;
    door.bridge.rtmp_to_rtc = true;
    const auto source = streams.find_or_create("/live/cam", {}, 60'000).value();
    auto publication = media::Publication::start(source, media::Takeover::refuse).value();
    for (const std::uint8_t id : {std::uint8_t{0}, std::uint8_t{3}}) {
        media::Packet setup = media::bridge_test::avc_config();
        setup.track = media::TrackId(id);
        source->append(std::move(setup));
    }
    const auto asked = [this](std::optional<media::TrackId> audio, std::optional<media::TrackId> video) {
        OfferRequest request = offer_request(Purpose::play);
        request.tracks = {audio, video};
        return opener->open(std::move(request), io::Deadline::after(io::kSoon));
    };
    const std::optional<media::TrackId> other = media::TrackId(3);
    ASSERT_TRUE(asked({}, other).ok());
    EXPECT_NE(source->rtp_logs().find({{}, other}), nullptr);
    EXPECT_EQ(source->rtp_logs().find(), nullptr);
    ASSERT_TRUE(asked({}, media::TrackId(0)).ok());
    EXPECT_NE(source->rtp_logs().find(), nullptr) << "the default one by its name";
    const auto refused = asked({}, media::TrackId(1));
    EXPECT_EQ(refused.code(), Errc::not_found);
    EXPECT_NE(refused.error().text().find("no video track 1"), std::string::npos);
    publication.reset();
    EXPECT_TRUE(asked(media::TrackId(9), {}).ok()) << "it may come";
    for (std::uint8_t id = 10; source->rtp_logs().has_room_for({{}, media::TrackId(1)}); ++id)
        ASSERT_TRUE(asked(media::TrackId(id), {}).ok());
    EXPECT_EQ(asked({}, media::TrackId(1)).code(), Errc::limit);
}

// Browsers that decode H.265 offer H.264 first.
TEST_F(SessionOpenerTest, APlayerGetsTheCodecOfTheStreamAndNotTheFirstOne) {
    vhosts.options.rtmp_to_rtc = true;
    door.bridge.rtmp_to_rtc = true;
    const auto source = streams.find_or_create("/live/cam", {}, 60'000).value();
    const auto publication = media::Publication::start(source, media::Takeover::refuse).value();
    source->append(media::make_packet(MediaKind::video, {.codec = media::Codec::hevc,
                                                         .content = media::Content::config,
                                                         .data = Slice::copy_of(wire::codec::hevc_vectors().front().record)}));
    OfferRequest request = offer_request(Purpose::play);
    const std::size_t at = request.offer.find("SAVPF 102");
    request.offer.insert(at + 9, " 104");
    request.offer += "a=rtpmap:104 H265/90000\r\n";
    const auto opened = opener->open(request, io::Deadline::after(io::kSoon));
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    EXPECT_NE(opened->answer.find("m=video 9 UDP/TLS/RTP/SAVPF 104\r\n"), std::string::npos) << opened->answer;
    EXPECT_EQ(opened->answer.find("H264"), std::string::npos);
}

TEST_F(SessionOpenerTest, AWebRtcPublisherHasTrackZeroOfEach) {
    ASSERT_TRUE(open(Purpose::publish).ok());
    OfferRequest request = offer_request(Purpose::play);
    request.tracks.video = media::TrackId(1);
    EXPECT_EQ(opener->open(request, io::Deadline::after(io::kSoon)).code(), Errc::not_found);
    request.tracks.video = media::TrackId(0);
    EXPECT_TRUE(opener->open(request, io::Deadline::after(io::kSoon)).ok());
}

TEST_F(SessionOpenerTest, AStreamHasOnePublisher) {
    ASSERT_TRUE(open(Purpose::publish).ok());
    EXPECT_EQ(open(Purpose::publish).code(), Errc::conflict);
    EXPECT_TRUE(open(Purpose::publish, "other").ok());
    EXPECT_EQ(port->sessions(), 2U);
}

TEST_F(SessionOpenerTest, ANameOfTheClientsChoiceIsGivenOnce) {
    OfferRequest asked = offer_request(Purpose::play);
    asked.ufrag = "mine1234";
    asked.pwd = "0123456789abcdef0123456789";
    const auto opened = opener->open(asked, io::Deadline::after(io::kSoon));
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(opened->session, "mine1234:them");
    EXPECT_EQ(value_in(opened->answer, "a=ice-pwd:"), asked.pwd);
    EXPECT_EQ(opener->open(asked, io::Deadline::after(io::kSoon)).code(), Errc::conflict);
}

TEST_F(SessionOpenerTest, AnRsaCertificateDoesAsWell) {
    vhosts.server_options.ecdsa = false;
    const std::string before = opener->fingerprint();
    make_opener();
    EXPECT_NE(opener->fingerprint(), before);
    EXPECT_NE(come(Purpose::publish), nullptr);
}

}  // namespace
}  // namespace live::session::rtc
