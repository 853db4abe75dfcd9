#include "base/result.hpp"

#include <memory>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace live {
namespace {

Result<int> parse_digit(char letter) {
    if (letter < '0' || letter > '9')
        return Error(Errc::malformed, "not a digit");
    return letter - '0';
}

Result<int> sum(char a, char b) { return TRY(parse_digit(a)) + TRY(parse_digit(b)); }

Result<void> check(char letter) {
    TRY(parse_digit(letter));
    return {};
}

TEST(Result, TryGivesTheValueOrReturnsTheError) {
    EXPECT_EQ(sum('3', '4').value(), 7);
    EXPECT_EQ(sum('3', 'x').code(), Errc::malformed);
    EXPECT_TRUE(check('1').ok());
    EXPECT_EQ(check('-').error().sentence(), "not a digit");
}

TEST(Result, CarriesMoveOnlyValues) {
    Result<std::unique_ptr<int>> held(std::make_unique<int>(5));
    EXPECT_EQ(*std::move(held).value(), 5);
}

// Counts those that live.
struct Counted {
    static inline int alive = 0;
    Counted() { ++alive; }
    Counted(const Counted&) { ++alive; }
    Counted(Counted&&) noexcept { ++alive; }
    Counted& operator=(const Counted&) = default;
    Counted& operator=(Counted&&) = default;
    ~Counted() { --alive; }
};

TEST(Result, CopiesMovesAndAssignsValuesAndErrors) {
    {
        const Result<Counted> value{Counted()};
        const Result<Counted> error{Error(Errc::limit, "a sentence that is not short enough to be in the string itself")};
        EXPECT_EQ(Counted::alive, 1);
        for (const auto* from : {&value, &error}) {
            for (const auto* to : {&value, &error}) {
                Result<Counted> copy = *to;
                copy = *from;
                EXPECT_EQ(Counted::alive, from == &value ? 2 : 1);
                const auto& self = copy;
                copy = self;
                const Result<Counted> moved = std::move(copy);
                ASSERT_EQ(moved.ok(), from == &value);
                if (!moved.ok()) {
                    EXPECT_EQ(moved.error().text(), error.error().text());
                }
            }
        }
        EXPECT_EQ(Counted::alive, 1);
    }
    EXPECT_EQ(Counted::alive, 0);
    static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
    static_assert(!std::is_copy_assignable_v<Result<std::unique_ptr<int>>>);
    static_assert(std::is_nothrow_move_constructible_v<Result<std::unique_ptr<int>>>);
}

TEST(Result, ContextIsPutBeforeTheSentence) {
    const Error error = Error(Errc::limit, "17 is above 16").during("reading the chunk table");
    EXPECT_EQ(error.text(), "limit: reading the chunk table: 17 is above 16");
}

TEST(Result, ErrorHasItsSourceLocation) {
    const Error error(Errc::malformed, "x");
    EXPECT_NE(std::string_view(error.where().file_name()).find("result_test.cpp"), std::string_view::npos);
    EXPECT_EQ(error.where().line(), static_cast<unsigned>(__LINE__ - 2));
}

TEST(ResultDeathTest, AskingAnErrorForItsValueAborts) { EXPECT_DEATH(sum('x', '1').value(), "CHECK failed"); }

}  // namespace
}  // namespace live
