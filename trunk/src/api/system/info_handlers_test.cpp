#include "api/system/info_handlers.hpp"

#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "api/debug/allocator_handler.hpp"
#include "api/system/raw_handler.hpp"

namespace live::api {
namespace {

using HandlerFixture = HandlerFixtureOf<nlohmann::ordered_json>;

class FakeControl final : public RawControl {
public:
    Settings settings() const override { return now; }
    void request_reload() override { ++reloads; }
    Reload last_reload() const override { return {1023, "broken", Stage::parsing, "r8k2xyq"}; }
    Settings now{true, "127.0.0.1:1985", true, true, true, false, false};
    int reloads = 0;
};

class FakeAllocator final : public Allocator {
public:
    std::size_t property(const char* name) const override { return std::string_view(name).size(); }
    double release_rate() const override { return 0.8; }
    std::string summary() const override { return "MALLOC: 1\n"; }
};

struct InfoApiTest : HandlerFixture {
    InfoApiTest() {
        info.license = "MIT";
        info.contributors = "the history";
        info.user_options = "--rtc=on";
        info.options = "--rtc=on --gperf=off";
        info.build_date = "2024-05-06 07:08:09";
        info.build_machine = "Linux \xff";
        info.features = {{"ssl", true}, {"hds", false}};
        add_info(endpoints);
        endpoints.serve("/api/v1/raw", raw);
        endpoints.serve("/api/v1/tcmalloc", allocator_handler);
    }
    FakeControl control;
    RawHandler raw{info, control};
    FakeAllocator allocator;
    AllocatorHandler allocator_handler{info, allocator};
};

TEST_F(InfoApiTest, HasAuthorsAndFeatures) {
    expect_fields(ask_json("/api/v1/authors")["data"], {{"license", kText}, {"contributors", kText}});
    const Json data = ask_json("/api/v1/features")["data"];
    expect_fields(data, {{"options", kText}, {"options2", kText}, {"build", kText}, {"build2", kText}, {"features", kObject}});
    expect_fields(data["features"], {{"ssl", kBool}, {"hds", kBool}});
    EXPECT_EQ(data["options"], "--rtc=on");
    EXPECT_EQ(data["features"]["ssl"], true);
}

TEST_F(InfoApiTest, ShowsTheRequestWithoutSecrets) {
    headers.add("Host", "h");
    headers.add("X-One", "1 \xff");
    headers.add("authorization", "Basic c2VjcmV0");
    headers.add("Cookie", "secret");
    for (const char* path : {"/api/v1/requests?a=b", "/api/v1/tests/requests?a=b"}) {
        const Json data = ask_json(path)["data"];
        expect_fields(data, {{"uri", kText}, {"path", kText}, {"METHOD", kText}, {"headers", kObject}});
        EXPECT_EQ(data["uri"], path);
        EXPECT_EQ(data["METHOD"], "GET");
        const Json& shown = data["headers"];
        EXPECT_EQ(shown["Host"], "h");
        EXPECT_EQ(shown["sigature"], "SRS");
        EXPECT_TRUE(shown["version"].is_string());
        EXPECT_TRUE(shown["link"].is_string());
        EXPECT_TRUE(shown["time"].is_number_integer());
        EXPECT_EQ(shown.size(), 6U) << shown.dump();
    }
    EXPECT_EQ(Json::parse(ask("/api/v1/requests", "POST").body)["data"]["METHOD"], "POST");
}

TEST_F(InfoApiTest, TestEndpointsFailAndRedirect) {
    EXPECT_EQ(ask_json("/api/v1/tests/errors", 400)["code"], 100);
    const auto redirect = ask("/api/v1/tests/redirects");
    EXPECT_EQ(redirect.status, 301);
    ASSERT_EQ(redirect.headers.size(), 1U);
    EXPECT_EQ(redirect.headers[0].second, "/api/v1/tests/errors");
}

TEST_F(InfoApiTest, ReadOnlyEndpointsAcceptEveryMethod) {
    for (const char* path : {"/api/v1/authors", "/api/v1/features", "/api/v1/requests"})
        EXPECT_EQ(ask(path, "POST").status, 200) << path;
}

TEST_F(InfoApiTest, RawShowsItsSettingsWhenDisabled) {
    control.now.raw_enabled = false;
    const Json shown = ask_json("/api/v1/raw?rpc=raw")["http_api"];
    expect_fields(shown, {{"enabled", kBool}, {"listen", kText}, {"crossdomain", kBool}, {"raw_api", kObject}});
    expect_fields(shown["raw_api"],
                  {{"enabled", kBool}, {"allow_reload", kBool}, {"allow_query", kBool}, {"allow_update", kBool}});
    EXPECT_EQ(shown["listen"], "127.0.0.1:1985");
    for (const char* call : {"", "?rpc=", "?rpc=reload", "?rpc=reload-fetch", "?rpc=query", "?rpc=x"})
        EXPECT_EQ(ask_json(std::string("/api/v1/raw") + call, 403)["code"], 1061) << call;
    EXPECT_EQ(control.reloads, 0);
}

TEST_F(InfoApiTest, RawReloadsIfAllowed) {
    ask_json("/api/v1/raw?rpc=reload");
    EXPECT_EQ(control.reloads, 1);
    const Json data = ask_json("/api/v1/raw?rpc=reload-fetch")["data"];
    expect_fields(data, {{"err", kWhole}, {"msg", kText}, {"state", kWhole}, {"rid", kText}});
    EXPECT_EQ(data["err"], 1023);
    EXPECT_EQ(data["state"], 10);
    control.now.allow_reload = false;
    EXPECT_EQ(ask_json("/api/v1/raw?rpc=reload", 403)["code"], 1061);
    EXPECT_EQ(control.reloads, 1);
    EXPECT_EQ(ask_json("/api/v1/raw", 400)["code"], 1060);
    EXPECT_EQ(ask_json("/api/v1/raw?rpc=nonsense", 400)["code"], 1060);
    EXPECT_EQ(ask_json("/api/v1/raw?rpc=query", 403)["code"], 1061);
    EXPECT_EQ(ask_json("/api/v1/raw?rpc=update", 403)["code"], 1061);
    EXPECT_EQ(ask("/api/v1/raw?rpc=reload", "POST").status, 405);
}

TEST_F(InfoApiTest, TheAllocatorShowsItsFigures) {
    EXPECT_EQ(ask("/api/v1/tcmalloc", "POST").status, 405);
    const Json data = ask_json("/api/v1/tcmalloc")["data"];
    expect_fields(data, {{"query", kObject}, {"release_rate", kReal}, {"generic", kObject}, {"tcmalloc", kObject}});
    expect_fields(data["query"], {{"page", kText}, {"help", kText}});
    expect_fields(data["generic"], {{"current_allocated_bytes", kWhole}, {"heap_size", kWhole}});
    expect_fields(data["tcmalloc"], {{"pageheap_free_bytes", kWhole},
                                     {"pageheap_unmapped_bytes", kWhole},
                                     {"slack_bytes", kWhole},
                                     {"max_total_thread_cache_bytes", kWhole},
                                     {"current_total_thread_cache_bytes", kWhole}});
    EXPECT_EQ(data["generic"]["heap_size"], 17);
    const auto summary = ask("/api/v1/tcmalloc?page=summary");
    EXPECT_EQ(summary.content_type, "text/plain");
    EXPECT_EQ(summary.body, "MALLOC: 1\n");
}

}  // namespace
}  // namespace live::api
