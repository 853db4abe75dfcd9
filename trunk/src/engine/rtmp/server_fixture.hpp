// For tests only: a Server after a simple handshake, driven by handwritten messages, with the steps most tests begin with.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/rtmp/peer_fixture.hpp"
#include "engine/rtmp/server.hpp"

namespace live::engine::rtmp {

using wire::amf::Value;
using wire::rtmp::Message;
using wire::rtmp::MessageType;
using wire::rtmp::SetChunkSize;
using wire::rtmp::UserControl;
using Words = std::vector<std::string>;

inline ServerOptions test_options() {
    ServerOptions options;
    options.identity = {"SIG", "SERVER", "MIT", "URL", "7.1.0", "AUTHORS", "10.0.0.5", 4321, "k3x9q0ab"};
    return options;
}

class ServerTest : public testing::Test {
protected:
    explicit ServerTest(ServerOptions with = test_options()) : server(std::move(with), 1) {
        send(RawClient::handshake());
        Octets answer;
        server.take_output(answer);
        EXPECT_EQ(answer.size(), 1U + 2 * 1536);
    }

    Result<void> feed(Bytes bytes) { return server.handle_bytes(TimePoint{}, bytes); }
    void send(Bytes bytes) {
        const auto done = feed(bytes);
        EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().text());
    }
    std::vector<Message> output() {
        Octets bytes;
        server.take_output(bytes);
        return reader.read(bytes);
    }
    Words words() {
        Words words;
        for (const Message& message : output())
            words.push_back(in_words(message));
        return words;
    }
    template <class T>
    std::optional<T> expect() {
        auto event = server.poll_event();
        if (!event || !std::holds_alternative<T>(*event)) {
            ADD_FAILURE() << "another event, index " << (event ? static_cast<int>(event->index()) : -1);
            return std::nullopt;
        }
        return std::move(std::get<T>(*event));
    }
    std::optional<GotMedia> expect_media() {
        auto media = server.take_media();
        EXPECT_EQ(media.size(), 1U);
        return media.empty() ? std::nullopt : std::optional(std::move(media.front()));
    }
    void expect_none() {
        EXPECT_TRUE(server.take_media().empty());
        EXPECT_FALSE(server.poll_event());
    }

    void connect() {
        send(RawClient::connect());
        EXPECT_TRUE(expect<WantsToConnect>());
        EXPECT_TRUE(server.accept_connect().ok());
        words();
    }
    void publish() {
        connect();
        send(RawClient::call("publish", 5, {Value::null(), "cam", "live"}));
        EXPECT_TRUE(expect<WantsToPublish>());
        EXPECT_TRUE(server.accept_publish().ok());
        words();
    }
    void play() {
        connect();
        send(RawClient::call("play", 0, {Value::null(), "cam"}));
        EXPECT_TRUE(expect<WantsToPlay>());
        EXPECT_TRUE(server.accept_play().ok());
        words();
    }

    Server server;
    WireReader reader;
};

}  // namespace live::engine::rtmp
