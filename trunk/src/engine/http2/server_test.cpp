#include "engine/http2/server.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/http2/frames_fixture.hpp"

namespace live::engine::http2 {
namespace {

// A server that answers each request with its path or its body, and the frames that it has sent.
class Http2ServerTest : public testing::Test {
protected:
    struct Sent {
        FrameType type;
        std::uint8_t flags;
        std::uint32_t stream;
        std::string payload;
    };

    void SetUp() override {
        if (!is_available())
            GTEST_SKIP() << "this build has no HTTP/2";
    }
    Result<void> feed(std::string_view bytes) {
        const auto fed = server_.handle_bytes(now_, as_bytes(bytes));
        while (const auto event = server_.poll_event())
            events_.push_back(*event);
        return fed;
    }
    // Returns the first error.
    Result<void> drain() {
        for (;;) {
            const Bytes output = TRY(server_.next_output());
            if (output.empty())
                return {};
            output_ += as_text(output);
        }
    }
    std::vector<Sent> sent() {
        std::vector<Sent> frames;
        std::string_view rest = output_;
        while (rest.size() >= 9) {
            const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(rest[at]); };
            const std::size_t size = std::size_t{byte(0)} << 16 | std::size_t{byte(1)} << 8 | byte(2);
            frames.push_back({static_cast<FrameType>(byte(3)), byte(4), static_cast<std::uint32_t>(byte(7) << 8 | byte(8)),
                              std::string(rest.substr(9, size))});
            rest.remove_prefix(9 + size);
        }
        EXPECT_TRUE(rest.empty());
        return frames;
    }
    std::size_t count(FrameType type) {
        const auto frames = sent();
        return static_cast<std::size_t>(std::ranges::count(frames, type, &Sent::type));
    }
    std::size_t count(Event::Kind kind) const {
        return static_cast<std::size_t>(std::ranges::count(events_, kind, &Event::kind));
    }
    void respond(StreamId stream, std::string_view body) {
        server_.respond(stream, 200, {{"Content-Type", "text/plain"}, {"Connection", "close"}}, !body.empty());
        const std::array parts{::iovec{const_cast<char*>(body.data()), body.size()}};
        server_.offer(stream, parts, true);
        static_cast<void>(drain());
        server_.withdraw(stream);
    }

    Server server_;
    TimePoint now_{};
    std::string output_;
    std::vector<Event> events_;
};

TEST_F(Http2ServerTest, ReadsARequestWithItsAuthorityAsHost) {
    ASSERT_TRUE(
        feed(greeting() + frame(FrameType::headers, kEndStream | kEndHeaders, 1,
                                get_fields("/a?b=1") + field("accept", "*/*") + field("cookie", "a=1") + field("cookie", "b=2")))
            .ok());
    ASSERT_EQ(count(Event::Kind::request), 1u);
    const auto request = server_.take_request(1);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->message.method, "GET");
    EXPECT_EQ(request->message.target, "/a?b=1");
    EXPECT_EQ(request->message.headers.find("Host"), "h");
    EXPECT_EQ(request->message.headers.find("Cookie"), "a=1; b=2");
    EXPECT_FALSE(request->has_body);
    EXPECT_EQ(request->refusal, 0);
    EXPECT_FALSE(server_.take_request(1));
}

TEST_F(Http2ServerTest, SendsAResponseWithoutFieldsOfTheConnection) {
    ASSERT_TRUE(feed(greeting() + get(1)).ok());
    respond(1, "hello");
    const auto frames = sent();
    const auto data = std::ranges::find(frames, FrameType::data, &Sent::type);
    ASSERT_NE(data, frames.end());
    EXPECT_EQ(data->payload, "hello");
    EXPECT_EQ(data->flags & kEndStream, kEndStream);
    const auto head = std::ranges::find(frames, FrameType::headers, &Sent::type);
    EXPECT_EQ(head->payload.front(), '\x88');  // :status 200
    EXPECT_EQ(head->payload.find("close"), std::string::npos);
    while (const auto event = server_.poll_event())
        events_.push_back(*event);
    EXPECT_EQ(count(Event::Kind::closed), 1u);
    EXPECT_EQ(server_.streams(), 0u);
}

TEST_F(Http2ServerTest, KeepsABodyUntilItIsTaken) {
    ASSERT_TRUE(feed(greeting() + post(1, "twelve bytes")).ok());
    EXPECT_TRUE(server_.take_request(1)->has_body);
    EXPECT_EQ(server_.held_bytes(), 12u);
    EXPECT_TRUE(server_.is_body_complete(1));
    EXPECT_EQ(server_.take_body(1), "twelve bytes");
    EXPECT_EQ(server_.held_bytes(), 0u);
    respond(1, "");
    EXPECT_EQ(server_.streams(), 0u);
}

TEST_F(Http2ServerTest, HoldsNoMoreOfABodyThanItsWindow) {
    const std::string fields = "\x83\x87" + field(":path", "/in") + field(":authority", "h");
    ASSERT_TRUE(drain().ok());
    // The acknowledgement makes the server's window count.
    ASSERT_TRUE(feed(greeting() + frame(FrameType::settings, 1, 0) + frame(FrameType::headers, kEndHeaders, 1, fields)).ok());
    const std::string piece(16 << 10, 'x');
    for (std::size_t sent_bytes = 0; sent_bytes < std::size_t{Server::kStreamWindow}; sent_bytes += piece.size())
        ASSERT_TRUE(feed(frame(FrameType::data, 0, 1, piece)).ok());
    EXPECT_EQ(server_.held_bytes(), std::size_t{Server::kStreamWindow});
    ASSERT_TRUE(drain().ok());
    EXPECT_EQ(count(FrameType::reset), 0u);
    static_cast<void>(feed(frame(FrameType::data, 0, 1, "x")));
    static_cast<void>(drain());
    EXPECT_EQ(count(FrameType::reset) + count(FrameType::goaway), 1u);
    EXPECT_LE(server_.held_bytes(), std::size_t{Server::kStreamWindow});
}

TEST_F(Http2ServerTest, SendsNoMoreThanTheClientsWindow) {
    ASSERT_TRUE(feed(greeting() + get(1)).ok());
    const std::string body(100'000, 'b');
    server_.respond(1, 200, {}, true);
    const std::array parts{::iovec{const_cast<char*>(body.data()), body.size()}};
    server_.offer(1, parts, true);
    ASSERT_TRUE(drain().ok());
    EXPECT_EQ(server_.withdraw(1), 65'535u);  // RFC 9113, 6.9.2
    server_.want_room(1);
    ASSERT_TRUE(drain().ok());
    EXPECT_FALSE(server_.poll_event());
    ASSERT_TRUE(feed(frame(FrameType::window, 0, 0, number32(10)) + frame(FrameType::window, 0, 1, number32(10))).ok());
    ASSERT_TRUE(drain().ok());
    const auto event = server_.poll_event();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, Event::Kind::writable);
}

TEST_F(Http2ServerTest, RefusesFieldsBeyondItsLimits) {
    std::string fields = get_fields("/");
    for (int i = 0; i < 101; ++i)
        fields += field("x", "y");
    ASSERT_TRUE(feed(greeting() + frame(FrameType::headers, kEndStream | kEndHeaders, 1, fields)).ok());
    const auto many = server_.take_request(1);
    ASSERT_TRUE(many);
    EXPECT_EQ(many->refusal, 431);
    EXPECT_LE(many->message.headers.fields().size(), 101u);
    ASSERT_TRUE(feed(get(3, "/" + std::string(8 << 10, 'p'))).ok());
    EXPECT_EQ(server_.take_request(3)->refusal, 414);
}

TEST_F(Http2ServerTest, ClosesAConnectionWhoseClientResetsTooFast) {
    ASSERT_TRUE(feed(greeting()).ok());
    std::uint32_t stream = 1;
    const auto reset_one = [&] {
        const auto fed = feed(get(stream) + frame(FrameType::reset, 0, stream, number32(8)));
        stream += 2;
        return fed;
    };
    for (std::size_t i = 0; i < FloodGuard::kResetsMax; ++i)
        ASSERT_TRUE(reset_one().ok());
    const auto refused = reset_one();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.code(), Errc::limit);
    EXPECT_EQ(server_.flood(), Flood::client_resets);
    static_cast<void>(drain());
    EXPECT_EQ(count(FrameType::goaway), 1u);
}

TEST_F(Http2ServerTest, AllowsResetsAtALowRate) {
    ASSERT_TRUE(feed(greeting()).ok());
    for (std::uint32_t stream = 1; stream < 2'001; stream += 2) {
        now_ += 50ms;
        ASSERT_TRUE(feed(get(stream) + frame(FrameType::reset, 0, stream, number32(8))).ok());
    }
}

TEST_F(Http2ServerTest, ClosesAConnectionWhoseHeaderBlockHasNoEnd) {
    ASSERT_TRUE(feed(greeting() + frame(FrameType::headers, kEndStream, 1, get_fields("/"))).ok());
    Result<void> fed;
    std::size_t frames = 0;
    while (fed.ok() && frames < 1'000) {
        fed = feed(frame(FrameType::continuation, 0, 1, field("x", "y")));
        ++frames;
    }
    EXPECT_EQ(frames, FloodGuard::kContinuationsMax + 1);
    EXPECT_EQ(server_.flood(), Flood::continuations);
}

TEST_F(Http2ServerTest, ClosesAConnectionThatProvokesResets) {
    ASSERT_TRUE(feed(greeting()).ok());
    Result<void> ended;
    std::uint32_t stream = 1;
    while (ended.ok() && stream < 2'001) {
        // RFC 9113, 6.9.1: a window beyond 2^31-1 is an error of the stream.
        ended = feed(get(stream) + frame(FrameType::window, 0, stream, number32(0x7fff'ffff)));
        if (ended.ok())
            ended = drain();
        stream += 2;
    }
    EXPECT_EQ(server_.flood(), Flood::server_resets);
    EXPECT_EQ(stream / 2, FloodGuard::kResetsMax + 1);
    EXPECT_EQ(count(FrameType::goaway), 1u);
}

TEST_F(Http2ServerTest, ClosesAConnectionThatSendsOnlyControlFrames) {
    ASSERT_TRUE(feed(greeting()).ok());
    Result<void> fed;
    std::size_t frames = 0;
    while (fed.ok() && frames < 10'000) {
        fed = feed(frame(FrameType::ping, 0, 0, "12345678"));
        static_cast<void>(drain());
        ++frames;
    }
    EXPECT_EQ(server_.flood(), Flood::control);
    EXPECT_LE(frames, FloodGuard::kControlsMax + 1);
}

TEST_F(Http2ServerTest, EndsAfterItsLastRequestOnceItIsFinishing) {
    ASSERT_TRUE(feed(greeting() + get(1)).ok());
    server_.finish();
    ASSERT_TRUE(drain().ok());
    EXPECT_EQ(count(FrameType::goaway), 1u);
    ASSERT_TRUE(feed(get(3)).ok());
    EXPECT_FALSE(server_.is_open(3));
    EXPECT_FALSE(server_.is_over());
    respond(1, "last");
    EXPECT_TRUE(server_.is_over());
}

TEST_F(Http2ServerTest, TakesEveryPrefixOfAConnection) {
    const std::string whole = greeting() + get(1, "/a") + post(3, "body") + frame(FrameType::ping, 0, 0, "12345678") +
                              frame(FrameType::reset, 0, 3, number32(8)) + frame(FrameType::goaway, 0, 0, std::string(8, '\0'));
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        Server server;
        EXPECT_TRUE(server.handle_bytes(now_, as_bytes(std::string_view(whole).substr(0, size))).ok()) << size;
        std::size_t requests = 0;
        while (const auto event = server.poll_event())
            requests += event->kind == Event::Kind::request ? 1 : 0;
        EXPECT_LE(requests, 2u);
        while (!MUST(server.next_output()).empty()) {
        }
    }
}

TEST_F(Http2ServerTest, RefusesAStreamThatTheClientHasPassedOver) {
    ASSERT_TRUE(feed(greeting() + get(5)).ok());
    const auto fed = feed(get(3));
    ASSERT_FALSE(fed.ok());
    EXPECT_EQ(fed.code(), Errc::malformed);
    ASSERT_TRUE(drain().ok());
    EXPECT_EQ(count(FrameType::goaway), 1u);
}

TEST_F(Http2ServerTest, RefusesAnotherProtocol) {
    const auto fed = feed("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    ASSERT_FALSE(fed.ok());
    EXPECT_EQ(fed.code(), Errc::malformed);
}

}  // namespace
}  // namespace live::engine::http2
