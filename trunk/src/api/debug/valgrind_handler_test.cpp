#include "api/debug/valgrind_handler.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::api {
namespace {

class Lines final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::info; }
    void write(LogLevel, std::string_view, std::string_view message, int) override { all.emplace_back(message); }
    std::vector<std::string> all;
};

struct ValgrindHandlerTest : HandlerFixtureOf<nlohmann::ordered_json> {
    ValgrindHandlerTest() { endpoints.serve("/api/v1/valgrind", handler); }

    Lines lines;
    Log log{lines, "test"};
    std::vector<io::LeakCheck> checks;
    ValgrindHandler handler{info, log, [this](io::LeakCheck how) { checks.push_back(how); }};
    io::Scope scope{"test"};
};

TEST_F(ValgrindHandlerTest, HasARequestForEachCheck) {
    for (const auto& [check, shown, call] : {std::tuple{"?check=full", "full", "VALGRIND_DO_LEAK_CHECK"},
                                             {"?check=quick", "quick", "VALGRIND_DO_QUICK_LEAK_CHECK"},
                                             {"?check=added", "added", "VALGRIND_DO_ADDED_LEAK_CHECK"},
                                             {"?check=changed", "changed", "VALGRIND_DO_CHANGED_LEAK_CHECK"},
                                             {"?check=new", "new", "VALGRIND_DO_NEW_LEAK_CHECK"},
                                             {"?check=other", "full", "VALGRIND_DO_LEAK_CHECK"},
                                             {"", "full", "VALGRIND_DO_LEAK_CHECK"}}) {
        const Json data = ask_json(std::string("/api/v1/valgrind") + check)["data"];
        expect_fields(data, {{"check", kText}, {"help", kText}, {"see", kText}, {"call", kText}});
        EXPECT_EQ(data["check"], shown);
        EXPECT_EQ(data["call"], call);
    }
    EXPECT_EQ(ask("/api/v1/valgrind", "POST").status, 405);
}

TEST_F(ValgrindHandlerTest, RunsTheNewestRequestOnceInAnotherFiber) {
    MUST(scope.start("checks", [this](io::Deadline forever) { handler.run(forever, 1ms); }));
    ask_json("/api/v1/valgrind?check=full");
    ask_json("/api/v1/valgrind?check=added");
    EXPECT_TRUE(checks.empty());
    MUST(io::sleep(io::Deadline::after(20ms)));
    EXPECT_EQ(checks, std::vector{io::LeakCheck::added});
    EXPECT_EQ(lines.all, std::vector<std::string>{"query check=added"});
    ask_json("/api/v1/valgrind?check=new");
    MUST(io::sleep(io::Deadline::after(20ms)));
    EXPECT_EQ(checks, (std::vector{io::LeakCheck::added, io::LeakCheck::fresh}));
    MUST(scope.stop(io::Deadline::after(io::kSoon)));
}

}  // namespace
}  // namespace live::api
