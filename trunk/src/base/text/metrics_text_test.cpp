#include "base/text/metrics_text.hpp"

#include <array>

#include <gtest/gtest.h>

namespace live {
namespace {

using Type = MetricsText::Type;

TEST(MetricsText, WritesFamiliesSamplesAndLabels) {
    MetricsText text;
    text.family("a_total", Type::counter, "What a is.").sample(std::uint64_t{18446744073709551615U});
    text.family("b", Type::gauge, "What b is.").sample(0.25, {{"x", "1"}, {"y", "two"}}).sample(3.0, {{"x", ""}});
    EXPECT_EQ(text.take(),
              "# HELP a_total What a is.\n# TYPE a_total counter\na_total 18446744073709551615\n"
              "# HELP b What b is.\n# TYPE b gauge\nb{x=\"1\",y=\"two\"} 0.25\nb{x=\"\"} 3\n");
}

TEST(MetricsText, WritesHistogramsAddedUp) {
    constexpr std::array kBounds = {0.5, 1.0};
    constexpr std::array<std::uint64_t, 3> kCounts = {2, 0, 3};
    MetricsText text;
    text.family("h", Type::histogram, "H.").histogram(kBounds, kCounts, 7.5);
    EXPECT_EQ(text.take(),
              "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"0.5\"} 2\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 5\n"
              "h_sum 7.5\nh_count 5\n");
}

TEST(MetricsText, WritesOurFamiliesByTheirOldNamesToo) {
    constexpr std::array kBounds = {0.5};
    constexpr std::array<std::uint64_t, 2> kCounts = {2, 1};
    MetricsText text;
    text.family("millrace_h", Type::histogram, "H.").histogram(kBounds, kCounts, 1.5);
    text.family("srs_a", Type::gauge, "A.").sample(1.0, {{"x", "millrace_h\nmillrace_h"}});
    text.family("millrace_b", Type::gauge, "B.").sample(2.0, {{"x", "live_b"}});
    EXPECT_EQ(
        text.take(),
        "# HELP millrace_h H.\n# TYPE millrace_h histogram\nmillrace_h_bucket{le=\"0.5\"} 2\nmillrace_h_bucket{le=\"+Inf\"} 3\n"
        "millrace_h_sum 1.5\nmillrace_h_count 3\n"
        "# HELP live_h Deprecated, now millrace_h.\n# TYPE live_h histogram\nlive_h_bucket{le=\"0.5\"} 2\n"
        "live_h_bucket{le=\"+Inf\"} 3\nlive_h_sum 1.5\nlive_h_count 3\n"
        "# HELP srs_a A.\n# TYPE srs_a gauge\nsrs_a{x=\"millrace_h\\nmillrace_h\"} 1\n"
        "# HELP millrace_b B.\n# TYPE millrace_b gauge\nmillrace_b{x=\"live_b\"} 2\n"
        "# HELP live_b Deprecated, now millrace_b.\n# TYPE live_b gauge\nlive_b{x=\"live_b\"} 2\n");
}

TEST(MetricsText, EscapesLabelValues) {
    const auto written = [](std::string value) {
        MetricsText text;
        text.family("m", Type::gauge, "M.").sample(1.0, {{"l", std::move(value)}});
        const std::string all = text.take();
        return all.substr(all.rfind("m{"));
    };
    EXPECT_EQ(written("a\"} 5\nb{"), "m{l=\"a\\\"} 5\\nb{\"} 1\n");
    EXPECT_EQ(written("back\\slash"), "m{l=\"back\\\\slash\"} 1\n");
    EXPECT_EQ(written("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), "m{l=\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"} 1\n");
    for (const char* broken : {"\xff", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF0\x9F\x98"}) {
        const std::string text = written(broken);
        EXPECT_TRUE(text.starts_with("m{l=\"\xEF\xBF\xBD")) << text;
    }
}

}  // namespace
}  // namespace live
