#include "service/relay/origins/origin_book.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace live::service::relay {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> kThree = {"rtmp://a:1935", "rtmp://b:1935", "rtmp://c:1935"};
const TimePoint kNow = TimePoint() + std::chrono::hours(1);

std::size_t chosen(const OriginBook& book, std::string_view stream, TimePoint now = kNow, const LeftOrigins& left = {}) {
    return book.choose(kThree, stream, left, now).value().index;
}

TEST(OriginBook, SpreadsStreamsAndKeepsEachWhereItIs) {
    OriginBook book;
    std::map<std::size_t, int> used;
    for (int i = 0; i < 3'000; ++i) {
        const std::string stream = "/live/" + std::to_string(i);
        const std::size_t first = chosen(book, stream);
        ++used[first];
        EXPECT_EQ(chosen(book, stream), first);
    }
    for (const auto& [origin, count] : used)
        EXPECT_NEAR(count, 1'000, 150) << origin;
}

// Nodes of different versions must agree.
TEST(OriginBook, ChoosesTheSameInEveryVersion) {
    OriginBook book;
    EXPECT_EQ(chosen(book, "/live/cam"), 1U);
    EXPECT_EQ(chosen(book, "/live/0"), 0U);
    EXPECT_EQ(chosen(book, "/live/1"), 2U);
    EXPECT_EQ(chosen(book, "v.example/app/x"), 2U);
}

TEST(OriginBook, OnlyStreamsOfAnOriginThatIsDownMove) {
    OriginBook book;
    std::map<std::string, std::size_t> before;
    for (int i = 0; i < 300; ++i)
        before["/live/" + std::to_string(i)] = chosen(book, "/live/" + std::to_string(i));
    book.report_down(kThree[1], "refused", kNow, 0);
    for (const auto& [stream, origin] : before) {
        if (origin != 1)
            EXPECT_EQ(chosen(book, stream), origin);
        else
            EXPECT_NE(chosen(book, stream), 1U);
    }
    book.report_up(kThree[1], milliseconds(3), kNow + milliseconds(1));
    for (const auto& [stream, origin] : before)
        EXPECT_EQ(chosen(book, stream, kNow + milliseconds(1)), origin) << "back where it was";
}

TEST(OriginBook, BacksOffFromThreeTenthsOfASecondToTen) {
    OriginBook book;
    TimePoint now = kNow;
    const std::vector<std::string> one = {kThree[0]};
    for (const int wait : {300, 600, 1'200, 2'400, 4'800, 9'600, 10'000, 10'000}) {
        book.report_down(one[0], "refused", now, 0);
        const auto choice = book.choose(one, "/live/cam", {}, now).value();
        EXPECT_EQ(choice.wait, milliseconds(wait));
        now += choice.wait;
        EXPECT_EQ(book.choose(one, "/live/cam", {}, now).value().wait, Duration::zero());
    }
    book.report_up(one[0], milliseconds(3), now);
    book.report_down(one[0], "refused", now, 0);
    EXPECT_EQ(book.choose(one, "/live/cam", {}, now).value().wait, milliseconds(300)) << "a success begins anew";
    EXPECT_EQ(book.find(one[0])->failures, 9U);
    EXPECT_EQ(book.find(one[0])->tries, 10U);
}

TEST(OriginBook, WhenAllAreDownTheFirstToComeBackIsWaitedFor) {
    OriginBook book;
    for (const std::size_t twice : {0U, 2U}) {
        book.report_down(kThree[twice], "refused", kNow - milliseconds(300), 0);
        book.report_down(kThree[twice], "refused", kNow, 0);
    }
    book.report_down(kThree[1], "refused", kNow, 0);
    const auto choice = book.choose(kThree, "/live/cam", {}, kNow).value();
    EXPECT_EQ(choice.index, 1U);
    EXPECT_EQ(choice.wait, milliseconds(300));
}

TEST(OriginBook, EachThatIsUpGetsItsTurnBeforeOneThatWasLeft) {
    OriginBook book;
    LeftOrigins left;
    std::vector<std::size_t> turns;
    for (int i = 0; i < 6; ++i) {
        turns.push_back(chosen(book, "/live/cam", kNow, left));
        left.add(kThree[turns.back()]);
    }
    EXPECT_EQ(std::set(turns.begin(), turns.begin() + 3).size(), 3U);
    EXPECT_TRUE(std::equal(turns.begin(), turns.begin() + 3, turns.begin() + 3)) << "round and round";
    const std::size_t last = turns.back();
    for (std::size_t i = 0; i < kThree.size(); ++i)
        if (i != last)
            book.report_down(kThree[i], "refused", kNow, 0);
    EXPECT_EQ(chosen(book, "/live/cam", kNow, left), last) << "one that was left is better than one that is down";
    left.clear();
    EXPECT_EQ(left.rank_of(kThree[last]), 0U);
}

TEST(OriginBook, AThousandThatLoseAnOriginAtOnceAreOneOutage) {
    OriginBook book;
    for (int i = 0; i < 1'000; ++i)
        book.report_down(kThree[0], "gone", kNow + milliseconds(i / 10), 0);
    EXPECT_EQ(book.find(kThree[0])->retry_at, kNow + milliseconds(300));
    EXPECT_EQ(book.find(kThree[0])->failures, 1'000U);
    for (int i = 0; i < 1'000; ++i)
        book.report_down(kThree[0], "refused", kNow + milliseconds(300), 0);
    EXPECT_EQ(book.find(kThree[0])->retry_at, kNow + milliseconds(900)) << "all try again, which is one failure more";
}

TEST(OriginBook, KnowsWhetherOthersHearFromAnOrigin) {
    OriginBook book;
    book.note_heard(kThree[0], kNow);
    EXPECT_FALSE(book.is_heard_after(kThree[0], kNow - milliseconds(1))) << "nobody is connected to it";
    book.report_up(kThree[0], milliseconds(3), kNow);
    book.note_heard(kThree[0], kNow);
    EXPECT_TRUE(book.is_heard_after(kThree[0], kNow - milliseconds(1)));
    EXPECT_FALSE(book.is_heard_after(kThree[0], kNow));
    EXPECT_FALSE(book.is_heard_after(kThree[1], kNow - milliseconds(1)));
}

TEST(LeftOrigins, AreBounded) {
    LeftOrigins left;
    for (std::size_t i = 0; i <= LeftOrigins::kMax; ++i)
        left.add(std::to_string(i));
    EXPECT_EQ(left.rank_of("0"), 0U);
    EXPECT_EQ(left.rank_of("1"), 1U);
    left.add("1");
    EXPECT_EQ(left.rank_of("1"), LeftOrigins::kMax) << "once only, as the newest";
}

TEST(OriginBook, IsBounded) {
    OriginBook book;
    for (std::size_t i = 0; i < OriginBook::kOriginsMax + 10; ++i)
        book.report_up("rtmp://" + std::to_string(i), milliseconds(1), kNow + milliseconds(i));
    EXPECT_EQ(book.size(), OriginBook::kOriginsMax);
    EXPECT_EQ(book.find("rtmp://0"), nullptr);
    EXPECT_NE(book.find("rtmp://20"), nullptr);
    EXPECT_FALSE(book.choose({}, "/live/cam", {}, kNow));
}

}  // namespace
}  // namespace live::service::relay
