#include "engine/workers/metrics_report.hpp"

#include <gtest/gtest.h>

namespace live::engine::workers {
namespace {

using Type = MetricFamily::Type;
using Merging = MetricFamily::Combine;

MetricFamilies example() {
    return {{.name = "a_total",
             .type = Type::counter,
             .help = "A.",
             .samples = {{.value = std::uint64_t{18446744073709551615U}}, {.labels = {{"x", "1"}, {"y", ""}}, .value = 0.25}}},
            {.name = "empty", .help = "", .combine = Merging::first, .is_by_worker = true},
            {.name = "h",
             .type = Type::histogram,
             .help = "H.",
             .combine = Merging::greatest,
             .samples = {{.suffix = "_bucket", .labels = {{"le", "+Inf"}}, .value = std::uint64_t{3}},
                         {.suffix = "_sum", .value = 1.5}}}};
}

TEST(MetricsReport, ReadsBackEveryField) {
    EXPECT_EQ(MUST(parse_metrics_report(as_bytes(write_metrics_report(example())))), example());
    EXPECT_EQ(MUST(parse_metrics_report(as_bytes(write_metrics_report({})))), MetricFamilies());
}

TEST(MetricsReport, RefusesEveryTruncation) {
    const std::string whole = write_metrics_report(example());
    const std::string first = write_metrics_report({example()[0]});
    const std::string second = write_metrics_report({example()[0], example()[1]});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const bool is_whole = size == 1 || size == first.size() || size == second.size();
        const auto parsed = parse_metrics_report(as_bytes(whole).first(size));
        EXPECT_EQ(parsed.ok(), is_whole) << size;
        EXPECT_TRUE(is_whole || parsed.code() == Errc::malformed) << size;
    }
}

TEST(MetricsReport, RefusesOtherVersionsAndUnknownValues) {
    std::string report = write_metrics_report({{.name = "a", .help = "A."}});
    report[0] = 2;
    EXPECT_EQ(parse_metrics_report(as_bytes(report)).code(), Errc::unsupported);
    report[0] = 1;
    const std::size_t type_at = 1 + 4 + 1 + 4 + 2;
    report[type_at] = 3;
    EXPECT_EQ(parse_metrics_report(as_bytes(report)).code(), Errc::malformed);
    report[type_at] = 0;
    report[type_at + 1] = 3;
    EXPECT_EQ(parse_metrics_report(as_bytes(report)).code(), Errc::malformed);
}

TEST(MetricsReport, HasBounds) {
    const MetricFamily empty{.name = "a", .help = "A."};
    EXPECT_TRUE(parse_metrics_report(as_bytes(write_metrics_report(MetricFamilies(kReportedFamiliesMax, empty)))).ok());
    EXPECT_EQ(parse_metrics_report(as_bytes(write_metrics_report(MetricFamilies(kReportedFamiliesMax + 1, empty)))).code(),
              Errc::limit);
    MetricFamily many = empty;
    many.samples.resize(kReportedSamplesMax);
    EXPECT_TRUE(parse_metrics_report(as_bytes(write_metrics_report({many}))).ok());
    EXPECT_EQ(parse_metrics_report(as_bytes(write_metrics_report({many, {.name = "b", .help = "", .samples = {{}}}}))).code(),
              Errc::limit);
    MetricFamily labelled = empty;
    labelled.samples.push_back({.labels = {kReportedLabelsMax + 1, {"x", "1"}}});
    EXPECT_EQ(parse_metrics_report(as_bytes(write_metrics_report({labelled}))).code(), Errc::limit);
}

}  // namespace
}  // namespace live::engine::workers
