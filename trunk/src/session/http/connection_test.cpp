#include "session/http/acceptor.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/http1/parser.hpp"
#include "engine/http1/writer.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_stream.hpp"
#include "session/http/connection.hpp"
#include "session/http/exchange.hpp"
#include "wire/http/date.hpp"

namespace live::session::http {
namespace {

using io::kSoon;

// Returns its request as text.
class Echo final : public Handler {
public:
    Reply handle(const Request& request, io::Deadline) override {
        Reply reply;
        reply.content_type = "text/plain";
        reply.body = request.message.method + " " + request.path() + " [" + std::string(request.target.query.get("x")) + "] " +
                     request.message.body;
        return reply;
    }
};

// Owns the connection: echoes the body in chunks, whatever its length.
class Parrot final : public Handler {
public:
    BodyMode body_mode(const Request& request) const override {
        return request.message.method == "POST" ? BodyMode::streamed : BodyMode::whole;
    }
    Result<void> serve(Exchange& exchange, io::Deadline deadline) override {
        const bool upgrade = exchange.request().message.upgrade;
        TRY(exchange.send_head(
            {upgrade ? 101 : 200, upgrade ? "" : "text/plain", upgrade ? BodyEnd::none : BodyEnd::chunks, 0, {}}, deadline));
        if (upgrade) {
            const auto rest = exchange.take_rest();
            return exchange.stream().write_all(std::array{io::as_part(rest)}, deadline);
        }
        for (std::size_t read = 0; read < stop_after;) {
            const std::string part = TRY(exchange.read_body(deadline));
            if (part.empty())
                break;
            read += part.size();
            const std::string chunk = fmt::format("{:x}\r\n", part.size()) + part + "\r\n";
            const std::string_view out = exchange.body_end() == BodyEnd::chunks ? std::string_view(chunk) : part;
            TRY(exchange.stream().write_all(std::array{io::as_part(as_bytes(out))}, deadline));
        }
        return exchange.finish_chunks(deadline);
    }

    std::size_t stop_after = SIZE_MAX;
};

class HttpConnectionTest : public testing::Test {
protected:
    void SetUp() override {
        router_.add("/", echo_);
        router_.add("/api/v1/streams/", echo_);
        router_.add("/parrot", parrot_);
        auto listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
        acceptor_ = std::make_unique<Acceptor>(std::move(listener), nullptr, context_, places_, ConnectionLimits::Kind::client,
                                               connections_, log_);
        auto* acceptor = acceptor_.get();
        MUST(listeners_.start("listener", [acceptor](io::Deadline deadline) { acceptor->run(deadline); }));
    }
    void TearDown() override {
        MUST(listeners_.stop(io::Deadline::after(kSoon)));
        MUST(connections_.stop(io::Deadline::after(kSoon)));
    }

    std::unique_ptr<io::TcpStream> dial() {
        return MUST(io::TcpStream::connect(acceptor_->listener().endpoint(), io::Deadline::after(kSoon)));
    }
    static void send(io::TcpStream& stream, std::string_view text) {
        const std::array parts{io::as_part(as_bytes(text))};
        MUST(stream.write_all(parts, io::Deadline::after(kSoon)));
    }
    // The next response; status 0 when the connection was closed instead.
    engine::http1::Response receive(
        io::TcpStream& stream, engine::http1::ResponseParser::RequestWas was = engine::http1::ResponseParser::RequestWas::other) {
        engine::http1::ResponseParser parser(was);
        std::array<std::uint8_t, 512> buffer;
        for (;;) {
            if (rest_.empty()) {
                const auto count = stream.read_some(buffer, io::Deadline::after(kSoon));
                if (!count.ok())
                    return {};
                rest_.assign(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*count));
            }
            const std::size_t used = MUST(parser.feed(rest_));
            rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(used));
            if (auto response = parser.next())
                return *response;
        }
    }
    engine::http1::Response ask(std::string_view text) {
        const auto stream = dial();
        send(*stream, text);
        rest_.clear();
        return receive(*stream);
    }
    // Whether the peer closes in time; if bytes arrive, it does not.
    static bool is_closed(io::TcpStream& stream, std::chrono::seconds within = kSoon) {
        std::array<std::uint8_t, 64> buffer;
        const auto count = stream.read_some(buffer, io::Deadline::after(within));
        return !count.ok() && count.code() == Errc::closed;
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::array<std::uint8_t, 4096> scratch_{};
    Log log_;
    Echo echo_;
    Parrot parrot_;
    Router router_;
    Context context_{router_, scratch_, "SRS/7.1.0(Test)", true, {}, {}, 0};
    ConnectionLimits places_{2, log_};
    io::Scope connections_{"connections"};
    io::Scope listeners_{"listeners"};
    std::unique_ptr<Acceptor> acceptor_;
    std::vector<std::uint8_t> rest_;
};

TEST_F(HttpConnectionTest, AnswersWithTheHeadersOfTheSpec) {
    const auto response = ask("GET /a%20b?x=1 HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "GET /a b [1] ");
    EXPECT_EQ(response.headers.find("Server"), "SRS/7.1.0(Test)");
    EXPECT_EQ(response.headers.find("Content-Type"), "text/plain");
    EXPECT_TRUE(response.headers.has_token("Connection", "keep-alive"));
    EXPECT_FALSE(response.headers.find("Access-Control-Allow-Origin"));
    EXPECT_EQ(response.headers.find("Vary"), "Origin") << "a cache keeps responses to pages apart from this one";
    const auto date = wire::http::parse_date(response.headers.find("Date").value_or(""));
    ASSERT_TRUE(date);
    EXPECT_LE(std::chrono::abs(std::chrono::system_clock::now() - *date), 30s);
    context_.allows_cross_origin = false;
    EXPECT_FALSE(ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n").headers.find("Vary"));
    EXPECT_EQ(ask("GET /api/v1/x HTTP/1.1\r\nHost: h\r\n\r\n").headers.find("Vary"), "Origin") << "the guard reads it";
    EXPECT_TRUE(ask("BROKEN\r\n\r\n").headers.find("Date"));
}

TEST_F(HttpConnectionTest, ServesFurtherAndPipelinedRequests) {
    const auto stream = dial();
    send(*stream, "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nPOST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /3 HT");
    EXPECT_EQ(receive(*stream).body, "GET /1 [] ");
    EXPECT_EQ(receive(*stream).body, "POST /2 [] abc");
    send(*stream, "TP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(receive(*stream).body, "GET /3 [] ");
}

TEST_F(HttpConnectionTest, ClosesConnectionOnRequest) {
    const auto stream = dial();
    send(*stream, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    const auto response = receive(*stream);
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.headers.has_token("Connection", "close"));
    EXPECT_TRUE(is_closed(*stream));
}

TEST_F(HttpConnectionTest, OldClientKeepsConnectionOnlyOnRequest) {
    const auto asking = dial();
    for (int i = 0; i < 2; ++i) {
        send(*asking, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        EXPECT_TRUE(receive(*asking).headers.has_token("Connection", "keep-alive"));
    }
    const auto other = dial();
    send(*other, "GET / HTTP/1.0\r\n\r\n");
    EXPECT_TRUE(receive(*other).headers.has_token("Connection", "close"));
    EXPECT_TRUE(is_closed(*other));
}

TEST_F(HttpConnectionTest, LastResponseAnnouncesTheClose) {
    const auto stream = dial();
    const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    for (std::size_t i = 1; i < Connection::kRequestsMax; ++i) {
        send(*stream, get);
        ASSERT_TRUE(receive(*stream).headers.has_token("Connection", "keep-alive")) << i;
    }
    send(*stream, get + get);
    EXPECT_TRUE(receive(*stream).headers.has_token("Connection", "close"));
    // The next request is unread: the connection may also be reset because of it.
    EXPECT_EQ(receive(*stream).status, 0);
}

TEST_F(HttpConnectionTest, ANewConnectionClosesAfterItsResponseWhileCrowded) {
    const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    places_.set_limits(4, {});
    const auto first = dial();
    const auto second = dial();
    for (auto* stream : {first.get(), second.get()}) {
        send(*stream, get);
        EXPECT_TRUE(receive(*stream).headers.has_token("Connection", "keep-alive"));
    }
    const auto third = dial();
    send(*third, get);
    EXPECT_TRUE(receive(*third).headers.has_token("Connection", "close"));
    EXPECT_TRUE(is_closed(*third));
    EXPECT_EQ(places_.used(), 2U);
    send(*first, get);
    EXPECT_TRUE(receive(*first).headers.has_token("Connection", "keep-alive"));
}

// A fiber's stack is most of an idle connection's memory.
TEST_F(HttpConnectionTest, AClientThatIsSilentBetweenRequestsNeedsNoFiber) {
    const auto fibers = [this] { return loop_->counters().fibers; };
    const std::size_t before = fibers();
    const auto client = dial();
    for (int request = 0; request < 2; ++request) {
        send(*client, "GET /one HTTP/1.1\r\nHost: h\r\n\r\n");
        EXPECT_EQ(receive(*client).status, 200);
        io::wait_until([&] { return fibers() == before + 1; });  // of all silent clients
        EXPECT_EQ(places_.used(), 1U);
    }
    // A request that begins after the silence.
    send(*client, "GET /two HTTP/1.1\r\nHo");
    send(*client, "st: h\r\n\r\n");
    EXPECT_EQ(receive(*client).status, 200);
}

TEST_F(HttpConnectionTest, SilentClientsThatLeaveOrAreClosedGiveTheirPlaces) {
    const std::size_t before = loop_->counters().fibers;
    const auto silent_client = [&] {
        auto client = dial();
        send(*client, "GET /one HTTP/1.1\r\nHost: h\r\n\r\n");
        EXPECT_EQ(receive(*client).status, 200);
        io::wait_until([&] { return loop_->counters().fibers == before + 1; });
        return client;
    };
    auto leaves = silent_client();
    leaves.reset();
    io::wait_until([this] { return places_.used() == 0; });
    const auto stays = silent_client();
    context_.idle.end();
    EXPECT_TRUE(is_closed(*stays));
    io::wait_until([this] { return places_.used() == 0; });
}

TEST_F(HttpConnectionTest, ClosesIdleConnectionsBeforeTheStop) {
    const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    const auto first = dial();
    send(*first, get);
    EXPECT_TRUE(receive(*first).headers.has_token("Connection", "keep-alive"));
    const auto second = dial();
    send(*second, "GET / HTTP/1.1\r\n");
    MUST(io::sleep(io::Deadline::after(1ms)));
    context_.idle.end();
    EXPECT_TRUE(is_closed(*first, Connection::kIdleLimit / 3));
    send(*second, "Host: h\r\n\r\n");
    const auto response = receive(*second);
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.headers.has_token("Connection", "close"));
    EXPECT_TRUE(is_closed(*second));
}

TEST_F(HttpConnectionTest, ARequestOfHttp11NamesItsHost) {
    const auto newer = dial();
    send(*newer, "GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(receive(*newer).status, 400);
    const auto older = dial();
    send(*older, "GET / HTTP/1.0\r\n\r\n");
    EXPECT_EQ(receive(*older).status, 200);
}

TEST_F(HttpConnectionTest, HeadHasALengthButNoBody) {
    const auto stream = dial();
    send(*stream, "HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    const auto response = receive(*stream, engine::http1::ResponseParser::RequestWas::head);
    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.headers.find("Content-Length"), "0");
    EXPECT_TRUE(is_closed(*stream));
}

TEST_F(HttpConnectionTest, ARefusedHeadHasNoBodyEither) {
    const auto stream = dial();
    send(*stream, "HEAD /%zz HTTP/1.1\r\nHost: h\r\n\r\n");
    const auto response = receive(*stream, engine::http1::ResponseParser::RequestWas::head);
    EXPECT_EQ(response.status, 400);
    EXPECT_TRUE(rest_.empty());
}

TEST(ErrorReply, IsJsonForAnySentence) {
    EXPECT_EQ(error_reply(403, "say \"please\"\\\n\x01 \xC3\xA9").body,
              "{\"code\":403,\"message\":\"say \\\"please\\\"\\\\\\u000a\\u0001 \xC3\xA9\"}\n");
    EXPECT_EQ(error_reply(404, 2048, "there is no such stream").body,
              "{\"code\":2048,\"message\":\"there is no such stream\"}\n");
}

TEST_F(HttpConnectionTest, PagesOfOtherOriginsMayRead) {
    const auto response = ask("GET / HTTP/1.1\r\nHost: h\r\nOrigin: http://x\r\n\r\n");
    EXPECT_EQ(response.headers.find("Access-Control-Allow-Origin"), "*");
    EXPECT_EQ(response.headers.find("Vary"), "Origin");
    EXPECT_EQ(response.headers.find("Access-Control-Allow-Headers"), "*");
    EXPECT_EQ(response.headers.find("Access-Control-Allow-Methods"), "*");
    EXPECT_EQ(response.headers.find("Access-Control-Expose-Headers"), "*");
    EXPECT_EQ(response.headers.find("Access-Control-Allow-Credentials"), "false");
    EXPECT_EQ(response.headers.find("Access-Control-Request-Private-Network"), "true");
    context_.auth = {true, "admin", "secret", {}, false};
    const auto asked = ask("OPTIONS /api/v1/streams/ HTTP/1.1\r\nHost: h\r\nOrigin: http://x\r\n\r\n");
    EXPECT_EQ(asked.headers.find("Access-Control-Allow-Headers"), "*, Authorization") << "or no page could sign in";
}

TEST_F(HttpConnectionTest, OptionsIsAnsweredOnlyWithCrossdomain) {
    const auto allowed = ask("OPTIONS /api/ HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(allowed.status, 200);
    EXPECT_EQ(allowed.body, "");
    context_.allows_cross_origin = false;
    const auto refused = ask("OPTIONS /api/ HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(refused.status, 405);
    EXPECT_EQ(refused.headers.find("Allow"), "GET, HEAD");
    EXPECT_FALSE(ask("GET / HTTP/1.1\r\nHost: h\r\nOrigin: http://x\r\n\r\n").headers.find("Access-Control-Allow-Origin"));
}

TEST_F(HttpConnectionTest, AFolderWithoutItsSlashIsSentThereWithItsQuery) {
    const auto response = ask("GET /api/v1/streams?count=10&x=%20 HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(response.status, 302);
    EXPECT_EQ(response.headers.find("Location"), "/api/v1/streams/?count=10&x=%20");
}

TEST_F(HttpConnectionTest, ApiPathsNeedThePasswordWhenThereIsOne) {
    context_.auth = {true, "admin", "secret", {}, false};
    const auto refused = ask("GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.body, "");
    EXPECT_EQ(refused.headers.find("WWW-Authenticate"), "Basic");
    EXPECT_EQ(ask("GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\nAuthorization: Basic YWRtaW46d3Jvbmc=\r\n\r\n").status, 401);
    EXPECT_EQ(ask("GET /%61pi/v1/streams/ HTTP/1.1\r\nHost: h\r\n\r\n").status, 401);
    EXPECT_EQ(ask("GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\nAuthorization: Basic YWRtaW46c2VjcmV0\r\n\r\n").status, 200);
    for (const char* given : {"basic YWRtaW46c2VjcmV0", "BASIC  YWRtaW46c2VjcmV0"})
        EXPECT_EQ(ask(std::string("GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\nAuthorization: ") + given + "\r\n\r\n").status,
                  200)
            << given;
    for (const char* given :
         {"Basic", "YWRtaW46c2VjcmV0", "BasicYWRtaW46c2VjcmV0", "Bearer YWRtaW46c2VjcmV0", "basic ywrtaw46c2vjcmv0"})
        EXPECT_EQ(ask(std::string("GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\nAuthorization: ") + given + "\r\n\r\n").status,
                  401)
            << given;
    EXPECT_EQ(ask("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n").status, 200);
    context_.auth.guards_metrics = true;
    EXPECT_EQ(ask("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n").status, 401);
    EXPECT_EQ(ask("GET /metrics HTTP/1.1\r\nHost: h\r\nAuthorization: Basic YWRtaW46c2VjcmV0\r\n\r\n").status, 200);
    EXPECT_EQ(ask("GET /rtc/v1/whip/ HTTP/1.1\r\nHost: h\r\n\r\n").status, 200);
}

TEST_F(HttpConnectionTest, AGuardSlowsWrongCredentialsDown) {
    struct Guard final : ApiGuard {
        ApiCaller identify(const Credentials& sent, const std::string&, io::Deadline) override {
            return {sent.user == "reader" ? ApiRole::read : ApiRole::none, "user " + sent.user};
        }
        bool may_try(const std::string&, bool is_right) override {
            tries += is_right ? '+' : '-';
            return !must_wait;
        }
        void note(const ApiAction& action) override { callers.emplace_back(action.caller); }
        bool must_wait = false;
        std::string tries;
        std::vector<std::string> callers;
    } guard;
    context_.guard = &guard;
    context_.auth = {true, "admin", "secret", "t0ken", true};
    const std::string call = "DELETE /api/v1/streams/ HTTP/1.1\r\nHost: h\r\n";
    EXPECT_EQ(ask(call + "\r\n").status, 401);
    EXPECT_EQ(guard.tries, "") << "nothing was sent";
    EXPECT_EQ(ask(call + "Authorization: Basic YWRtaW46c2VjcmV0\r\n\r\n").status, 200);
    EXPECT_EQ(ask(call + "Authorization: Bearer t0kem\r\n\r\n").status, 401);
    EXPECT_EQ(ask("GET /rtc/v1/whip/ HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t0kem\r\n\r\n").status, 401);
    EXPECT_EQ(guard.tries, "+--");
    guard.must_wait = true;
    const auto waits = ask(call + "Authorization: Bearer t0ken\r\n\r\n");
    EXPECT_EQ(waits.status, 503) << "right or not";
    EXPECT_EQ(waits.headers.find("Retry-After"), "5");
    EXPECT_EQ(guard.callers, (std::vector<std::string>{"", "http_api.auth", "", ""}));
    guard.must_wait = false;
    context_.auth.takes_users = true;
    EXPECT_EQ(ask(call + "Authorization: Basic cmVhZGVyOng=\r\n\r\n").status, 403) << "may read";
    EXPECT_EQ(guard.tries, "+--+") << "the guard counts those itself";
}

TEST_F(HttpConnectionTest, ATokenIsAnotherWayIn) {
    context_.auth = {true, "", "", "t0ken", true};
    const auto refused = ask("GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.headers.find("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(ask("GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t0kem\r\n\r\n").status, 401);
    EXPECT_EQ(ask("GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t0ken\r\n\r\n").status, 200);
    EXPECT_EQ(ask("GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\nAuthorization: bearer t0ken\r\n\r\n").status, 200);
    EXPECT_EQ(ask("GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer T0KEN\r\n\r\n").status, 401);
    EXPECT_EQ(ask("GET /rtc/v1/whip/ HTTP/1.1\r\nHost: h\r\n\r\n").status, 401);
}

TEST_F(HttpConnectionTest, TokenAndPasswordAreBothTaken) {
    context_.auth = {true, "admin", "secret", "t0ken", true};
    const std::string api = "GET /api/v1/streams/ HTTP/1.1\r\nHost: h\r\n", rtc = "GET /rtc/v1/whip/ HTTP/1.1\r\nHost: h\r\n";
    const auto refused = ask(api + "\r\n");
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.headers.find("WWW-Authenticate"), "Basic");
    EXPECT_EQ(ask(api + "Authorization: Basic YWRtaW46c2VjcmV0\r\n\r\n").status, 200);
    EXPECT_EQ(ask(api + "Authorization: Bearer t0ken\r\n\r\n").status, 200);
    EXPECT_EQ(ask(api + "Authorization: Bearer secret\r\n\r\n").status, 401);
    // WebRTC clients have the token or nothing.
    EXPECT_EQ(ask(rtc + "Authorization: Bearer t0ken\r\n\r\n").status, 200);
    const auto whip = ask(rtc + "Authorization: Basic YWRtaW46c2VjcmV0\r\n\r\n");
    EXPECT_EQ(whip.status, 401);
    EXPECT_EQ(whip.headers.find("WWW-Authenticate"), "Bearer");
}

TEST_F(HttpConnectionTest, BrokenRequestsGetTheirStatusAndAreClosed) {
    struct Case {
        const char* name;
        std::string text;
        int status;
    };
    const std::vector<Case> cases = {
        {"noise", "\x16\x03\x01\x02 hello\r\n\r\n", 400},
        {"climbing", "GET /../../etc/passwd HTTP/1.1\r\nHost: h\r\n\r\n", 400},
        {"climbing encoded", "GET /%2e%2e/x HTTP/1.1\r\nHost: h\r\n\r\n", 400},
        {"zero byte", "GET /%00 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
        {"long target", "GET /" + std::string(9'000, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n", 414},
        {"long header", "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(40'000, 'a') + "\r\n\r\n", 431},
        {"long body", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\n\r\n", 413},
        {"two lengths", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
    };
    for (const Case& each : cases) {
        SCOPED_TRACE(each.name);
        const auto stream = dial();
        const auto text = io::as_part(as_bytes(each.text));
        // The server may close before it has read everything.
        static_cast<void>(stream->write_all(std::array{text}, io::Deadline::after(kSoon)));
        rest_.clear();
        const auto response = receive(*stream);
        EXPECT_EQ(response.status, each.status);
        EXPECT_EQ(response.headers.find("Content-Type"), "application/json");
        EXPECT_TRUE(response.headers.has_token("Connection", "close"));
    }
}

TEST_F(HttpConnectionTest, EveryCutOfARequestFreesItsPlace) {
    const std::string text = "POST /a?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
    for (std::size_t size = 0; size < text.size(); ++size) {
        const auto stream = dial();
        send(*stream, std::string_view(text).substr(0, size));
        MUST(stream->shutdown_write());
        EXPECT_TRUE(is_closed(*stream)) << size;
    }
    EXPECT_EQ(ask(text).body, "POST /a [1] abc");
}

TEST_F(HttpConnectionTest, AHandlerMayTakeABodyWithoutEndAsItComes) {
    const auto stream = dial();
    context_.limits.body_bytes = 16 * 1024;
    send(*stream, "POST /parrot HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
    std::string wanted;
    for (int i = 0; i < 20; ++i) {
        send(*stream, "1000\r\n" + std::string(4096, static_cast<char>('a' + i)) + "\r\n");
        wanted += std::string(4096, static_cast<char>('a' + i));
    }
    send(*stream, "0\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n");
    const auto response = receive(*stream);
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.headers.has_token("Transfer-Encoding", "chunked"));
    EXPECT_EQ(response.body, wanted);
    EXPECT_EQ(receive(*stream).body, "GET /next [] ");
}

TEST_F(HttpConnectionTest, ABodyThatIsNotReadToItsEndClosesTheConnection) {
    parrot_.stop_after = 1;
    const auto stream = dial();
    send(*stream, "POST /parrot HTTP/1.1\r\nHost: h\r\nContent-Length: 5000000\r\n\r\nabc");
    const auto response = receive(*stream);
    EXPECT_EQ(response.body, "abc");
    EXPECT_TRUE(response.headers.has_token("Connection", "close"));
    EXPECT_TRUE(is_closed(*stream));
}

TEST_F(HttpConnectionTest, ABodyOfBrokenChunksEndsTheConnection) {
    const auto stream = dial();
    send(*stream, "POST /parrot HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    std::string text;
    std::array<std::uint8_t, 512> buffer;
    while (!text.ends_with("abc\r\n"))
        text += as_text(Bytes(buffer).first(MUST(stream->read_some(buffer, io::Deadline::after(kSoon)))));
    send(*stream, "not a size\r\n");
    EXPECT_TRUE(is_closed(*stream));
}

TEST_F(HttpConnectionTest, AnOldClientGetsABodyThatEndsWithTheConnection) {
    const auto stream = dial();
    send(*stream, "POST /parrot HTTP/1.0\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc");
    std::string text;
    std::array<std::uint8_t, 512> buffer;
    while (const auto count = stream->read_some(buffer, io::Deadline::after(kSoon)))
        text += as_text(Bytes(buffer).first(*count));
    EXPECT_EQ(text.find("chunked"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("\r\n\r\nabc")) << text;
}

TEST_F(HttpConnectionTest, UpgradeHandsOverBytesAfterTheRequest) {
    const auto stream = dial();
    send(*stream, "GET /parrot HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x01z");
    std::string text;
    std::array<std::uint8_t, 512> buffer;
    while (const auto count = stream->read_some(buffer, io::Deadline::after(kSoon)))
        text += as_text(Bytes(buffer).first(*count));
    EXPECT_TRUE(text.starts_with("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n")) << text;
    EXPECT_TRUE(text.ends_with("\r\n\r\n\x81\x01z")) << text;
}

TEST_F(HttpConnectionTest, OneTooManyGetsTheReason) {
    const auto first = dial();
    const auto second = dial();
    const auto third = dial();
    EXPECT_EQ(receive(*third).status, 503);
    EXPECT_EQ(places_.used(), 2U);
}

TEST_F(HttpConnectionTest, WithoutARouteItIsNotFound) {
    Router empty;
    Context context{empty, scratch_, "x", true, {}, {}, 0};
    auto listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    Acceptor acceptor(std::move(listener), nullptr, context, places_, ConnectionLimits::Kind::client, connections_, log_);
    MUST(listeners_.start("other", [&acceptor](io::Deadline deadline) { acceptor.run(deadline); }));
    const auto stream = MUST(io::TcpStream::connect(acceptor.listener().endpoint(), io::Deadline::after(kSoon)));
    send(*stream, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(receive(*stream).status, 404);
    MUST(listeners_.stop(io::Deadline::after(kSoon)));
    MUST(connections_.stop(io::Deadline::after(kSoon)));
}

}  // namespace
}  // namespace live::session::http
