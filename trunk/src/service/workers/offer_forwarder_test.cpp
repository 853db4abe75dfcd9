#include "service/workers/offer_forwarder.hpp"

#include "io/fibers/wait_fixture.hpp"
#include "media/source/publication.hpp"
#include "service/workers/no_events_fixture.hpp"
#include "session/rtc/session_fixture.hpp"

namespace live::service::workers {
namespace {

using session::rtc::OfferRequest;
using wire::sdp::Purpose;

// One of three workers, which has streams that come by WebRTC; the test is another one.
struct OfferForwarderTest : session::rtc::SessionFixture {
    OfferForwarderTest() { offers.answer_with(*opener); }

    session::http::Reply post(const std::string& body) {
        session::http::Request request;
        request.message.method = "POST";
        request.message.body = body;
        return offers.handle(request, io::Deadline::after(io::kSoon));
    }

    std::pair<io::Socket, io::Socket> ends = MUST(io::MessageSocket::pair());
    supervisor::MasterLine line{engine::workers::WorkerIdentity{2, 3}, std::move(ends.second)};
    std::vector<std::uint8_t> scratch = std::vector<std::uint8_t>(4096);
    http_client::HttpClient http{"test/1", scratch, nullptr};
    NoEvents nobody;
    WorkerService workers{{&line, streams, http, {}, {}}, nobody, log};
    OfferForwarder offers{workers, streams, [](const session::ClientRequest& player) {
                              return std::optional("/" + player.app + "/" + player.stream);
                          }};
};

TEST_F(OfferForwarderTest, ReadsBackEveryFieldOfAnOffer) {
    OfferRequest made = offer_request(Purpose::play);
    made.client.ip = "203.0.113.9";
    made.client.peer_ip = "192.0.2.1";
    made.client.peer = "192.0.2.1:4711";
    made.client.param = "?app=live&token=a\"b";
    made.client.page_url = "http://example.com/";
    made.client.protocol = "whep";
    made.client.is_secure = true;
    made.candidate = HostAndPort{"2001:db8::1", 9000};
    made.codec = "H264";
    made.rendition = "l1";
    made.tracks = {media::TrackId(0), media::TrackId(255)};
    made.dtls = false;
    made.ufrag = "abcd";
    made.pwd = "0123456789abcdef01234567";
    const auto read = OfferForwarder::read_offer(OfferForwarder::write_offer(made));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->purpose, Purpose::play);
    for (const auto member :
         {&session::ClientRequest::ip, &session::ClientRequest::peer_ip, &session::ClientRequest::peer,
          &session::ClientRequest::param, &session::ClientRequest::page_url, &session::ClientRequest::protocol,
          &session::ClientRequest::vhost, &session::ClientRequest::app, &session::ClientRequest::stream})
        EXPECT_EQ(read->client.*member, made.client.*member);
    for (const auto member : {&OfferRequest::offer, &OfferRequest::api_host, &OfferRequest::codec, &OfferRequest::rendition,
                              &OfferRequest::ufrag, &OfferRequest::pwd})
        EXPECT_EQ((*read).*member, made.*member);
    EXPECT_TRUE(read->client.is_secure);
    EXPECT_EQ(read->candidate, made.candidate);
    EXPECT_EQ(read->tracks, made.tracks);
    EXPECT_FALSE(read->dtls);
    const auto plain = OfferForwarder::read_offer(OfferForwarder::write_offer(offer_request(Purpose::play)));
    ASSERT_TRUE(plain.has_value());
    EXPECT_TRUE(plain->dtls && plain->tracks.is_default() && !plain->candidate);
}

TEST_F(OfferForwarderTest, WorkerWithTheStreamAsRtpAnswers) {
    ASSERT_TRUE(open(Purpose::publish).ok());
    const auto opened = post(OfferForwarder::write_offer(offer_request(Purpose::play)));
    EXPECT_EQ(opened.status, 200);
    EXPECT_NE(opened.body.find(" typ host"), std::string::npos) << opened.body;
    EXPECT_EQ(port->sessions(), 2U);
    door.refuses = "cam";
    EXPECT_NE(post(OfferForwarder::write_offer(offer_request(Purpose::play))).body.find("not today"), std::string::npos);
    EXPECT_EQ(port->sessions(), 2U);
    EXPECT_FALSE(MUST(offers.open(offer_request(Purpose::play), io::Deadline::after(io::kSoon))).has_value()) << "it is had here";
}

TEST_F(OfferForwarderTest, WorkerWithoutRtpDeclines) {
    EXPECT_EQ(post(OfferForwarder::write_offer(offer_request(Purpose::play))).status, 404);
    const auto source = streams.find_or_create("/live/cam", {}, 60'000).value();
    auto publication = media::Publication::start(source, media::Takeover::refuse).value();
    EXPECT_EQ(post(OfferForwarder::write_offer(offer_request(Purpose::play))).status, 404);
    EXPECT_EQ(port->sessions(), 0U);
}

TEST_F(OfferForwarderTest, RefusesMalformedMessages) {
    for (const char* body : {"", "{", "[]", "7", "{}", R"({"offer":7,"stream":"a"})", R"({"offer":"v=0"})"})
        EXPECT_EQ(post(body).status, 400) << body;
    const auto read =
        OfferForwarder::read_offer(R"({"offer":"v=0","stream":"a","audio":256,"video":-1,"candidate":"a b","dtls":7})");
    ASSERT_TRUE(read.has_value());
    EXPECT_FALSE(read->tracks.audio || read->candidate);
}

}  // namespace
}  // namespace live::service::workers
