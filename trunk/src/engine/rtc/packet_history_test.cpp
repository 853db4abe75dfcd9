#include "engine/rtc/packet_history.hpp"

#include <string>

#include <gtest/gtest.h>

namespace live::engine::rtc {
namespace {

Slice packet(std::uint64_t number) { return Slice::copy_of(as_bytes(std::to_string(number))); }
std::string text(const Slice& slice) { return std::string(as_text(slice.bytes())); }

TEST(PacketHistory, FindsByTheNarrowNumberAcrossTheTurn) {
    PacketHistory history;
    const TimePoint now{1h};
    for (std::uint64_t i = 65'500; i < 65'600; ++i)
        history.put(now, i, packet(i));
    EXPECT_EQ(text(history.find(now, 65'535)), "65535");
    EXPECT_EQ(text(history.find(now, 63)), "65599");
    EXPECT_TRUE(history.find(now, 64).empty()) << "not sent yet";
    EXPECT_TRUE(history.find(now, 65'499).empty());
}

TEST(PacketHistory, ForgetsByNumberAndByAge) {
    PacketHistory history(500ms);
    TimePoint now{1h};
    EXPECT_TRUE(history.find(now, 1).empty());
    for (std::uint64_t i = 1; i <= PacketHistory::kPacketsMax + 1; ++i)
        history.put(now, i, packet(i));
    EXPECT_TRUE(history.find(now, 1).empty());
    EXPECT_EQ(text(history.find(now, 2)), "2");
    now += 500ms;
    EXPECT_EQ(text(history.find(now, 2)), "2");
    now += 1ms;
    EXPECT_TRUE(history.find(now, 2).empty());
}

TEST(PacketHistory, AHoleIsNotTheOldPacketInItsPlace) {
    PacketHistory history;
    const TimePoint now{1h};
    history.put(now, 10, packet(10));
    history.put(now, 10 + PacketHistory::kPacketsMax + 1, packet(0));
    EXPECT_TRUE(history.find(now, static_cast<std::uint16_t>(10 + PacketHistory::kPacketsMax)).empty());
}

}  // namespace
}  // namespace live::engine::rtc
