#include "service/cluster/registry_client.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "service/cluster/redis_commands.hpp"

namespace live::service::cluster {
namespace {

using engine::redis::Reply;
using io::kSoon;

std::string bulk(std::string_view text) { return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n"; }

// A registry that answers ECHO, ends the connection at QUIT, never answers HANG, and refuses scripts.
class FakeRegistry {
public:
    void run(io::Deadline deadline) {
        for (;;) {
            auto accepted = listener->accept(deadline);
            if (!accepted.ok())
                return;
            ++connections;
            // The other owner is drop().
            const std::shared_ptr<io::TcpStream> stream(*std::move(accepted));
            streams.push_back(stream);
            MUST(clients.start("client", [this, stream](io::Deadline forever) { static_cast<void>(serve(*stream, forever)); }));
        }
    }
    void publish(std::string_view text) {
        const std::string message = "*3\r\n" + bulk("message") + bulk(kEventChannel) + bulk(text);
        const std::array parts{io::as_part(as_bytes(message))};
        MUST(subscriber->write_all(parts, io::Deadline::after(kSoon)));
    }
    void drop() {
        for (const auto& stream : std::exchange(streams, {}))
            stream->close();
    }
    std::size_t count(std::string_view command) const { return static_cast<std::size_t>(std::ranges::count(commands, command)); }

    std::unique_ptr<io::TcpListener> listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    io::Scope clients{"clients"};
    std::vector<std::string> commands;  // the first word of each
    std::vector<std::shared_ptr<io::TcpStream>> streams;
    io::Stream* subscriber = nullptr;
    int connections = 0;

private:
    Result<void> serve(io::Stream& stream, io::Deadline deadline) {
        engine::redis::ReplyReader reader;  // commands have the form of replies
        std::array<std::uint8_t, 4096> buffer;
        for (;;) {
            const std::size_t count = TRY(stream.read_some(buffer, deadline));
            TRY(reader.feed(Bytes(buffer).first(count)));
            while (const auto command = TRY(reader.next())) {
                const std::string& name = command->items.at(0).text;
                commands.push_back(name);
                if (name == "QUIT") {
                    stream.close();
                    return {};
                }
                if (name == "SUBSCRIBE")
                    subscriber = &stream;
                const std::string answer = answer_to(*command);
                const std::array parts{io::as_part(as_bytes(answer))};
                if (!answer.empty())
                    TRY(stream.write_all(parts, deadline));
            }
        }
    }
    static std::string answer_to(const Reply& command) {
        const std::string& name = command.items.at(0).text;
        if (name == "SELECT" || name == "AUTH")
            return "+OK\r\n";
        if (name == "SUBSCRIBE")
            return "*3\r\n" + bulk("subscribe") + bulk(command.items.at(1).text) + ":1\r\n";
        if (name == "ECHO")
            return bulk(command.items.at(1).text);
        return name == "HANG" ? "" : "-ERR unknown\r\n";
    }
};

class RegistryClientTest : public testing::Test {
protected:
    void SetUp() override {
        MUST(scope_.start("registry", [this](io::Deadline deadline) { registry_.run(deadline); }));
        const Endpoint at = registry_.listener->endpoint();
        RegistryUrl url;
        url.places = {{at.ip, at.port}};
        url.password = "secret";
        client_.emplace(node_, RegistryClient::Access{url, nullptr, scratch_, kLease}, [this] { ++inputs_; }, Log());
    }
    void TearDown() override {
        MUST(fibers_.stop(io::Deadline::after(kSoon)));
        MUST(registry_.clients.stop(io::Deadline::after(kSoon)));
        MUST(scope_.stop(io::Deadline::after(kSoon)));
    }
    void start() {
        MUST(client_->start(fibers_));
        io::wait_until([this] { return client_->connections() == 1 && registry_.subscriber != nullptr; });
    }
    Result<Reply> call(std::vector<std::string> words) { return client_->call(std::move(words), io::Deadline::after(kSoon)); }

    static constexpr std::chrono::seconds kLease = kSoon;

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::array<std::uint8_t, 4096> scratch_{};
    FakeRegistry registry_;
    engine::cluster::ClusterNode node_{{}, {.id = "a", .run = 1, .host = "127.0.0.1"}, 1};
    io::Scope scope_{"test"};
    io::Scope fibers_{"fibers"};
    int inputs_ = 0;
    std::optional<RegistryClient> client_;
};

TEST_F(RegistryClientTest, OpensAConnectionForCommandsAndOneForEvents) {
    EXPECT_EQ(call({"ECHO", "early"}).code(), Errc::closed);
    start();
    EXPECT_EQ(registry_.connections, 2);
    EXPECT_EQ(registry_.count("AUTH"), 2U);
    EXPECT_EQ(registry_.count("SUBSCRIBE"), 1U);
    EXPECT_EQ(client_->label().find("secret"), std::string::npos);
}

TEST_F(RegistryClientTest, RepliesReachTheirCallersInOrder) {
    start();
    std::vector<std::string> replies;
    for (const char* word : {"one", "two", "three"})
        MUST(fibers_.start("caller",
                           [this, &replies, word](io::Deadline) { replies.push_back(MUST(call({"ECHO", word})).text); }));
    io::wait_until([&] { return replies.size() == 3; });
    EXPECT_EQ(replies, (std::vector<std::string>{"one", "two", "three"}));
    EXPECT_TRUE(MUST(call({"NONSENSE"})).is_error());
}

TEST_F(RegistryClientTest, TheEndOfTheConnectionEndsTheCalls) {
    start();
    EXPECT_EQ(call({"QUIT"}).code(), Errc::closed);
    io::wait_until([this] { return client_->connections() == 2; });
    EXPECT_EQ(MUST(call({"ECHO", "again"})).text, "again");
}

TEST_F(RegistryClientTest, ACallEndsAtItsDeadlineAndTheRestContinues) {
    start();
    EXPECT_EQ(client_->call({"HANG"}, io::Deadline::after(1ms)).code(), Errc::timed_out);
    EXPECT_EQ(client_->connections(), 1U);
}

TEST_F(RegistryClientTest, BoundsTheCalls) {
    start();
    std::size_t ended = 0;
    for (std::size_t i = 0; i < RegistryClient::kCallsMax; ++i)
        MUST(fibers_.start("caller", [this, &ended](io::Deadline) { ended += call({"HANG"}).ok() ? 0 : 1; }));
    io::wait_until([this] { return registry_.count("HANG") == RegistryClient::kCallsMax; });
    EXPECT_EQ(call({"ECHO", "one more"}).code(), Errc::limit);
    EXPECT_EQ(ended, 0U);
    registry_.drop();
    io::wait_until([&] { return ended == RegistryClient::kCallsMax; });
}

TEST_F(RegistryClientTest, SendsTheCommandsOfTheNode) {
    start();
    node_.find("/live/cam", io::now());
    const int before = inputs_;
    ASSERT_TRUE(node_.has_commands());
    client_->wake();
    io::wait_until([&] { return inputs_ > before; });
    EXPECT_FALSE(node_.has_commands());
    EXPECT_GE(registry_.count("EVAL") + registry_.count("EVALSHA"), 1U);
}

TEST_F(RegistryClientTest, EventsReachTheNode) {
    start();
    io::wait_until([this] { return node_.is_up() || inputs_ > 0; });
    const int before = inputs_;
    registry_.publish("published|b|1|1|/live/cam");
    io::wait_until([&] { return inputs_ > before; });
}

}  // namespace
}  // namespace live::service::cluster
