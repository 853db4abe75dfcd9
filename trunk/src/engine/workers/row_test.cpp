#include "engine/workers/row.hpp"

#include <gtest/gtest.h>

namespace live::engine::workers {
namespace {

constexpr auto kAdded = Combine::add;

Row keyed(std::string key, std::uint8_t rank, Row row) {
    row.key = std::move(key);
    row.rank = rank;
    return row;
}

RowReport sum_of(const std::vector<std::pair<std::size_t, RowReport>>& reports) {
    RowReport sum;
    for (const auto& [worker, report] : reports)
        add_report(sum, worker, report);
    return sum;
}

TEST(RowSum, AddsNumbersAndKeepsTheFirstOfOtherFields) {
    const Row first = {{"id", "a"}, {"n", 1U, kAdded}, {"less", -3, kAdded}, {"real", 0.5, kAdded}, {"time", 7U}};
    const Row second = {{"id", "b"}, {"n", 2U, kAdded}, {"less", 1, kAdded}, {"real", 1U, kAdded}, {"time", 9U}, {"new", 1U}};
    EXPECT_EQ(sum_of({{2, {first}}, {1, {second}}}).head,
              (Row{{"id", "a"}, {"n", 3U, kAdded}, {"less", -2, kAdded}, {"real", 1.5, kAdded}, {"time", 7U}}));
    EXPECT_EQ(sum_of({}), RowReport());
}

TEST(RowSum, LeavesValuesOfDifferentTypes) {
    const Row numbers = {{"a", 1U, kAdded}, {"b", nullptr, kAdded}, {"c", true, kAdded}, {"d", "x", kAdded}};
    const Row others = {{"a", nullptr, kAdded}, {"b", 1U, kAdded}, {"c", true, kAdded}, {"d", Rows{{}}, kAdded}};
    EXPECT_EQ(sum_of({{1, {numbers}}, {2, {others}}}).head, numbers);
}

TEST(RowSum, CombinesObjectsInsideByTheirOwnRules) {
    const auto row = [](unsigned number) {
        return Row{{"of", Row{{"n", number, kAdded}, {"at", number}, {"deep", Row{{"n", number, kAdded}}}}}};
    };
    EXPECT_EQ(sum_of({{1, {row(2)}}, {2, {row(3)}}}).head,
              (Row{{"of", Row{{"n", 5U, kAdded}, {"at", 2U}, {"deep", Row{{"n", 5U, kAdded}}}}}}));
}

TEST(RowSum, MakesOneOfRowsWithTheSameKey) {
    const auto stream = [](std::string url, bool is_published, unsigned clients) {
        return keyed(std::move(url), is_published,
                     {{"published", is_published}, {"clients", clients, kAdded}, {"workers", Workers{true}, kAdded}});
    };
    const RowReport sum = sum_of({{1, {{{"total", 2U, kAdded}}, {stream("a", false, 3), stream("b", false, 1)}}},
                                  {2, {{{"total", 2U, kAdded}}, {stream("c", true, 5), stream("a", true, 4)}}},
                                  {3, {{{"total", 1U, kAdded}}, {stream("a", true, 6)}}}});
    EXPECT_EQ(sum.head, (Row{{"total", 5U, kAdded}}));
    const auto expected = [](std::string url, bool is_published, unsigned clients, std::vector<std::size_t> workers) {
        return keyed(
            std::move(url), is_published,
            {{"published", is_published}, {"clients", clients, kAdded}, {"workers", Workers{true, std::move(workers)}, kAdded}});
    };
    EXPECT_EQ(sum.rows, (Rows{expected("a", true, 13, {2, 1, 3}), expected("b", false, 1, {1}), expected("c", true, 5, {2})}));
}

TEST(RowSum, TakesTheFirstOfTheHighestRank) {
    const auto named = [](std::uint8_t rank, std::string name) {
        return RowReport{{}, {keyed("k", rank, {{"name", std::move(name)}})}};
    };
    const RowReport sum = sum_of({{1, named(1, "a")}, {2, named(3, "b")}, {3, named(2, "c")}, {4, named(3, "d")}});
    ASSERT_EQ(sum.rows.size(), 1U);
    EXPECT_EQ(sum.rows[0].text("name"), "b");
}

TEST(RowSum, NumbersRowsOfOneWorker) {
    const RowReport report{{{"own", Row{{"worker", Workers()}}}, {"list", Rows{{{"worker", Workers()}}}, kAdded}},
                           {{{"worker", Workers()}}}};
    const RowReport sum = sum_of({{4, report}, {2, report}});
    const auto numbered = [](std::size_t worker) { return Row{{"worker", Workers{false, {worker}}}}; };
    EXPECT_EQ(sum.rows, (Rows{numbered(4), numbered(2)}));
    EXPECT_EQ(sum.head, (Row{{"own", numbered(4)}, {"list", Rows{numbered(4), numbered(2)}, kAdded}}));
}

TEST(RowSum, CountsNamesOnce) {
    const Row first = {{"streams", Names{"a", "b"}, kAdded}};
    const Row second = {{"streams", Names{"b", "c"}, kAdded}};
    EXPECT_EQ(sum_of({{1, {first}}, {2, {second}}}).head, (Row{{"streams", Names{"a", "b", "c"}, kAdded}}));
}

TEST(RowField, HasTheTypeOfItsValue) {
    using Value = Field::Value;
    EXPECT_EQ(Field("a", "x").value, Value(std::string("x")));
    EXPECT_EQ(Field("a", std::string_view("x")).value, Value(std::string("x")));
    EXPECT_EQ(Field("a", true).value, Value(true));
    EXPECT_EQ(Field("a", std::uint16_t{1}).value, Value(std::uint64_t{1}));
    EXPECT_EQ(Field("a", -1).value, Value(std::int64_t{-1}));
    EXPECT_EQ(Field("a", 1.5F).value, Value(1.5));
    EXPECT_EQ(Field("a", nullptr).value, Value());
    EXPECT_EQ(Field("a", std::optional<int>()).value, Value());
    EXPECT_EQ(Field("a", std::optional<int>(2)).value, Value(std::int64_t{2}));
    const Row row = {{"a", "x"}, {"b", 2U}};
    EXPECT_EQ(row.text("a"), "x");
    EXPECT_EQ(row.text("b"), "");
    EXPECT_EQ(row.text("c"), "");
    EXPECT_EQ(row.find<std::string>("b"), nullptr);
    EXPECT_EQ(*row.find<std::uint64_t>("b"), 2U);
    EXPECT_EQ(row.find("c"), nullptr);
}

}  // namespace
}  // namespace live::engine::workers
