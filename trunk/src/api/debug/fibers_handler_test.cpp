#include "api/debug/fibers_handler.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "base/signal.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::api {
namespace {

struct FibersHandlerTest : HandlerFixtureOf<nlohmann::ordered_json> {
    FibersHandlerTest() { endpoints.serve("/api/v1/fibers", handler); }
    ~FibersHandlerTest() override { MUST(scope.stop(io::Deadline::after(io::kSoon))); }
    Json data(const std::string& query) { return ask_json("/api/v1/fibers" + query)["data"]; }
    void start(int count) {
        for (int i = 0; i < count; ++i)
            MUST(scope.start("sleeper\xff", [](io::Deadline) { static_cast<void>(io::sleep(io::Deadline::after(1min))); }));
        MUST(io::yield(io::Deadline::never()));
    }

    FibersHandler handler{info};
    io::Scope scope{"test"};
};

TEST_F(FibersHandlerTest, HasEveryFieldOfEachFiber) {
    start(1);
    const Json shown = data("");
    expect_fields(shown, {{"total", kWhole}, {"stack_bytes", kWhole}, {"fibers", Json::value_t::array}});
    EXPECT_EQ(shown["total"], 2);
    ASSERT_EQ(shown["fibers"].size(), 2U);
    const Json& main = shown["fibers"][0];
    EXPECT_EQ(main["name"], "main");
    EXPECT_EQ(main["state"], "running");
    EXPECT_EQ(main["due_in_seconds"], nullptr);
    const Json& sleeper = shown["fibers"][1];
    expect_fields(sleeper, {{"id", kWhole},
                            {"name", kText},
                            {"scope", kText},
                            {"age_seconds", kReal},
                            {"state", kText},
                            {"waits_for", kText},
                            {"due_in_seconds", kReal},
                            {"cancelled", kBool},
                            {"stack_high_water_bytes", kWhole}});
    EXPECT_EQ(sleeper["name"], "sleeper\xEF\xBF\xBD") << "what is no UTF-8 is replaced";
    EXPECT_EQ(sleeper["scope"], "test");
    EXPECT_EQ(sleeper["state"], "waiting with a deadline");
    EXPECT_EQ(sleeper["waits_for"], "time");
    EXPECT_GT(sleeper["due_in_seconds"], 50);
    EXPECT_GT(sleeper["stack_high_water_bytes"], 0);
    EXPECT_LE(sleeper["stack_high_water_bytes"], shown["stack_bytes"]);
}

TEST_F(FibersHandlerTest, DistinguishesRunnableFromWaitingFibers) {
    Signal never;
    MUST(scope.start("waits", [&never](io::Deadline forever) { static_cast<void>(io::wait(never, forever).ok()); }));
    MUST(io::yield(io::Deadline::never()));
    MUST(scope.start("is new", [](io::Deadline) {}));
    const Json shown = data("");
    ASSERT_EQ(shown["fibers"].size(), 3U);
    for (const Json& fiber : shown["fibers"])
        EXPECT_EQ(fiber["state"], fiber["name"] == "main" ? "running" : fiber["name"] == "waits" ? "waiting" : "runnable");
    MUST(scope.stop(io::Deadline::after(io::kSoon)));
}

TEST_F(FibersHandlerTest, BoundsThePage) {
    start(static_cast<int>(FibersHandler::kMost) + 5);
    EXPECT_EQ(data("")["fibers"].size(), 10U);
    EXPECT_EQ(data("?count=100000")["fibers"].size(), FibersHandler::kMost);
    const Json rest = data("?start=1000&count=1000");
    EXPECT_EQ(rest["fibers"].size(), 6U);
    EXPECT_EQ(rest["total"], FibersHandler::kMost + 6);
    EXPECT_EQ(ask("/api/v1/fibers?start=99999999999999999999").status, 400);
    EXPECT_EQ(ask("/api/v1/fibers?count=x").status, 400);
    EXPECT_EQ(ask("/api/v1/fibers", "DELETE").status, 405);
}

}  // namespace
}  // namespace live::api
