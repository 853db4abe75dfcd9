#include "session/srt/port/calls.hpp"

#include <gtest/gtest.h>

namespace live::session::srt {
namespace {

struct CountingCall final : OutgoingCall {
    void take(TimePoint, Bytes) override { ++taken; }
    int taken = 0;
};

TEST(OutgoingCalls, FindsACallByIdAndAddress) {
    TransportAddress server;
    server.port = 1;
    TransportAddress stranger;
    stranger.port = 2;
    const engine::srt::SocketId id{7};
    CountingCall call;
    OutgoingCalls calls;
    EXPECT_FALSE(calls.contains(id));
    calls.add(call, id, server);
    EXPECT_TRUE(calls.contains(id));
    EXPECT_EQ(calls.find(id, server), &call);
    EXPECT_EQ(calls.find(id, stranger), nullptr);
    EXPECT_EQ(calls.find(engine::srt::SocketId{8}, server), nullptr);
    calls.remove(call);
    EXPECT_FALSE(calls.contains(id));
}

}  // namespace
}  // namespace live::session::srt
