#include "service/tracing/otlp.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace live::service::tracing {
namespace {

using wire::http::parse_trace_parent;

TEST(Otlp, WritesSpansInTheFormOfTheProtocol) {
    Span span;
    span.context = MUST(parse_trace_parent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
    span.name = "play";
    span.begin = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'714'979'289'123));
    span.end = span.begin + std::chrono::seconds(1);
    span.attributes = {{"a", std::string("\xff text")}, {"b", std::int64_t{-7}}, {"c", true}};
    Span failed = span;
    failed.parent = "00f067aa0ba902b8";
    failed.kind = Span::Kind::client;
    failed.has_failed = true;
    failed.failure = "it is closed";
    const std::array spans{span, failed};
    const auto request = nlohmann::json::parse(otlp_json({"edge", "vid-1", "s1", 7}, spans), nullptr, false);
    const auto& resource = request["resourceSpans"][0];
    EXPECT_EQ(resource["resource"]["attributes"][0],
              nlohmann::json::parse(R"({"key":"service.name","value":{"stringValue":"edge"}})"));
    EXPECT_EQ(resource["resource"]["attributes"][3]["value"]["intValue"], "7");
    const auto& list = resource["scopeSpans"][0]["spans"];
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[0]["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(list[0]["spanId"], "00f067aa0ba902b7");
    EXPECT_FALSE(list[0].contains("parentSpanId"));
    EXPECT_EQ(list[0]["kind"], 2);
    EXPECT_EQ(list[0]["startTimeUnixNano"], "1714979289123000000");
    EXPECT_EQ(list[0]["endTimeUnixNano"], "1714979290123000000");
    EXPECT_EQ(list[0]["status"], nlohmann::json::object());
    EXPECT_EQ(list[0]["attributes"][1]["value"]["intValue"], "-7");
    EXPECT_EQ(list[0]["attributes"][2]["value"]["boolValue"], true);
    EXPECT_EQ(list[1]["parentSpanId"], "00f067aa0ba902b8");
    EXPECT_EQ(list[1]["kind"], 3);
    EXPECT_EQ(list[1]["status"], nlohmann::json::parse(R"({"code":2,"message":"it is closed"})"));
}

}  // namespace
}  // namespace live::service::tracing
