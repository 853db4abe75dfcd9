// For tests of handlers: a listener with a router, and a client.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/http1/parser.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_stream.hpp"
#include "session/http/acceptor.hpp"
#include "session/http/static_handler.hpp"

namespace live::service::files {

// Maps every path to a file below one folder.
class OneFolder final : public session::http::FileRoots {
public:
    std::optional<session::http::FilePlace> find(const session::http::Request& request) const override {
        return session::http::FilePlace{folder, request.path(), vhosts ? request.vhost() : ""};
    }
    std::string folder;
    bool vhosts = false;  // whether each host is a separate virtual host
};

class SiteFixture : public testing::Test {
protected:
    static constexpr auto kSoon = io::kSoon;
    using Response = engine::http1::Response;

    void SetUp() override {
        auto listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
        acceptor_ = std::make_unique<session::http::Acceptor>(std::move(listener), nullptr, context_, places_,
                                                              session::ConnectionLimits::Kind::client, connections_, log_);
        MUST(listeners_.start("listener", [this](io::Deadline deadline) { acceptor_->run(deadline); }));
    }
    void TearDown() override {
        MUST(listeners_.stop(io::Deadline::after(kSoon)));
        MUST(connections_.stop(io::Deadline::after(kSoon)));
    }

    // Sends a request on a new connection with Host: h, which is closed after the response unless `connection` keeps it open.
    std::unique_ptr<io::TcpStream> open(std::string_view method, std::string_view target, std::string_view connection = "close") {
        auto stream = MUST(io::TcpStream::connect(acceptor_->listener().endpoint(), io::Deadline::after(kSoon)));
        const std::string text = std::string(method) + " " + std::string(target) +
                                 " HTTP/1.1\r\nHost: h\r\nConnection: " + std::string(connection) + "\r\n\r\n";
        MUST(stream->write_all(std::array{io::as_part(as_bytes(text))}, io::Deadline::after(kSoon)));
        return stream;
    }
    // The whole response; status 0 when there was none.
    using Parser = engine::http1::ResponseParser;
    static Response receive(io::TcpStream& stream, Parser::RequestWas was = Parser::RequestWas::other) {
        Parser parser(was);
        std::array<std::uint8_t, 4'096> buffer;
        for (;;) {
            const auto count = stream.read_some(buffer, io::Deadline::after(kSoon));
            if (count.ok())
                static_cast<void>(MUST(parser.feed(Bytes(buffer).first(*count))));
            if (auto response = parser.next())
                return *std::move(response);
            if (!count.ok())
                return {};
        }
    }
    Response ask(std::string_view target, std::string_view method = "GET") {
        const auto stream = open(method, target);
        return receive(*stream, method == "HEAD" ? Parser::RequestWas::head : Parser::RequestWas::other);
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::array<std::uint8_t, 4'096> scratch_{};
    Log log_;
    session::http::Router router_;
    session::http::Context context_{router_, scratch_, "test", true, {}, {}, 0};
    session::ConnectionLimits places_{10, log_};
    io::Scope connections_{"connections"};
    io::Scope listeners_{"listeners"};
    std::unique_ptr<session::http::Acceptor> acceptor_;
};

}  // namespace live::service::files
