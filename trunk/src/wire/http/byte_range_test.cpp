#include "wire/http/byte_range.hpp"

#include <gtest/gtest.h>

namespace live::wire::http {
namespace {

using Answer = ByteRange::Answer;

struct RangeVector {
    const char* text;
    ByteRange range;  // of a file of 1,000 bytes
};

constexpr RangeVector kVectors[] = {
    {"0-99", {Answer::part, 0, 100}},
    {"0-0", {Answer::part, 0, 1}},
    {"999-999", {Answer::part, 999, 1}},
    {"100-", {Answer::part, 100, 900}},
    {"0-", {Answer::part, 0, 1000}},
    {"-50", {Answer::part, 950, 50}},
    {"-5000", {Answer::part, 0, 1000}},
    {"500-5000", {Answer::part, 500, 500}},
    {" 0-9 ", {Answer::part, 0, 10}},
    {"0-99999999999999999999999", {Answer::part, 0, 1000}},
    {"1000-", {Answer::unsatisfiable, 0, 0}},
    {"1000-2000", {Answer::unsatisfiable, 0, 0}},
    {"99999999999999999999999-", {Answer::unsatisfiable, 0, 0}},
    {"-0", {Answer::unsatisfiable, 0, 0}},
    {"", {}},
    {"-", {}},
    {"5", {}},
    {"5-4", {}},
    {"a-b", {}},
    {"0x10-0x20", {}},
    {"+1-2", {}},
    {"1--2", {}},
    {"--2", {}},
    {"0-1,5-6", {}},
    {"0 - 1", {}},
};

TEST(ByteRange, ReadsEveryVector) {
    for (const RangeVector& vector : kVectors) {
        EXPECT_EQ(parse_range(vector.text, 1000), vector.range) << vector.text;
        EXPECT_EQ(parse_range_header(std::string("bytes=") + vector.text, 1000), vector.range) << vector.text;
    }
}

TEST(ByteRange, NoCutOfAVectorIsOutside) {
    for (const RangeVector& vector : kVectors) {
        const std::string_view text = vector.text;
        for (std::size_t size = 0; size < text.size(); ++size) {
            const ByteRange range = parse_range(text.substr(0, size), 1000);
            EXPECT_LE(range.first + range.count, 1000U);
        }
    }
}

TEST(ByteRange, OtherUnitsMeanTheWhole) {
    EXPECT_EQ(parse_range_header("items=0-1", 1000), ByteRange());
    EXPECT_EQ(parse_range_header("bytes", 1000), ByteRange());
    EXPECT_EQ(parse_range_header("bytes=", 1000), ByteRange());
    EXPECT_EQ(parse_range_header("Bytes=0-1", 1000), (ByteRange{Answer::part, 0, 2}));
}

TEST(ByteRange, AnEmptyFileHasNoRanges) {
    EXPECT_EQ(parse_range("0-", 0).answer, Answer::unsatisfiable);
    EXPECT_EQ(parse_range("-1", 0).answer, Answer::unsatisfiable);
}

TEST(ByteRange, IsWrittenForTheAnswer) {
    EXPECT_EQ(content_range({Answer::part, 5, 10}, 1000), "bytes 5-14/1000");
    EXPECT_EQ(content_range({Answer::unsatisfiable, 0, 0}, 1000), "bytes */1000");
}

}  // namespace
}  // namespace live::wire::http
