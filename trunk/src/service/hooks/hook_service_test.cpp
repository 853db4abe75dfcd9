#include "service/hooks/hook_service.hpp"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/hooks/fake_hooks_fixture.hpp"

namespace live::service::hooks {
namespace {

using io::kSoon;

nlohmann::json json_of(const FakeHooks::Got& got) { return nlohmann::json::parse(got.body); }

class Lines final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::info; }
    void write(LogLevel, std::string_view, std::string_view message, int) override {
        all += message;
        all += '\n';
    }
    std::string all;
};

class HookServiceTest : public testing::Test {
protected:
    void SetUp() override {
        MUST(scope_.start("listener", [this](io::Deadline forever) { fake_.run(forever); }));
        options_.enabled = true;
        options_.on_connect = {fake_.url("/clients")};
        options_.on_close = options_.on_connect;
        options_.on_publish = {fake_.url("/streams")};
        options_.on_unpublish = options_.on_publish;
        options_.on_play = {fake_.url("/sessions")};
        options_.on_stop = options_.on_play;
    }
    void TearDown() override {
        MUST(service_.stop(io::Deadline::after(kSoon)));
        MUST(scope_.stop(io::Deadline::after(kSoon)));
        fake_.stop();
    }

    static Subject subject(const std::string& id) {
        Subject made;
        made.request.id = id;
        made.request.app = "live";
        made.request.stream = "cam";
        made.vhost = "__defaultVhost__";
        made.stream_url = "/live/cam";
        return made;
    }
    Result<Granted> ask(Action action, const std::string& id = "a") {
        return service_.ask(action, options_, subject(id), io::Deadline::after(kSoon));
    }
    void tell(Action action, const std::string& id = "a") { service_.tell(action, options_, subject(id)); }
    void wait_for(std::size_t count) {
        io::wait_until([&] { return fake_.got.size() >= count && service_.waiting_clients() == 0; });
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::array<std::uint8_t, 4096> scratch_{};
    std::unique_ptr<io::TlsContext> tls_ = MUST(io::TlsContext::client(io::TlsVerify::peer));
    http_client::HttpClient client_{"test/1", scratch_, tls_.get()};
    FakeHooks fake_;
    FakeStreamIds ids_;
    io::Scope scope_{"test"};
    HookOptions options_;
    Lines lines_;
    HookService service_{client_, {"vid-1", "s-1"}, ids_, Log(lines_, "")};
};

TEST_F(HookServiceTest, HidesCredentialsIfTheConfSaysSo) {
    Subject made = subject("a");
    made.request.param = "?token=secret&a=b";
    MUST(service_.ask(Action::on_play, options_, made, io::Deadline::after(kSoon)));
    EXPECT_EQ(json_of(fake_.got.back())["param"], "?token=secret&a=b");
    options_.credentials = false;
    MUST(service_.ask(Action::on_play, options_, made, io::Deadline::after(kSoon)));
    EXPECT_EQ(json_of(fake_.got.back())["param"], "?token=***&a=b");
    made.request.tc_url = "rtmp://alice:secret@media.example/live";
    made.request.page_url = "http://site.example/?token=secret";
    MUST(service_.ask(Action::on_play, options_, made, io::Deadline::after(kSoon)));
    EXPECT_EQ(json_of(fake_.got.back())["tcUrl"], "rtmp://***@media.example/live");
    EXPECT_EQ(json_of(fake_.got.back())["pageUrl"], "http://site.example/?token=***");
    fake_.answers["/forward"] = R"({"code":0,"data":{"urls":[]}})";
    MUST(service_.ask_forward(fake_.url("/forward"), options_, made, io::Deadline::after(kSoon)));
    EXPECT_EQ(fake_.got.back().body.find("secret"), std::string::npos);
}

TEST_F(HookServiceTest, PassesOnTheTokenOfTheHeader) {
    const auto param_with = [this](std::string param) {
        Subject made = subject("a");
        made.request.param = std::move(param);
        made.request.credentials = std::make_shared<const session::Credentials>(session::Credentials{{}, {}, "a+b", {}, {}});
        MUST(service_.ask(Action::on_play, options_, made, io::Deadline::after(kSoon)));
        return json_of(fake_.got.back())["param"].get<std::string>();
    };
    EXPECT_EQ(param_with(""), "?token=a%2Bb");
    EXPECT_EQ(param_with("?a=b"), "?a=b&token=a%2Bb");
    EXPECT_EQ(param_with("a=b"), "a=b&token=a%2Bb");
    EXPECT_EQ(param_with("?token=c"), "?token=c") << "that of the query is used";
    options_.credentials = false;
    EXPECT_EQ(param_with("?a=b"), "?a=b&token=***");
}

TEST_F(HookServiceTest, ReportsEventsOfAClientOnceAndInOrder) {
    EXPECT_TRUE(ask(Action::on_connect).ok());
    EXPECT_TRUE(ask(Action::on_publish).ok());
    tell(Action::on_unpublish);
    tell(Action::on_close);
    wait_for(4);
    EXPECT_EQ(fake_.actions(), (std::vector<std::string>{"on_connect", "on_publish", "on_unpublish", "on_close"}));
    EXPECT_EQ(fake_.got[1].path, "/streams");
    EXPECT_EQ(json_of(fake_.got[1])["stream_id"], "vid-new/live/cam__defaultVhost__");
    EXPECT_EQ(json_of(fake_.got[2])["stream_id"], "vid-of/live/cam");
    EXPECT_EQ(json_of(fake_.got[3])["server_id"], "vid-1");
}

TEST_F(HookServiceTest, SendsRequestsAfterEventsOfTheSameClient) {
    tell(Action::on_unpublish);
    tell(Action::on_stop);
    EXPECT_TRUE(ask(Action::on_connect).ok());
    EXPECT_EQ(fake_.actions(), (std::vector<std::string>{"on_unpublish", "on_stop", "on_connect"}));
}

TEST_F(HookServiceTest, SendsNothingWhenDisabled) {
    options_.enabled = false;
    EXPECT_TRUE(ask(Action::on_publish).ok());
    tell(Action::on_unpublish);
    options_.enabled = true;
    options_.on_publish.clear();
    EXPECT_TRUE(ask(Action::on_publish).ok());
    EXPECT_EQ(service_.waiting_clients(), 0U);
    EXPECT_TRUE(fake_.got.empty());
}

TEST_F(HookServiceTest, RefusalStopsFurtherRequestsAndHasAReason) {
    options_.on_play = {fake_.url("/1"), fake_.url("/2"), fake_.url("/3")};
    fake_.answers["/2"] = R"({"code":7,"msg":"not you"})";
    const auto asked = ask(Action::on_play);
    ASSERT_EQ(asked.code(), Errc::denied);
    EXPECT_EQ(asked.error().sentence(), "refused by the callback: not you (code 7)");
    EXPECT_EQ(fake_.got.size(), 2U);
}

TEST_F(HookServiceTest, UnreachableServiceRefuses) {
    options_.on_publish = {"http://127.0.0.1:1/"};
    EXPECT_EQ(ask(Action::on_publish).error().sentence(), "the callback on_publish failed");
    options_.on_publish = {"nonsense"};
    EXPECT_EQ(ask(Action::on_publish).code(), Errc::denied);
    options_.on_publish = {fake_.url("/html")};
    fake_.answers["/html"] = "<html/>";
    EXPECT_EQ(ask(Action::on_publish).code(), Errc::denied);
}

TEST_F(HookServiceTest, SurvivesDeeplyNestedAnswers) {
    fake_.answers["/streams"] = std::string(30'000, '[') + std::string(30'000, ']');
    std::optional<Errc> ended;
    MUST(scope_.start("asker", [&](io::Deadline) { ended = ask(Action::on_publish).code(); }));
    while (!ended)
        ASSERT_TRUE(io::sleep(io::Deadline::after(1ms)).ok());
    EXPECT_EQ(ended, Errc::denied);
}

TEST_F(HookServiceTest, NotifiesEveryUrlAfterAFailure) {
    options_.on_stop = {"http://127.0.0.1:1/", fake_.url("/1"), fake_.url("/2")};
    fake_.answers["/1"] = "no";
    tell(Action::on_stop);
    wait_for(2);
    EXPECT_EQ(fake_.got[1].path, "/2");
}

TEST_F(HookServiceTest, HangingServiceDelaysNoOtherClient) {
    fake_.hangs_at = "/hang";
    HookOptions hanging = options_;
    hanging.on_stop = {fake_.url("/hang")};
    hanging.on_publish = hanging.on_stop;
    service_.tell(Action::on_stop, hanging, subject("stuck"));
    MUST(scope_.start("stuck asker", [&](io::Deadline forever) {
        static_cast<void>(service_.ask(Action::on_publish, hanging, subject("also stuck"), forever));
    }));
    while (fake_.got.size() < 2)
        ASSERT_TRUE(io::sleep(io::Deadline::after(1ms)).ok());
    EXPECT_TRUE(ask(Action::on_publish).ok());
    tell(Action::on_unpublish);
    while (fake_.got.size() < 4)
        ASSERT_TRUE(io::sleep(io::Deadline::after(1ms)).ok());
    for (int i = 0; i < 1'000 && service_.waiting_clients() > 1; ++i)
        ASSERT_TRUE(io::sleep(io::Deadline::after(1ms)).ok());
    EXPECT_EQ(service_.waiting_clients(), 1U) << "only the stuck one";
    MUST(service_.stop(io::Deadline::after(150ms)));  // cancels it
}

TEST_F(HookServiceTest, MoreClientsThanDeliverersAreAllNotified) {
    const std::size_t count = HookService::kDeliverersMax + 50;
    for (std::size_t i = 0; i < count; ++i)
        tell(Action::on_close, std::to_string(i));
    wait_for(count);
    std::vector<std::string> ids;
    for (const auto& got : fake_.got)
        ids.push_back(json_of(got)["client_id"]);
    std::ranges::sort(ids);
    EXPECT_EQ(std::unique(ids.begin(), ids.end()) - ids.begin(), static_cast<std::ptrdiff_t>(count));
}

TEST_F(HookServiceTest, TheQueueIsBounded) {
    fake_.hangs_at = "/streams";
    Subject long_winded = subject("a");
    long_winded.request.param = std::string(512 << 10, 'x');
    for (int i = 0; i < 40; ++i)
        service_.tell(Action::on_unpublish, options_, long_winded);
    EXPECT_EQ(service_.dropped(), 9U) << "31 and a bit fit into 16 MiB";
    MUST(service_.stop(io::Deadline::after(150ms)));
}

TEST_F(HookServiceTest, DeliversTheQueueBeforeTheEnd) {
    for (int i = 0; i < 10; ++i)
        tell(Action::on_close, std::to_string(i));
    MUST(service_.stop(io::Deadline::after(kSoon)));
    EXPECT_EQ(fake_.got.size(), 10U);
}

TEST_F(HookServiceTest, ReportsAndFetchesFragmentsAndLogsTheStatus) {
    options_.on_hls = {fake_.url("/hls")};
    options_.on_hls_notify = {fake_.url("/a/[ts_url]"), "http://127.0.0.1:1/[ts_url]", fake_.url("/b/[stream]/[ts_url]")};
    fake_.answers["/b/cam/cam-7.ts"] = std::string(300'000, 'x');  // the fragment itself
    Fragment fragment;
    fragment.url = "cam-7.ts";
    fragment.number = 7;
    service_.report_fragment(options_, subject("a"), fragment);
    wait_for(3);
    EXPECT_EQ(json_of(fake_.got[0])["seq_no"], 7);
    EXPECT_EQ(fake_.got[1].path, "/a/cam-7.ts");
    EXPECT_EQ(fake_.got[2].path, "/b/cam/cam-7.ts");
    const auto line_of = [this](const std::string& text) {
        const std::size_t at = lines_.all.find(text);
        return at == std::string::npos ? "" : lines_.all.substr(at, lines_.all.find('\n', at) - at);
    };
    EXPECT_NE(line_of("on_hls_notify, url=" + fake_.url("/a/cam-7.ts")).find("status=200"), std::string::npos) << lines_.all;
    EXPECT_NE(line_of("on_hls_notify, url=" + fake_.url("/b/cam/cam-7.ts")).find("status=200"), std::string::npos) << lines_.all;
    EXPECT_NE(lines_.all.find("on_hls_notify failed, url=http://127.0.0.1:1/cam-7.ts"), std::string::npos) << lines_.all;
}

TEST_F(HookServiceTest, CountsThePlayersOfAStream) {
    EXPECT_TRUE(ask(Action::on_play, "a").ok());
    EXPECT_TRUE(ask(Action::on_play, "b").ok());
    fake_.answers["/sessions"] = R"({"code":1})";
    EXPECT_FALSE(ask(Action::on_play, "c").ok());
    fake_.answers.clear();
    tell(Action::on_stop, "b");
    wait_for(4);
    tell(Action::on_stop, "a");
    wait_for(5);
    std::vector<int> counts;
    for (const auto& got : fake_.got)
        counts.push_back(json_of(got)["clients"]);
    EXPECT_EQ(counts, (std::vector<int>{1, 2, 3, 1, 0}));
}

TEST_F(HookServiceTest, RequestsForwardDestinations) {
    fake_.answers["/forward"] = R"({"code":0,"data":{"urls":["rtmp://10.0.0.9/live/cam"]}})";
    const auto urls = service_.ask_forward(fake_.url("/forward"), options_, subject("a"), io::Deadline::after(kSoon));
    ASSERT_TRUE(urls.ok());
    EXPECT_EQ(*urls, std::vector<std::string>{"rtmp://10.0.0.9/live/cam"});
    EXPECT_EQ(fake_.actions(), std::vector<std::string>{"on_forward"});
    EXPECT_EQ(service_.ask_forward(fake_.url("/zero"), options_, subject("a"), io::Deadline::after(kSoon)).code(), Errc::denied);
}

}  // namespace
}  // namespace live::service::hooks
