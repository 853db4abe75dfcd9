// A client and a server of HTTP/2 over a link that cuts bytes anywhere: every response is whole and its own.
#include <list>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/http2/client_fixture.hpp"
#include "engine/http2/server.hpp"

namespace live::engine::http2 {
namespace {

class Http2Link {
public:
    explicit Http2Link(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }

    // Moves everything both ways until nothing is left.
    void run() {
        for (bool is_busy = true; is_busy;) {
            up_ += client.output();
            is_busy = deliver(up_, [&](Bytes bytes) { ASSERT_TRUE(server.handle_bytes(now_, bytes).ok()); });
            is_busy |= serve();
            for (Bytes output = MUST(server.next_output()); !output.empty(); output = MUST(server.next_output()))
                down_ += as_text(output);
            is_busy |= deliver(down_, [&](Bytes bytes) { ASSERT_TRUE(client.receive(bytes)); });
            now_ += std::chrono::milliseconds(1);
        }
    }

    TestClient client;
    Server server;

private:
    struct Answer {
        std::string body;
        std::size_t sent = 0;
        ::iovec part{};
        bool is_begun = false;
        bool is_offered = false;
    };

    template <class Take>
    bool deliver(std::string& bytes, Take take) {
        if (bytes.empty())
            return false;
        const std::size_t size = 1 + below(std::min<std::size_t>(bytes.size(), 20'000));
        take(as_bytes(std::string_view(bytes).substr(0, size)));
        bytes.erase(0, size);
        return true;
    }

    // The response is the path and then the body, in pieces of random sizes.
    bool serve() {
        bool is_busy = false;
        while (const auto event = server.poll_event()) {
            is_busy = true;
            Answer& answer = answers_[event->stream];
            switch (event->kind) {
                case Event::Kind::request: answer.body = must_have(server.take_request(event->stream)).message.target; break;
                case Event::Kind::body: answer.body += server.take_body(event->stream); break;
                case Event::Kind::writable: take_back(event->stream, answer); break;
                case Event::Kind::closed: answers_.erase(event->stream); break;
            }
        }
        for (auto& [id, answer] : answers_)
            is_busy |= offer(id, answer);
        return is_busy;
    }

    void take_back(StreamId id, Answer& answer) {
        answer.sent += server.withdraw(id);
        answer.is_offered = false;
    }

    bool offer(StreamId id, Answer& answer) {
        if (answer.is_offered || !server.is_body_complete(id) || (answer.is_begun && answer.sent == answer.body.size()))
            return false;
        if (!std::exchange(answer.is_begun, true))
            server.respond(id, 200, {}, true);
        const std::size_t size = 1 + below(answer.body.size() - answer.sent);
        answer.part = {answer.body.data() + answer.sent, size};
        answer.is_offered = true;
        server.offer(id, std::span(&answer.part, 1), answer.sent + size == answer.body.size());
        return true;
    }

    static StreamRequest must_have(std::optional<StreamRequest> request) {
        CHECK(request.has_value());
        return *std::move(request);
    }

    std::mt19937 random_;
    TimePoint now_{};
    std::string up_;
    std::string down_;
    std::map<StreamId, Answer> answers_;
};

TEST(Http2Simulation, AnswersEachOfManyRequestsInItsOwnStream) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        Http2Link link(seed);
        std::map<std::int32_t, std::string> expected;
        std::list<std::string> bodies;
        for (int i = 0; i < 20; ++i) {
            const std::string path = "/" + std::to_string(i);
            bodies.emplace_back(link.below(3) == 0 ? link.below(300'000) : 0, static_cast<char>('a' + i));
            const auto id = link.client.request(bodies.back().empty() ? "GET" : "POST", path, bodies.back());
            expected[id] = path + bodies.back();
            if (link.below(2) == 0)
                link.run();
        }
        link.run();
        for (const auto& [id, text] : expected) {
            const auto& response = link.client.responses[id];
            EXPECT_TRUE(response.is_complete);
            EXPECT_EQ(response.code, 0u);
            EXPECT_EQ(response.status, "200");
            EXPECT_EQ(response.body, text);
        }
        EXPECT_EQ(link.server.streams(), 0u);
        EXPECT_EQ(link.server.held_bytes(), 0u);
    }
}

TEST(Http2Simulation, GivesTheWindowOfResetBodiesBack) {
    Http2Link link(7);
    const std::string body(200'000, 'x');
    for (int i = 0; i < 100; ++i) {
        const auto id = link.client.request("POST", "/in", body);
        for (int frames = 0; frames < 3; ++frames)
            static_cast<void>(link.server.handle_bytes(TimePoint(), as_bytes(link.client.output())));
        link.client.reset(id);
        static_cast<void>(link.server.handle_bytes(TimePoint(), as_bytes(link.client.output())));
        while (link.server.poll_event()) {
        }
        for (Bytes output = MUST(link.server.next_output()); !output.empty(); output = MUST(link.server.next_output()))
            ASSERT_TRUE(link.client.receive(output));
        ASSERT_EQ(link.server.held_bytes(), 0u);
    }
    const auto id = link.client.request("POST", "/last", body);
    link.run();
    EXPECT_EQ(link.client.responses[id].body, "/last" + body);
}

}  // namespace
}  // namespace live::engine::http2
