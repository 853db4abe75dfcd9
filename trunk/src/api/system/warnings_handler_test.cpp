#include "api/system/warnings_handler.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"

namespace live::api {
namespace {

struct Sink final : LogSink {
    LogLevel level() const override { return LogLevel::info; }
    void write(LogLevel, std::string_view, std::string_view, int) override {}
    std::vector<LoggedWarning> warnings() const override { return lines; }
    std::vector<LoggedWarning> lines;
};

struct WarningsApiTest : HandlerFixtureOf<nlohmann::ordered_json> {
    WarningsApiTest() { endpoints.add<WarningsHandler>(WarningsHandler::kPath, info, log); }
    Sink sink;
    Log log{sink, "id"};
};

TEST_F(WarningsApiTest, ListsThemAndCountsRepeats) {
    EXPECT_EQ(ask_json("/api/v1/warnings")["data"]["warnings"], Json::array());
    const std::chrono::system_clock::time_point at(std::chrono::milliseconds(1'234'567));
    sink.lines = {{at, LogLevel::warn, "a", "late \xff", 3}, {at, LogLevel::error, "b", "broken", 1}};
    const Json lines = ask_json("/api/v1/warnings")["data"]["warnings"];
    ASSERT_EQ(lines.size(), 2U);
    expect_fields(lines[0], {{"time", kWhole}, {"level", kText}, {"id", kText}, {"text", kText}, {"times", kWhole}});
    EXPECT_EQ(lines[0]["time"], 1'234'567);
    EXPECT_EQ(lines[0]["times"], 3);
    EXPECT_EQ(lines[0]["level"], "warning");
    EXPECT_EQ(lines[1]["level"], "error");
}

}  // namespace
}  // namespace live::api
