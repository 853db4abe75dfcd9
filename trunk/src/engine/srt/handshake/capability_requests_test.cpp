#include "engine/srt/handshake/capability_requests.hpp"

#include <gtest/gtest.h>

namespace live::engine::srt {
namespace {

TEST(CapabilityRequests, AreRepeatedUntilThePeerAnswers) {
    CapabilityRequests requests;
    EXPECT_FALSE(requests.is_due(Micros(0)));
    EXPECT_EQ(requests.next_timeout(), Micros::max());
    requests.start();
    EXPECT_TRUE(requests.is_due(Micros(0)));
    requests.note_sent(Micros(0));
    EXPECT_FALSE(requests.is_due(CapabilityRequests::kInterval - Micros(1)));
    EXPECT_EQ(requests.next_timeout(), CapabilityRequests::kInterval);
    EXPECT_TRUE(requests.is_due(CapabilityRequests::kInterval));
    requests.finish();
    EXPECT_FALSE(requests.is_due(CapabilityRequests::kInterval));
    EXPECT_FALSE(requests.are_unanswered(Micros::max()));
}

TEST(CapabilityRequests, EndUnansweredAnIntervalAfterTheLast) {
    CapabilityRequests requests;
    requests.start();
    Micros now{};
    for (unsigned i = 0; i < CapabilityRequests::kCountMax; ++i) {
        EXPECT_TRUE(requests.is_due(now));
        EXPECT_FALSE(requests.are_all_sent());
        requests.note_sent(now);
        now += CapabilityRequests::kInterval;
    }
    EXPECT_FALSE(requests.is_due(now)) << "enough";
    EXPECT_TRUE(requests.are_all_sent());
    EXPECT_FALSE(requests.are_unanswered(now - Micros(1)));
    EXPECT_TRUE(requests.are_unanswered(now));
    EXPECT_EQ(requests.next_timeout(), now);
}

}  // namespace
}  // namespace live::engine::srt
