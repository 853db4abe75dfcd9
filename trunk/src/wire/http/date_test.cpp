#include "wire/http/date.hpp"

#include <gtest/gtest.h>

namespace live::wire::http {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

struct DateVector {
    const char* text;
    std::int64_t time;
};

constexpr DateVector kDateVectors[] = {
    {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
    {"Sun, 06 Nov 1994 08:49:37 GMT", 784'111'777},
    {"Tue, 29 Feb 2000 23:59:59 GMT", 951'868'799},
    {"Mon, 01 Jan 0001 00:00:00 GMT", -62'135'596'800},
    {"Fri, 31 Dec 9999 23:59:59 GMT", 253'402'300'799},
};

TEST(HttpDate, ReadsAndWritesEveryVector) {
    for (const DateVector& vector : kDateVectors) {
        EXPECT_EQ(format_date(sys_seconds(seconds(vector.time))), vector.text);
        EXPECT_EQ(parse_date(vector.text), sys_seconds(seconds(vector.time))) << vector.text;
    }
}

TEST(HttpDate, NoCutIsADate) {
    for (const DateVector& vector : kDateVectors)
        for (std::size_t size = 0; size + 1 < std::string_view(vector.text).size(); ++size)
            EXPECT_EQ(parse_date(std::string_view(vector.text).substr(0, size)), std::nullopt) << size;
}

TEST(HttpDate, RefusesInvalidDates) {
    for (const char* text : {
             "Sunday, 06-Nov-94 08:49:37 GMT",
             "Sun Nov  6 08:49:37 1994",
             "Sun, 31 Feb 1994 08:49:37 GMT",
             "Sun, 06 Foo 1994 08:49:37 GMT",
             "Xyz, 06 Nov 1994 08:49:37 GMT",
             "Sun, 06 Nov 1994 24:49:37 GMT",
             "Sun, 06 Nov 1994 08:60:37 GMT",
             "Sun, 06 Nov 1994 08:49:61 GMT",
             "Sun, 06 Nov 0000 08:49:37 GMT",
             "Sun, 0x Nov 1994 08:49:37 GMT",
             "Sun, 06 Nov 1994 08:49:37 UTC",
             "Sun, 06 Nov 1994 08-49-37 GMT",
         })
        EXPECT_EQ(parse_date(text), std::nullopt) << text;
}

TEST(HttpDate, TimesOutsideTheFormBecomeTheNearest) {
    EXPECT_EQ(format_date(sys_seconds(seconds(-99'999'999'999))), kDateVectors[3].text);
    EXPECT_EQ(format_date(sys_seconds(seconds(999'999'999'999))), kDateVectors[4].text);
}

TEST(HttpDate, TheTextOfNowChangesWithTheSecond) {
    DateText date;
    const auto now = std::chrono::system_clock::time_point(std::chrono::seconds(784'111'777));
    EXPECT_EQ(date.text(now), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(date.text(now + std::chrono::milliseconds(999)), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(date.text(now + std::chrono::seconds(1)), "Sun, 06 Nov 1994 08:49:38 GMT");
    EXPECT_EQ(date.text(now - std::chrono::seconds(1)), "Sun, 06 Nov 1994 08:49:36 GMT") << "the clock was set back";
}

}  // namespace
}  // namespace live::wire::http
