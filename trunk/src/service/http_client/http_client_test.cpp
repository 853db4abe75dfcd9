#include "service/http_client/http_client.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "engine/http1/parser.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"

namespace live::service::http_client {
namespace {

namespace http1 = engine::http1;

using io::kSoon;

class HttpClientTest : public testing::Test {
protected:
    void SetUp() override {
        MUST(scope_.start("server", [this](io::Deadline forever) { serve(forever); }));
    }
    void TearDown() override { MUST(scope_.stop(io::Deadline::after(kSoon))); }

    // Accepts one connection after another: reads a request, sends `answer_`, closes or stays open.
    void serve(io::Deadline deadline) {
        std::array<std::uint8_t, 4096> buffer;
        for (;;) {
            auto stream = listener_->accept(deadline);
            if (!stream.ok())
                return;
            ++connections_;
            http1::RequestParser parser({.body_bytes = 4U << 20});
            request_.reset();
            while (!request_) {
                const auto count = (*stream)->read_some(buffer, deadline);
                if (!count.ok())
                    break;
                if (!parser.feed(Bytes(buffer).first(*count)).ok())
                    break;  // a TLS hello
                request_ = parser.next();
                if (answers_heads_)
                    break;
                if (continues_ && parser.take_wants_continue()) {
                    const std::array parts{io::as_part(as_bytes(kWanted))};
                    static_cast<void>((*stream)->write_all(parts, deadline));
                }
            }
            const std::array parts{io::as_part(as_bytes(answer_))};
            static_cast<void>((*stream)->write_all(parts, deadline));
            if (stays_)
                static_cast<void>(io::sleep(deadline));
        }
    }
    std::string url(const std::string& target) const { return "http://" + listener_->endpoint().text() + target; }
    Result<http1::Response> post(const std::string& target, std::string body = "{}") {
        HttpCall call;
        call.url = url(target);
        call.headers.add("Content-Type", "application/json");
        call.body = std::move(body);
        return client_.call(call, io::Deadline::after(kSoon));
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::array<std::uint8_t, 4096> scratch_{};
    std::unique_ptr<io::TlsContext> tls_ = MUST(io::TlsContext::client(io::TlsVerify::peer));
    HttpClient client_{"test/1", scratch_, tls_.get()};
    std::unique_ptr<io::TcpListener> listener_ = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    io::Scope scope_{"test"};
    std::string answer_ = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n0";
    bool stays_ = false;
    bool answers_heads_ = false;  // without reading a body
    bool continues_ = false;      // answers "100 Continue"
    static constexpr std::string_view kWanted = "HTTP/1.1 100 Continue\r\n\r\n";
    std::optional<http1::Request> request_;
    int connections_ = 0;
};

TEST_F(HttpClientTest, SendsTheRequestAndReturnsTheResponse) {
    const auto answer = post("/api/v1/streams?key=a%20b", "{\"action\":\"on_publish\"}");
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "0");
    ASSERT_TRUE(request_.has_value());
    EXPECT_EQ(request_->method, "POST");
    EXPECT_EQ(request_->target, "/api/v1/streams?key=a%20b");
    EXPECT_EQ(request_->body, "{\"action\":\"on_publish\"}");
    EXPECT_EQ(request_->headers.find("Host"), listener_->endpoint().text());
    EXPECT_EQ(request_->headers.find("Content-Type"), "application/json");
    EXPECT_EQ(request_->headers.find("Content-Length"), "23");
    EXPECT_EQ(request_->headers.find("User-Agent"), "test/1");
    EXPECT_TRUE(request_->headers.has_token("Connection", "keep-alive"));
}

TEST_F(HttpClientTest, UsesAConnectionPerCall) {
    EXPECT_TRUE(post("/").ok());
    EXPECT_TRUE(post("/").ok());
    EXPECT_EQ(connections_, 2);
}

TEST_F(HttpClientTest, TakesEveryFormOfABody) {
    answer_ = "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"c\r\n8\r\node\": 0}\r\n0\r\n\r\n";
    EXPECT_EQ(post("/")->body, "{\"code\": 0}");
    answer_ = "HTTP/1.0 200 OK\r\n\r\nuntil the end";
    EXPECT_EQ(post("/")->body, "until the end");
    answer_ = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno";
    const auto answer = post("/");
    EXPECT_EQ(answer->status, 404);
    EXPECT_EQ(answer->body, "no");
}

TEST_F(HttpClientTest, FollowsNoRedirect) {
    answer_ = "HTTP/1.1 302 Found\r\nLocation: " + url("/other") + "\r\nContent-Length: 0\r\n\r\n";
    EXPECT_EQ(post("/")->status, 302);
    EXPECT_EQ(connections_, 1);
}

TEST_F(HttpClientTest, LimitsTheBody) {
    const auto answer_of = [](std::size_t bytes) {
        return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" + std::string(bytes, ' ');
    };
    answer_ = answer_of(kAnswerBytesMax);
    EXPECT_TRUE(post("/").ok());
    answer_ = answer_of(kAnswerBytesMax + 1);
    EXPECT_EQ(post("/").code(), Errc::limit);
}

TEST_F(HttpClientTest, LeavesTheRestOfALongBodyOnRequest) {
    HttpCall call;
    call.url = url("/");
    call.answer_bytes_max = 64;
    call.rest = HttpCall::Rest::left;
    const auto status = [&](const std::string& answer) {
        answer_ = answer;
        const auto got = client_.call(call, io::Deadline::after(kSoon));
        return got.ok() && got->body.size() <= call.answer_bytes_max ? got->status : 0;
    };
    EXPECT_EQ(status("HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n" + std::string(64, ' ')), 200);
    EXPECT_EQ(status("HTTP/1.1 403 Forbidden\r\nContent-Length: 65\r\n\r\n" + std::string(65, ' ')), 403);
    EXPECT_EQ(status("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n100\r\n" + std::string(256, ' ')), 201);
    EXPECT_EQ(status("HTTP/1.0 200 OK\r\n\r\n" + std::string(1'000'000, ' ')), 200) << "without an end";
    EXPECT_EQ(status("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, ' ') + "\r\n\r\n"), 0) << "a head is never left";
}

TEST_F(HttpClientTest, ReportsErrors) {
    answer_ = "nonsense\r\n\r\n";
    EXPECT_EQ(post("/").code(), Errc::malformed);
    answer_ = "";
    EXPECT_EQ(post("/").code(), Errc::closed);
    answer_ = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ntoo little";
    EXPECT_EQ(post("/").code(), Errc::closed);
    HttpCall call;
    call.url = "rtmp://127.0.0.1/";
    EXPECT_EQ(client_.call(call, io::Deadline::after(kSoon)).code(), Errc::unsupported);
    call.url = "http://127.0.0.1:1/";
    EXPECT_EQ(client_.call(call, io::Deadline::after(kSoon)).code(), Errc::closed);
}

TEST_F(HttpClientTest, ObeysTheDeadline) {
    answer_ = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na little";
    stays_ = true;
    HttpCall call;
    call.url = url("/");
    EXPECT_EQ(client_.call(call, io::Deadline::after(20ms)).code(), Errc::timed_out);
}

TEST_F(HttpClientTest, CancelEndsACall) {
    answer_ = "";
    stays_ = true;
    std::optional<Errc> ended;
    io::Scope scope("caller");
    MUST(scope.start("call", [&](io::Deadline forever) {
        HttpCall call;
        call.url = url("/");
        ended = client_.call(call, forever).code();
    }));
    while (!request_)
        ASSERT_TRUE(io::sleep(io::Deadline::after(1ms)).ok());
    MUST(scope.stop(io::Deadline::after(kSoon)));
    EXPECT_EQ(ended, Errc::cancelled);
}

TEST_F(HttpClientTest, RefusesHttpsWithoutTls) {
    answer_ = "HTTP/1.1 400 Bad Request\r\n\r\n";
    HttpCall call;
    call.url = "https://" + listener_->endpoint().text() + "/";
    EXPECT_FALSE(client_.call(call, io::Deadline::after(kSoon)).ok());
}

HttpCall put_of(const std::string& url, std::size_t bytes, int& sends) {
    HttpCall call;
    call.method = "PUT";
    call.url = url;
    call.long_body = {bytes, [bytes, &sends](io::Stream& stream, io::Deadline deadline) -> Result<void> {
                          ++sends;
                          const std::string text(bytes, 'x');
                          const std::array parts{io::as_part(as_bytes(text))};
                          return stream.write_all(parts, deadline);
                      }};
    return call;
}

TEST_F(HttpClientTest, SendsALongBodyToAServerThatDoesNotAnswerTheQuestion) {
    int sends = 0;
    const auto answer = client_.call(put_of(url("/a"), 100'000, sends), io::Deadline::after(kSoon));
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(sends, 1);
    ASSERT_TRUE(request_);
    EXPECT_EQ(request_->body, std::string(100'000, 'x'));
    EXPECT_EQ(request_->headers.find("Expect"), "100-continue");
}

TEST_F(HttpClientTest, DoesNotSendALongBodyThatIsRefused) {
    // The server answers once it has read a whole request: here at once, because nothing follows.
    answer_ = "HTTP/1.1 503 Slow Down\r\nContent-Length: 3\r\n\r\nxml";
    answers_heads_ = true;
    int sends = 0;
    const auto answer = client_.call(put_of(url("/a"), 100'000, sends), io::Deadline::after(kSoon));
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(answer->status, 503);
    EXPECT_EQ(answer->body, "xml");
    EXPECT_EQ(sends, 0);
}

TEST_F(HttpClientTest, SendsALongBodyWhenItIsWanted) {
    continues_ = true;
    int sends = 0;
    const TimePoint begun = io::now();
    const auto answer = client_.call(put_of(url("/a"), 3'000'000, sends), io::Deadline::after(kSoon));
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(sends, 1);
    EXPECT_LT(io::now() - begun, HttpClient::kContinueLimit);
}

}  // namespace
}  // namespace live::service::http_client
