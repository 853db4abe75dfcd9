#include "session/srt/port/openings.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"

namespace live::session::srt {
namespace {

using namespace std::chrono_literals;
using engine::srt::RejectReason;

struct OpeningsTest : testing::Test {
    static PeerKey caller(std::uint16_t port) {
        PeerKey made;
        made.from.port = port;
        return made;
    }
    void add(std::uint16_t port) { openings.add(caller(port), MUST(half_open.take(IpAddress(), SrtLimitOptions(), now)), now); }
    std::vector<std::uint64_t> look() {
        std::vector<std::uint64_t> fibers;
        openings.look(now, [&](std::uint64_t fiber) { fibers.push_back(fiber); });
        return fibers;
    }

    NoLog no_log;
    Log log{no_log, ""};
    ConnectionLimits limits{100, log};
    HalfOpen half_open{limits};
    Openings openings;
    TimePoint now = TimePoint() + 1h;
};

TEST_F(OpeningsTest, ReleasesThePlaceOfADecidedClient) {
    EXPECT_EQ(openings.next_look(), TimePoint::max());
    add(1);
    EXPECT_EQ(openings.size(), 1U);
    EXPECT_EQ(half_open.size(), 1U);
    EXPECT_EQ(openings.next_look(), now + Openings::kLookEvery);
    openings.remove(caller(1));
    EXPECT_EQ(half_open.size(), 0U);
    EXPECT_EQ(openings.next_look(), TimePoint::max());
}

TEST_F(OpeningsTest, ClientThatStopsRepeatingHasGivenUp) {
    add(1);
    add(2);
    add(3);
    openings.begin(caller(1), 1s, 11);
    openings.begin(caller(2), 1s, 12);
    openings.begin(caller(3), 0s, 13);
    now += 900ms;
    EXPECT_TRUE(openings.note_repeated(caller(2), now));
    EXPECT_FALSE(openings.note_repeated(caller(4), now));
    EXPECT_TRUE(look().empty());
    now += 200ms;
    EXPECT_TRUE(openings.has_given_up(caller(1), now));
    EXPECT_TRUE(look().empty()) << "the next check is not due";
    now += 100ms;
    EXPECT_EQ(look(), std::vector<std::uint64_t>{11});
    EXPECT_FALSE(openings.has_given_up(caller(2), now));
    EXPECT_FALSE(openings.has_given_up(caller(3), now + 1h)) << "without a limit";
    EXPECT_FALSE(openings.has_given_up(caller(4), now));
}

TEST_F(OpeningsTest, ForgetsRefusalsAfterAWhileAndBoundsTheirNumber) {
    for (std::size_t i = 0; i < Openings::kRefusalsMax + 1; ++i)
        openings.add_refusal(caller(static_cast<std::uint16_t>(i)), RejectReason::overload, now);
    EXPECT_EQ(openings.refusal_of(caller(0)), RejectReason::overload);
    EXPECT_FALSE(openings.refusal_of(caller(Openings::kRefusalsMax))) << "there are too many";
    now += Openings::kRefusalsKept + 1s;
    openings.add_refusal(caller(2'000), RejectReason::overload, now);
    EXPECT_FALSE(openings.refusal_of(caller(0)));
    EXPECT_TRUE(openings.refusal_of(caller(2'000)));
    openings.drop_old_refusals(now + Openings::kRefusalsKept + 1s);
    EXPECT_FALSE(openings.refusal_of(caller(2'000)));
}

}  // namespace
}  // namespace live::session::srt
