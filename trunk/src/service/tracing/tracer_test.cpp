#include "service/tracing/tracer.hpp"

#include <array>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/http1/parser.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "session/common/client_fixture.hpp"

namespace live::service::tracing {
namespace {

using io::kSoon;
using session::ClientKind;
using session::ClientRequest;
using session::FakeClient;

constexpr const char* kParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

ClientRequest request_of(const std::string& id, const std::string& trace_parent = {}) {
    ClientRequest request;
    request.id = id;
    session::RelayClaims claims;
    claims.trace_parent = trace_parent;
    if (!trace_parent.empty())
        request.claims = std::make_shared<const session::RelayClaims>(std::move(claims));
    return request;
}

struct TracerTest : testing::Test {
    // Answers each request with `status`.
    void serve(io::Deadline deadline) {
        std::array<std::uint8_t, 4096> buffer;
        for (;;) {
            auto stream = listener->accept(deadline);
            if (!stream.ok())
                return;
            engine::http1::RequestParser parser;
            std::optional<engine::http1::Request> request;
            while (!request) {
                const auto count = (*stream)->read_some(buffer, deadline);
                if (!count.ok() || !parser.feed(Bytes(buffer).first(*count)).ok())
                    break;
                request = parser.next();
            }
            if (request)
                requests.push_back(nlohmann::json::parse(request->body, nullptr, false));
            const std::string answer = "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: 0\r\n\r\n";
            const std::array parts{io::as_part(as_bytes(answer))};
            static_cast<void>((*stream)->write_all(parts, deadline));
        }
    }
    void TearDown() override { MUST(scope.stop(io::Deadline::after(kSoon))); }

    TracingOptions options(double percent = 100, std::uint32_t queue = 100) {
        return {true, "http://" + listener->endpoint().text() + "/v1/traces", percent, queue, "test", ""};
    }
    Tracer tracer(TracingOptions with) { return {std::move(with), {"test", "vid-1", "s1", 7}, client, log}; }
    std::vector<nlohmann::json> spans() const {
        std::vector<nlohmann::json> all;
        for (const auto& request : requests)
            for (const auto& span : request["resourceSpans"][0]["scopeSpans"][0]["spans"])
                all.push_back(span);
        return all;
    }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    std::unique_ptr<io::TcpListener> listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    std::array<std::uint8_t, 4096> scratch{};
    http_client::HttpClient client{"test/1", scratch, nullptr};
    Log log;
    io::Scope scope{"collector"};
    std::vector<nlohmann::json> requests;
    int status = 200;
};

TEST_F(TracerTest, AClientKeepsItsContextAndTheTraceOfItsRequest) {
    const Tracer one = tracer(options());
    const auto context = one.context_of(request_of("a"));
    EXPECT_EQ(one.context_of(request_of("a")), context);
    EXPECT_TRUE(context.is_sampled);
    std::set<std::string> traces, ids;
    for (int i = 0; i < 1000; ++i) {
        const auto other = one.context_of(request_of("client" + std::to_string(i)));
        traces.insert(other.trace_text());
        ids.insert(other.span_text());
    }
    EXPECT_EQ(traces.size(), 1000U);
    EXPECT_EQ(ids.size(), 1000U);
    const auto inner = one.context_of(request_of("a", kParent));
    EXPECT_EQ(inner.trace_text(), "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(inner.span, context.span);
    EXPECT_EQ(one.context_of(request_of("a", "00-bad")), context);
    ClientRequest pull = request_of("pull");
    one.adopt(pull, request_of("a", kParent));
    EXPECT_EQ(pull.claims->trace_parent, inner.text());
}

TEST_F(TracerTest, ASampleIsAShareOfTraces) {
    const Tracer quarter = tracer(options(25));
    int chosen = 0;
    for (int i = 0; i < 4000; ++i)
        chosen += quarter.context_of(request_of("client" + std::to_string(i))).is_sampled ? 1 : 0;
    EXPECT_GT(chosen, 850);
    EXPECT_LT(chosen, 1150);
    EXPECT_TRUE(quarter.context_of(request_of("a", kParent)).is_sampled);
    EXPECT_FALSE(tracer(options(0)).context_of(request_of("a")).is_sampled);
    EXPECT_FALSE(quarter.begin({}, "x").has_value());
}

TEST_F(TracerTest, IsSilentWhenOff) {
    Tracer off = tracer({});
    EXPECT_EQ(off.field_of(request_of("a")), "");
    EXPECT_FALSE(off.begin(off.context_of(request_of("a", kParent)), "x").has_value());
    ClientRequest pull = request_of("pull");
    off.adopt(pull, request_of("a"));
    EXPECT_EQ(pull.claims, nullptr);
    MUST(off.start(scope, io::Deadline::never()));
    MUST(off.stop(io::Deadline::after(kSoon)));
}

TEST_F(TracerTest, SendsTheSpansOfClientsAndOfCalls) {
    MUST(scope.start("collector", [this](io::Deadline forever) { serve(forever); }));
    Tracer one = tracer(options());
    session::ClientTable table;
    table.add_watcher(one);
    MUST(one.start(scope, io::Deadline::never()));
    FakeClient player(table, ClientKind::rtmp_play, "cam", "p1");
    FakeClient refused(table, ClientKind::fmle_publish, "cam", "p2");
    player.enter(io::now());
    player.now.sent_bytes = 1234;
    auto call = one.begin(one.context_of(player.asked), "on_play");
    ASSERT_TRUE(call.has_value());
    one.end(*std::move(call), Error(Errc::timed_out, "no answer"));
    player.leave();
    refused.entry.refuse(Error(Errc::denied, "no"));
    io::wait_until([&] { return one.sent() == 3; });
    const auto all = spans();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0]["name"], "on_play");
    EXPECT_EQ(all[0]["parentSpanId"], all[1]["spanId"]);
    EXPECT_EQ(all[0]["status"]["message"], "no answer");
    EXPECT_EQ(all[1]["name"], "play");
    EXPECT_NE(all[1].dump().find(R"("millrace.sent_bytes","value":{"intValue":"1234"})"), std::string::npos) << all[1].dump();
    EXPECT_EQ(all[2]["name"], "publish");
    EXPECT_EQ(all[2]["status"]["message"], "no");
    MUST(one.stop(io::Deadline::after(kSoon)));
}

TEST_F(TracerTest, TheQueueIsBoundedAndSentAtTheEnd) {
    MUST(scope.start("collector", [this](io::Deadline forever) { serve(forever); }));
    Tracer one = tracer(options(100, 3));
    const auto parent = one.context_of(request_of("a"));
    for (int i = 0; i < 5; ++i)
        one.end(*one.begin(parent, "x"), {});
    EXPECT_EQ(one.dropped(), 2U);
    MUST(one.stop(io::Deadline::after(kSoon)));
    EXPECT_EQ(one.sent(), 3U);
    one.end(*one.begin(parent, "x"), {});
    EXPECT_EQ(one.dropped(), 3U);
}

TEST_F(TracerTest, ACollectorThatRefusesCostsItsBatch) {
    status = 503;
    MUST(scope.start("collector", [this](io::Deadline forever) { serve(forever); }));
    Tracer one = tracer(options());
    MUST(one.start(scope, io::Deadline::never()));
    one.end(*one.begin(one.context_of(request_of("a")), "x"), {});
    io::wait_until([&] { return one.dropped() == 1; });
    EXPECT_EQ(one.sent(), 0U);
    MUST(one.stop(io::Deadline::after(kSoon)));
}

}  // namespace
}  // namespace live::service::tracing
