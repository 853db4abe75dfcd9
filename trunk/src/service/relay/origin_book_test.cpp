#include "service/relay/origin_book.hpp"

#include <map>

#include <gtest/gtest.h>

namespace live::service::relay {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> kThree = {"rtmp://a:1935", "rtmp://b:1935", "rtmp://c:1935"};
const TimePoint kNow = TimePoint() + std::chrono::hours(1);

std::size_t chosen(const OriginBook& book, std::string_view stream, TimePoint now = kNow, std::string_view avoid = "") {
    return book.choose(kThree, stream, avoid, now).value().index;
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
        const auto choice = book.choose(one, "/live/cam", "", now).value();
        EXPECT_EQ(choice.wait, milliseconds(wait));
        now += choice.wait;
        EXPECT_EQ(book.choose(one, "/live/cam", "", now).value().wait, Duration::zero());
    }
    book.report_up(one[0], milliseconds(3), now);
    book.report_down(one[0], "refused", now, 0);
    EXPECT_EQ(book.choose(one, "/live/cam", "", now).value().wait, milliseconds(300)) << "a success begins anew";
    EXPECT_EQ(book.find(one[0])->failures, 9U);
    EXPECT_EQ(book.find(one[0])->tries, 10U);
}

TEST(OriginBook, WhenAllAreDownTheFirstToComeBackIsWaitedFor) {
    OriginBook book;
    book.report_down(kThree[0], "refused", kNow, 0);
    book.report_down(kThree[0], "refused", kNow, 0);
    book.report_down(kThree[1], "refused", kNow, 0);
    book.report_down(kThree[2], "refused", kNow, 0);
    book.report_down(kThree[2], "refused", kNow, 0);
    const auto choice = book.choose(kThree, "/live/cam", "", kNow).value();
    EXPECT_EQ(choice.index, 1U);
    EXPECT_EQ(choice.wait, milliseconds(300));
}

TEST(OriginBook, TheAvoidedOneComesLastAmongThoseThatAreUp) {
    OriginBook book;
    const std::size_t first = chosen(book, "/live/cam");
    const std::size_t second = chosen(book, "/live/cam", kNow, kThree[first]);
    EXPECT_NE(second, first);
    for (std::size_t i = 0; i < kThree.size(); ++i)
        if (i != first)
            book.report_down(kThree[i], "refused", kNow, 0);
    EXPECT_EQ(chosen(book, "/live/cam", kNow, kThree[first]), first);
}

TEST(OriginBook, IsBounded) {
    OriginBook book;
    for (std::size_t i = 0; i < OriginBook::kOriginsMax + 10; ++i)
        book.report_up("rtmp://" + std::to_string(i), milliseconds(1), kNow + milliseconds(i));
    EXPECT_EQ(book.size(), OriginBook::kOriginsMax);
    EXPECT_EQ(book.find("rtmp://0"), nullptr);
    EXPECT_NE(book.find("rtmp://20"), nullptr);
    EXPECT_FALSE(book.choose({}, "/live/cam", "", kNow));
}

}  // namespace
}  // namespace live::service::relay
