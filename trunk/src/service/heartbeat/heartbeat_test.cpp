#include "service/heartbeat/heartbeat.hpp"

#include <array>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/http1/parser.hpp"
#include "engine/http1/writer.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"

namespace live::service::heartbeat {
namespace {

namespace http1 = engine::http1;
using Json = nlohmann::json;

using io::kSoon;

Facts facts() {
    Facts made;
    made.ip = "10.0.0.5";
    made.server_id = "vid-4k2m9xa";
    made.service_id = "s7d01k2p";
    made.process_id = 4321;
    made.summaries = R"({"ok":true,"self":{"pid":4321}})";
    made.rtmp = {"1935"};
    made.http = {"8080"};
    made.api = {"1985"};
    return made;
}

TEST(HeartbeatBody, IdentifiesTheServer) {
    HeartbeatOptions options;
    options.device_id = "my-device";
    EXPECT_EQ(
        Json::parse(body_of(options, facts())),
        Json::parse(R"({"device_id":"my-device","ip":"10.0.0.5","server":"vid-4k2m9xa","service":"s7d01k2p","pid":"4321"})"));
}

TEST(HeartbeatBody, HasMoreMembersIfConfigured) {
    HeartbeatOptions options;
    options.summaries = true;
    options.ports = true;
    Facts with_all = facts();
    const Json without = Json::parse(body_of(options, with_all));
    EXPECT_EQ(without["summaries"], Json::parse(R"({"data":{"ok":true,"self":{"pid":4321}}})"));
    EXPECT_EQ(without["rtmp"], Json::array({"1935"}));
    EXPECT_EQ(without["http"], Json::array({"8080"}));
    EXPECT_EQ(without["api"], Json::array({"1985"}));
    EXPECT_FALSE(without.contains("srt") || without.contains("rtc"));
    with_all.others = {{"srt", {"udp://0.0.0.0:10080"}}, {"rtc", {"udp://0.0.0.0:8000", "tcp://0.0.0.0:8000"}}, {"off", {}}};
    const Json with = Json::parse(body_of(options, with_all));
    EXPECT_EQ(with["srt"], Json::array({"udp://0.0.0.0:10080"}));
    EXPECT_EQ(with["rtc"], Json::array({"udp://0.0.0.0:8000", "tcp://0.0.0.0:8000"}));
}

// The reference's proxy requires a literal address, at least one RTMP port, and ports as bare numbers.
TEST(HeartbeatBody, RegistersWithAProxy) {
    HeartbeatOptions options;
    options.url = "http://127.0.0.1:12025/api/v1/srs/register?key=1";
    ASSERT_TRUE(is_registration(options));
    Facts here = facts();
    here.rtmp = {"1935", "10.0.0.5:1936", "10.0.0.6:1937", "0.0.0.0:1938", "[::]:1938"};
    here.api = {"127.0.0.1:1985"};
    here.others = {{"rtc", {"udp://0.0.0.0:8000"}}};
    const Json body = Json::parse(body_of(options, here));
    EXPECT_EQ(body["ip"], "10.0.0.5");
    EXPECT_EQ(body["rtmp"], (Json::array({"1935", "1936", "1938"})));
    EXPECT_EQ(body["http"], Json::array({"8080"}));
    EXPECT_EQ(body["api"], Json::array()) << "nobody else reaches it";
    EXPECT_EQ(body["rtc"], Json::array({"udp://0.0.0.0:8000"}));
    here.ip = "127.0.0.1";
    EXPECT_EQ(Json::parse(body_of(options, here))["api"], Json::array({"1985"}));
    options.url = "http://127.0.0.1:12025/api/v1/srs/registered";
    EXPECT_FALSE(is_registration(options));
    EXPECT_FALSE(Json::parse(body_of(options, here)).contains("rtmp"));
}

TEST(HeartbeatBody, MissingSummariesAreAnEmptyObject) {
    HeartbeatOptions options;
    options.summaries = true;
    EXPECT_EQ(Json::parse(body_of(options, Facts()))["summaries"], Json::parse(R"({"data":{}})"));
}

class HeartbeatTest : public testing::Test, public HeartbeatSource {
protected:
    HeartbeatOptions options() const override { return options_; }
    Facts facts() const override { return heartbeat::facts(); }

    void SetUp() override {
        options_.url = "http://" + listener_->endpoint().text() + "/beat";
        MUST(scope_.start("service", [this](io::Deadline forever) { serve(forever); }));
        MUST(heartbeat_.start(scope_, io::Deadline::never()));
    }
    void TearDown() override { MUST(scope_.stop(io::Deadline::after(kSoon))); }

    void serve(io::Deadline deadline) {
        std::array<std::uint8_t, 4096> buffer;
        for (;;) {
            auto stream = listener_->accept(deadline);
            if (!stream.ok())
                return;
            http1::RequestParser parser;
            std::optional<http1::Request> request;
            while (!request) {
                const auto count = (*stream)->read_some(buffer, deadline);
                if (!count.ok())
                    return;
                MUST(parser.feed(Bytes(buffer).first(*count)));
                request = parser.next();
            }
            requests_.push_back(*std::move(request));
            const std::string text = http1::ResponseBuilder(500).with_body("text/plain", "never mind");
            const std::array parts{io::as_part(as_bytes(text))};
            static_cast<void>((*stream)->write_all(parts, deadline));
        }
    }
    void wait_for(std::size_t beats) {
        io::wait_until([&] { return requests_.size() >= beats; });
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::array<std::uint8_t, 4096> scratch_{};
    std::unique_ptr<io::TlsContext> tls_ = MUST(io::TlsContext::client(io::TlsVerify::peer));
    http_client::HttpClient client_{"test/1", scratch_, tls_.get()};
    std::unique_ptr<io::TcpListener> listener_ = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    std::vector<http1::Request> requests_;
    HeartbeatOptions options_;
    Heartbeat heartbeat_{client_, *this, Log()};
    io::Scope scope_{"test"};
};

TEST_F(HeartbeatTest, StartsWhenEnabledAndIgnoresAnswers) {
    MUST(io::sleep(io::Deadline::after(5ms)));
    EXPECT_TRUE(requests_.empty());
    options_.enabled = true;
    options_.interval = 1ms;
    options_.auth = {true, "bearer", "secret"};
    heartbeat_.apply(io::Deadline::never());
    wait_for(3);
    EXPECT_EQ(requests_[0].method, "POST");
    EXPECT_EQ(requests_[0].target, "/beat");
    EXPECT_EQ(requests_[0].headers.find("Content-Type"), "application/json");
    EXPECT_EQ(requests_[0].headers.find("Authorization"), "Bearer secret");
    EXPECT_EQ(Json::parse(requests_[2].body)["server"], "vid-4k2m9xa");
}

TEST_F(HeartbeatTest, RetriesAnUnreachableService) {
    const std::string good = options_.url;
    options_.url = "http://127.0.0.1:1/";
    options_.enabled = true;
    options_.interval = 1ms;
    heartbeat_.apply(io::Deadline::never());
    MUST(io::sleep(io::Deadline::after(5ms)));
    options_.url = good;
    wait_for(1);
    EXPECT_FALSE(requests_[0].headers.find("Authorization").has_value());
}

}  // namespace
}  // namespace live::service::heartbeat
