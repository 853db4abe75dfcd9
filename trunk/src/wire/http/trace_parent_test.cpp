#include "wire/http/trace_parent.hpp"

#include <gtest/gtest.h>

namespace live::wire::http {
namespace {

constexpr std::string_view kText = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceParent, ReadsAndWritesTheExampleOfTheSpecification) {
    const TraceParent parent = MUST(parse_trace_parent(kText));
    EXPECT_EQ(parent.trace_text(), "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(parent.span_text(), "00f067aa0ba902b7");
    EXPECT_TRUE(parent.is_sampled);
    EXPECT_EQ(parent.text(), kText);
    const TraceParent other = MUST(parse_trace_parent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe"));
    EXPECT_FALSE(other.is_sampled);
    EXPECT_EQ(MUST(parse_trace_parent(other.text())), other);
}

TEST(TraceParent, ReadsLaterVersions) {
    EXPECT_TRUE(parse_trace_parent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").ok());
    EXPECT_TRUE(parse_trace_parent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what").ok());
    EXPECT_FALSE(parse_trace_parent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what").ok());
}

TEST(TraceParent, RefusesOthers) {
    for (const std::string_view text :
         {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what",
          "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
          "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g", "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7=01"})
        EXPECT_EQ(parse_trace_parent(text).code(), Errc::malformed) << text;
    for (std::size_t size = 0; size < kText.size(); ++size)
        EXPECT_FALSE(parse_trace_parent(kText.substr(0, size)).ok()) << size;
}

}  // namespace
}  // namespace live::wire::http
