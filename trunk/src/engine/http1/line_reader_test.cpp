#include "engine/http1/line_reader.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::engine::http1 {
namespace {

constexpr std::size_t kMax = 8;

Result<std::vector<std::string>> lines_of(std::string_view input, LineReader::LineEnd line_end, std::size_t portion = SIZE_MAX) {
    LineReader reader(line_end);
    std::vector<std::string> lines;
    while (!input.empty()) {
        Bytes part = as_bytes(input.substr(0, portion));
        input.remove_prefix(part.size());
        while (!part.empty()) {
            part = part.subspan(TRY(reader.feed(part, kMax)));
            if (reader.is_complete()) {
                lines.emplace_back(reader.line());
                reader.start_next();
            }
        }
    }
    if (!reader.is_empty())
        lines.emplace_back("...");
    return lines;
}

using enum LineReader::LineEnd;

TEST(Http1Lines, ComeOutWholeInEveryPortionSize) {
    const std::string_view input = "one\r\n\r\n12345678\r\n\t x\r\nrest";
    const std::vector<std::string> wanted = {"one", "", "12345678", "\t x", "..."};
    for (std::size_t portion = 1; portion <= input.size(); ++portion)
        EXPECT_EQ(MUST(lines_of(input, strict, portion)), wanted) << portion;
}

TEST(Http1Lines, AreNotCopiedWhenTheyComeWhole) {
    LineReader reader(strict);
    const std::string_view input = "one\r\ntwo\r\n";
    EXPECT_EQ(MUST(reader.feed(as_bytes(input), kMax)), 5u);
    EXPECT_EQ(reader.line().data(), input.data());
    reader.start_next();
    EXPECT_EQ(MUST(reader.feed(as_bytes(input.substr(5, 2)), kMax)), 2u);
    EXPECT_EQ(reader.line(), "tw");
    EXPECT_EQ(MUST(reader.feed(as_bytes(input.substr(7)), kMax)), 3u);
    EXPECT_EQ(reader.line(), "two");
}

TEST(Http1Lines, EndWithALineFeedAloneOnlyForTheLenient) {
    EXPECT_EQ(lines_of("a\nb\r\n", strict).code(), Errc::malformed);
    EXPECT_EQ(MUST(lines_of("a\nb\r\n\n", lenient)), (std::vector<std::string>{"a", "b", ""}));
}

TEST(Http1Lines, HoldNoControlCharacters) {
    for (int byte = 0; byte < 256; ++byte) {
        if (byte == '\n' || byte == '\r')
            continue;
        const std::string line = {'a', static_cast<char>(byte), 'b', '\r', '\n'};
        const bool legal = byte == '\t' || (byte >= 0x20 && byte != 0x7F);
        for (const std::size_t portion : {std::size_t{1}, SIZE_MAX})
            EXPECT_EQ(lines_of(line, lenient, portion).ok(), legal) << byte;
    }
    for (const char* line : {"a\rb\r\n", "a\r\r\n", "\r\r"})
        EXPECT_EQ(lines_of(line, lenient).code(), Errc::malformed) << line;
}

TEST(Http1Lines, HaveABound) {
    for (const std::size_t portion : {std::size_t{1}, std::size_t{5}, SIZE_MAX}) {
        EXPECT_TRUE(lines_of("12345678\r\n", strict, portion).ok());
        EXPECT_EQ(lines_of("123456789", strict, portion).code(), Errc::limit) << "before its end";
    }
}

}  // namespace
}  // namespace live::engine::http1
