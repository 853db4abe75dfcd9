// An operator's service for tests of callbacks.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/http1/parser.hpp"
#include "engine/http1/writer.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "session/common/stream_ids.hpp"

namespace live::service::hooks {

// Records requests, and answers each path as the test sets.
class FakeHooks {
public:
    struct Got {
        std::string path;
        std::string body;  // JSON
    };

    void run(io::Deadline deadline) {
        for (;;) {
            auto stream = listener->accept(deadline);
            if (!stream.ok())
                return;
            const std::shared_ptr<io::TcpStream> shared = *std::move(stream);  // std::function must be copyable
            MUST(connections_.start("hook", [this, shared](io::Deadline forever) { answer(*shared, forever); }));
        }
    }
    void stop() { MUST(connections_.stop(io::Deadline::after(io::kSoon))); }
    std::string url(const std::string& path) const { return "http://" + listener->endpoint().text() + path; }
    std::vector<std::string> actions() const {
        std::vector<std::string> names;
        for (const Got& each : got)
            names.push_back(action_of(each.body));
        return names;
    }

    std::unique_ptr<io::TcpListener> listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    std::vector<Got> got;
    std::map<std::string, std::string> answers;  // by path; default "0"
    std::string hangs_at;                        // a path that gets no response

private:
    static std::string action_of(const std::string& body) {
        constexpr std::string_view kKey = "\"action\":\"";
        const std::size_t at = body.find(kKey);
        if (at == std::string::npos)
            return {};
        const std::size_t start = at + kKey.size();
        return body.substr(start, body.find('"', start) - start);
    }
    void answer(io::Stream& stream, io::Deadline deadline) {
        std::array<std::uint8_t, 4096> buffer;
        engine::http1::RequestParser parser;
        std::optional<engine::http1::Request> request;
        while (!request) {
            const auto count = stream.read_some(buffer, deadline);
            if (!count.ok())
                return;
            MUST(parser.feed(Bytes(buffer).first(*count)));
            request = parser.next();
        }
        got.push_back({request->target, std::string(request->body)});
        if (request->target == hangs_at) {
            static_cast<void>(io::sleep(deadline));
            return;
        }
        const auto found = answers.find(request->target);
        const std::string body = found == answers.end() ? "0" : found->second;
        const std::string text = engine::http1::ResponseBuilder(200).with_body("application/json", body);
        const std::array parts{io::as_part(as_bytes(text))};
        static_cast<void>(stream.write_all(parts, deadline));
    }

    io::Scope connections_{"hook connections"};
};

class FakeStreamIds final : public session::StreamIds {
public:
    std::string stream_id(const session::ClientRequest&, const std::string& url, const std::string& vhost) override {
        return "vid-new" + url + vhost;
    }
    std::string stream_id(const std::string& stream_url) const override { return "vid-of" + stream_url; }
};

}  // namespace live::service::hooks
