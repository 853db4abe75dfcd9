#include "engine/webrtc/datagram_kind.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/stun/stun_vectors.hpp"

namespace live::engine::webrtc {
namespace {

TEST(DatagramKind, IsRecognisedByTheFirstBytes) {
    EXPECT_EQ(kind_of(wire::stun::stun_vectors()[0].bytes), DatagramKind::stun);
    EXPECT_EQ(kind_of(hex("16feff0000000000000000 0000")), DatagramKind::dtls);
    EXPECT_EQ(kind_of(hex("16feff0000000000000000 00")), DatagramKind::other) << "no whole head of a record";
    EXPECT_EQ(kind_of(hex("806f0000 00000000 00000000")), DatagramKind::rtp);
    EXPECT_EQ(kind_of(hex("806f0000 00000000 000000")), DatagramKind::other);
    EXPECT_EQ(kind_of(hex("80c90001 00000000")), DatagramKind::rtcp);
    EXPECT_EQ(kind_of(hex("40c90001 00000000 00000000 00000000")), DatagramKind::other) << "a TURN channel";
    EXPECT_EQ(kind_of({}), DatagramKind::other);
}

}  // namespace
}  // namespace live::engine::webrtc
