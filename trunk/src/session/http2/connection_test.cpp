#include "session/http2/connection.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/http2/client_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/tls/self_signed.hpp"
#include "session/http/exchange.hpp"

namespace live::session::http2 {
namespace {

using io::kSoon;

// Echoes the body; without one, returns the path.
class EchoHandler final : public http::Handler {
public:
    http::Reply handle(const http::Request& request, io::Deadline) override {
        return {200, "text/plain", request.message.body.empty() ? request.path() : request.message.body, {}};
    }
};

// Sends what it reads, until the client or a test ends it.
class StreamHandler final : public http::Handler {
public:
    http::BodyMode body_mode(const http::Request&) const override { return http::BodyMode::streamed; }
    Result<void> serve(http::Exchange& exchange, io::Deadline deadline) override {
        stream = &exchange.stream();
        TRY(exchange.send_head({200, "text/plain", http::BodyEnd::chunks, 0, {}}, deadline));
        for (;;) {
            const auto part = exchange.read_body(deadline);
            ended = part.ok() ? Errc::need_more : part.code();
            if (!part.ok() || part->empty())
                break;
            TRY(exchange.stream().write_all(std::array{io::as_part(as_bytes(*part))}, deadline));
        }
        return exchange.finish_chunks(deadline);
    }

    io::Stream* stream = nullptr;
    std::optional<Errc> ended;
};

class Http2ConnectionTest : public testing::Test {
protected:
    void SetUp() override {
        if (!engine::http2::is_available())
            GTEST_SKIP() << "this build has no HTTP/2";
        const std::string path = "/tmp/live_http2_test." + std::to_string(::getpid());
        MUST(io::make_self_signed(path + ".crt", path + ".key"));
        tls_ = MUST(io::TlsContext::server(path + ".crt", path + ".key"));
        ::unlink((path + ".crt").c_str());
        ::unlink((path + ".key").c_str());
        const std::array<std::string_view, 2> own{"h2", "http/1.1"};
        tls_->offer_protocols(own);
        trusting_->offer_protocols(own);
        router_.add("/", echo_);
        router_.add("/stream", stream_handler_);
        acceptor_.emplace(MUST(io::TcpListener::listen({"127.0.0.1", 0})), tls_.get(), context_, places_,
                          ConnectionLimits::Kind::client, connections_, log_);
        acceptor_->serve_http2_with(server_);
        MUST(listeners_.start("listener", [this](io::Deadline deadline) { acceptor_->run(deadline); }));
        auto tcp = MUST(io::TcpStream::connect(acceptor_->listener().endpoint(), soon()));
        stream_ = MUST(io::TlsStream::connect(std::move(tcp), *trusting_, "localhost", soon()));
        ASSERT_EQ(stream_->application_protocol(), "h2");
    }
    void TearDown() override {
        stream_.reset();
        MUST(listeners_.stop(soon()));
        MUST(connections_.stop(soon()));
        EXPECT_EQ(places_.memory().bytes(MemoryBudget::Kind::unfinished), 0u);
        EXPECT_EQ(places_.used(), 0u);
        EXPECT_EQ(context_.http2.connections, 0u);
    }
    static io::Deadline soon() { return io::Deadline::after(kSoon); }

    void send() {
        const std::string output = client_.output();
        if (!output.empty())
            MUST(stream_->write_all(std::array{io::as_part(as_bytes(output))}, soon()));
    }
    // Exchanges frames until the condition holds; false when the connection ends first.
    template <class Condition>
    bool run_until(Condition condition) {
        for (send(); !condition(); send()) {
            const auto count = stream_->read_some(buffer_, soon());
            if (!count.ok())
                return condition();
            EXPECT_TRUE(client_.receive(Bytes(buffer_).first(*count)));
        }
        return true;
    }
    const engine::http2::TestClient::Response& wait(std::int32_t id) {
        EXPECT_TRUE(run_until([&] { return client_.responses[id].is_complete; }));
        return client_.responses[id];
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::array<std::uint8_t, 4096> scratch_{};
    std::array<std::uint8_t, 4096> buffer_{};
    Log log_;
    EchoHandler echo_;
    StreamHandler stream_handler_;
    http::Router router_;
    http::Context context_{router_, scratch_, "SRS/7.1.0(Test)", true, {}, {}, 0};
    ConnectionLimits places_{1'000, log_};
    Server server_;
    io::Scope connections_{"connections"};
    io::Scope listeners_{"listeners"};
    std::unique_ptr<io::TlsContext> tls_;
    std::unique_ptr<io::TlsContext> trusting_ = MUST(io::TlsContext::client(io::TlsVerify::none));
    std::optional<http::Acceptor> acceptor_;
    std::unique_ptr<io::TlsStream> stream_;
    engine::http2::TestClient client_;
};

TEST_F(Http2ConnectionTest, AnswersRequestsBesideEachOther) {
    const std::string body(100'000, 'b');
    const auto first = client_.request("GET", "/a");
    const auto second = client_.request("POST", "/b", body);
    const auto third = client_.request("HEAD", "/c");
    EXPECT_EQ(wait(first).body, "/a");
    EXPECT_EQ(wait(second).body, body);
    EXPECT_EQ(wait(third).status, "200");
    EXPECT_EQ(wait(third).body, "");
    EXPECT_EQ(context_.http2.requests, 3u);
}

TEST_F(Http2ConnectionTest, RefusesABodyBeyondTheLimit) {
    const std::string body(context_.limits.body_bytes + 1, 'b');
    EXPECT_EQ(wait(client_.request("POST", "/b", body)).status, "413");
    EXPECT_EQ(wait(client_.request("GET", "/a")).body, "/a");
}

TEST_F(Http2ConnectionTest, RefusesAMalformedTarget) { EXPECT_EQ(wait(client_.request("GET", "/%zz")).status, "400"); }

TEST_F(Http2ConnectionTest, StreamsABodyOfAnyLengthBothWays) {
    const std::string body(3 << 20, 's');
    const auto& response = wait(client_.request("POST", "/stream", body));
    EXPECT_EQ(response.code, 0u);
    EXPECT_EQ(response.body.size(), body.size());
}

TEST_F(Http2ConnectionTest, ClosingAStreamResetsItAlone) {
    const std::string body(100'000, 's');
    const auto id = client_.request("POST", "/stream", body, engine::http2::TestClient::BodyEnds::no);
    ASSERT_TRUE(run_until([&] { return client_.responses[id].body.size() == body.size(); }));
    stream_handler_.stream->close();
    EXPECT_EQ(wait(id).code, static_cast<std::uint32_t>(engine::http2::Code::cancel));
    EXPECT_EQ(wait(client_.request("GET", "/a")).body, "/a");
}

TEST_F(Http2ConnectionTest, AHandlerNoticesThatItsClientHasLeft) {
    const std::string body(100'000, 's');
    const auto id = client_.request("POST", "/stream", body, engine::http2::TestClient::BodyEnds::no);
    ASSERT_TRUE(run_until([&] { return client_.responses[id].body.size() == body.size(); }));
    stream_->close();
    io::wait_until([&] { return stream_handler_.ended == Errc::closed; });
}

TEST_F(Http2ConnectionTest, EndsAfterItsRequestsWhenTheServerStops) {
    const std::string body(300'000, 's');
    const auto id = client_.request("POST", "/stream", body);
    ASSERT_TRUE(run_until([&] { return !client_.responses[id].body.empty(); }));
    context_.idle.end();
    EXPECT_EQ(wait(id).body.size(), body.size());
    EXPECT_FALSE(run_until([] { return false; }));
    EXPECT_TRUE(client_.has_goaway);
}

}  // namespace
}  // namespace live::session::http2
