#include "api/common/metrics_sum.hpp"

#include <array>

#include <gtest/gtest.h>

namespace live::api {
namespace {

using Type = MetricFamily::Type;
using Merging = MetricFamily::Combine;

// The text of the sum over workers 1, 2 and so on.
template <class Write>
std::string sum_of(std::initializer_list<Write> workers) {
    MetricsSum sum;
    std::size_t worker = 0;
    for (const Write& write : workers) {
        MetricsText text;
        write(text);
        sum.add(++worker, text.take_families());
    }
    return metrics_text(sum.families());
}
using Write = void (*)(MetricsText&);

TEST(MetricsSum, AddsSamplesWithTheSameLabels) {
    EXPECT_EQ(sum_of<Write>(
                  {[](MetricsText& text) { text.family("x_total", Type::counter, "X.").sample(std::uint64_t{5}, {{"a", "1"}}); },
                   [](MetricsText& text) {
                       text.family("x_total", Type::counter, "X.")
                           .sample(std::uint64_t{6}, {{"a", "1"}})
                           .sample(std::uint64_t{1}, {{"a", "2"}});
                       text.family("only_here", Type::gauge, "O.").sample(0.5);
                   }}),
              "# HELP x_total X.\n# TYPE x_total counter\nx_total{a=\"1\"} 11\nx_total{a=\"2\"} 1\n"
              "# HELP only_here O.\n# TYPE only_here gauge\nonly_here 0.5\n");
}

TEST(MetricsSum, ShowsSomeFamiliesForEachWorker) {
    constexpr Write kClients = [](MetricsText& text) {
        text.family("srs_clients", Type::gauge, "C.").by_worker().sample(std::uint64_t{2});
    };
    EXPECT_EQ(sum_of<Write>({kClients, kClients}),
              "# HELP srs_clients C.\n# TYPE srs_clients gauge\nsrs_clients 4\n"
              "srs_clients{worker=\"1\"} 2\nsrs_clients{worker=\"2\"} 2\n");
}

TEST(MetricsSum, ShowsWorkersInTheOrderOfTheirNumbers) {
    MetricsSum sum;
    for (const std::size_t worker : {3U, 1U, 2U}) {
        MetricsText text;
        text.family("srs_clients", Type::gauge, "C.").by_worker().sample(std::uint64_t{worker});
        sum.add(worker, text.take_families());
    }
    EXPECT_EQ(metrics_text(sum.families()),
              "# HELP srs_clients C.\n# TYPE srs_clients gauge\nsrs_clients 6\n"
              "srs_clients{worker=\"1\"} 1\nsrs_clients{worker=\"2\"} 2\nsrs_clients{worker=\"3\"} 3\n");
}

TEST(MetricsSum, KeepsTheGreatestOfLimitsAndTimes) {
    EXPECT_EQ(
        sum_of<Write>({[](MetricsText& text) { text.family("up", Type::gauge, "U.").combine(Merging::greatest).sample(2.5); },
                       [](MetricsText& text) { text.family("up", Type::gauge, "U.").combine(Merging::greatest).sample(7.5); },
                       [](MetricsText& text) { text.family("up", Type::gauge, "U.").combine(Merging::greatest).sample(1.0); }}),
        "# HELP up U.\n# TYPE up gauge\nup 7.5\n");
}

TEST(MetricsSum, KeepsOneSampleWhereLabelsDifferByProcess) {
    EXPECT_EQ(sum_of<Write>(
                  {[](MetricsText& text) {
                       text.family("build", Type::gauge, "B.").combine(Merging::first).sample(std::uint64_t{1}, {{"pid", "7"}});
                   },
                   [](MetricsText& text) {
                       text.family("build", Type::gauge, "B.").combine(Merging::first).sample(std::uint64_t{1}, {{"pid", "8"}});
                   }}),
              "# HELP build B.\n# TYPE build gauge\nbuild{pid=\"7\"} 1\n");
}

TEST(MetricsSum, AddsHistogramsAndShowsTheirTotalsByWorker) {
    constexpr Write kLag = [](MetricsText& text) {
        constexpr std::array kBounds = {1.0};
        constexpr std::array<std::uint64_t, 2> kCounts = {3, 1};
        text.family("lag", Type::histogram, "L.").by_worker().histogram(kBounds, kCounts, 5.5);
    };
    EXPECT_EQ(sum_of<Write>({kLag, kLag}),
              "# HELP lag L.\n# TYPE lag histogram\nlag_bucket{le=\"1\"} 6\nlag_bucket{le=\"+Inf\"} 8\n"
              "lag_sum 11\nlag_sum{worker=\"1\"} 5.5\nlag_sum{worker=\"2\"} 5.5\n"
              "lag_count 8\nlag_count{worker=\"1\"} 4\nlag_count{worker=\"2\"} 4\n");
}

TEST(MetricsSum, AddsWholeNumbersExactly) {
    constexpr Write kMany = [](MetricsText& text) {
        text.family("n_total", Type::counter, "N.").sample(std::uint64_t{9007199254740993U});
    };
    EXPECT_EQ(sum_of<Write>({kMany, kMany}), "# HELP n_total N.\n# TYPE n_total counter\nn_total 18014398509481986\n");
    EXPECT_EQ(metrics_text(MetricsSum().families()), "");
}

}  // namespace
}  // namespace live::api
