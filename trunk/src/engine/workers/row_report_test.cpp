#include "engine/workers/row_report.hpp"

#include <set>

#include <gtest/gtest.h>

namespace live::engine::workers {
namespace {

const Row kHead = {{"total", 2U, Combine::add},
                   {"null", nullptr},
                   {"less", -1},
                   {"real", 0.25},
                   {"text", "x"},
                   {"inner", Row{{"is", true}}},
                   {"rows", Rows{{{"a", 1U}}, {}}, Combine::add},
                   {"texts", Texts{"b", "a", ""}},
                   {"names", Names{"n", "m"}, Combine::add},
                   {"worker", Workers()},
                   {"workers", Workers{true}, Combine::add}};

Row keyed_row() {
    Row row = {{"id", "1"}};
    row.key = "k";
    row.rank = 3;
    return row;
}

std::string report_of(const Row& head, const Rows& rows = {}) {
    std::string report = write_row_report(head);
    for (const Row& row : rows)
        append_row(report, row);
    return report;
}

TEST(RowReportFormat, ReadsBackEveryField) {
    const Rows rows = {keyed_row(), {}, {{"x", "y"}}};
    EXPECT_EQ(MUST(parse_row_report(as_bytes(report_of(kHead, rows)))), (RowReport{kHead, rows}));
    EXPECT_EQ(MUST(parse_row_report(as_bytes(report_of({})))), RowReport());
}

TEST(RowReportFormat, HasTheseBytes) {
    const std::string report = report_of({{"n", 258U, Combine::add}}, {keyed_row()});
    const std::string expected = {1,                                                 // version
                                  0, 0, 0, 0, 0,   0,   0, 0, 1,                     // no key, rank 0, one field
                                  0, 0, 0, 1, 'n', 1,   3, 0, 0, 0, 0, 0, 0,  1, 2,  // name, rule, type, value
                                  0, 0, 0, 1, 'k', 3,   0, 0, 0, 1,                  // key, rank, one field
                                  0, 0, 0, 2, 'i', 'd', 0, 5, 0, 0, 0, 1, '1'};
    EXPECT_EQ(report, expected);
}

TEST(RowReportFormat, RefusesEveryTruncation) {
    const std::string whole = report_of(kHead, {keyed_row(), {}});
    const std::set<std::size_t> whole_sizes = {report_of(kHead).size(), report_of(kHead, {keyed_row()}).size()};
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto parsed = parse_row_report(as_bytes(whole).first(size));
        EXPECT_EQ(parsed.ok(), whole_sizes.contains(size)) << size;
        EXPECT_TRUE(parsed.ok() || parsed.code() == Errc::malformed) << size;
    }
}

TEST(RowReportFormat, RefusesOtherVersionsAndUnknownValues) {
    EXPECT_EQ(parse_row_report(as_bytes(std::string_view(R"({"code":0,"streams":[]})"))).code(), Errc::unsupported)
        << "the JSON of an older program";
    std::string report = report_of({{"a", 1U}});
    const std::size_t rule_at = 1 + 9 + 5;
    report[rule_at] = 2;
    EXPECT_EQ(parse_row_report(as_bytes(report)).code(), Errc::malformed);
    report[rule_at] = 0;
    report[rule_at + 1] = 11;
    EXPECT_EQ(parse_row_report(as_bytes(report)).code(), Errc::malformed);
}

TEST(RowReportFormat, HasBounds) {
    const auto nested = [](std::size_t depth) {
        Row row;
        for (std::size_t i = 0; i < depth; ++i)
            row = Row{{"in", Row(row)}};
        return row;
    };
    EXPECT_TRUE(parse_row_report(as_bytes(report_of(nested(kReportedDepthMax)))).ok());
    EXPECT_EQ(parse_row_report(as_bytes(report_of(nested(kReportedDepthMax + 1)))).code(), Errc::limit);
    std::string many = report_of({{"texts", Texts(3)}});
    const auto size_at = many.size() - 3 * 4 - 4;
    many.replace(size_at, 4, std::string(4, '\xFF'));
    EXPECT_EQ(parse_row_report(as_bytes(many)).code(), Errc::limit);
}

}  // namespace
}  // namespace live::engine::workers
