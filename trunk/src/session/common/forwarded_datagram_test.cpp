#include "session/common/forwarded_datagram.hpp"

#include <gtest/gtest.h>

#include "session/common/forwarded_datagram_vectors.hpp"

namespace live::session {
namespace {

TEST(ForwardedDatagram, IsWrittenAndRead) {
    std::vector<std::uint8_t> out{1, 2, 3};
    for (const ForwardedDatagramVector& vector : kForwardedVectors) {
        write_forwarded(vector.forwarded, as_bytes(vector.datagram), out);
        EXPECT_EQ(as_text(out), vector.bytes);
        EXPECT_EQ(MUST(parse_forwarded(out)), vector.forwarded);
        EXPECT_EQ(as_text(Bytes(out).subspan(ForwardedDatagram::kHeadBytes)), vector.datagram);
    }
}

TEST(ForwardedDatagram, WithoutItsHeadOrItsDatagramIsRefused) {
    for (const ForwardedDatagramVector& vector : kForwardedVectors)
        for (std::size_t length = 0; length < vector.bytes.size(); ++length)
            EXPECT_EQ(parse_forwarded(as_bytes(vector.bytes.substr(0, length))).ok(), length > ForwardedDatagram::kHeadBytes)
                << length;
}

TEST(ForwardedDatagram, RefusesInvalidMessages) {
    std::vector<std::uint8_t> message;
    write_forwarded({}, std::vector<std::uint8_t>(ForwardedDatagram::kDatagramBytesMax, 1), message);
    EXPECT_TRUE(parse_forwarded(message).ok());
    message.push_back(1);
    EXPECT_EQ(parse_forwarded(message).code(), Errc::malformed) << "longer than a datagram that is taken";
    message.pop_back();
    message[0] = 2;
    EXPECT_EQ(parse_forwarded(message).code(), Errc::malformed) << "an unknown protocol";
    message[0] = 0;
    message[1] = 2;
    EXPECT_EQ(parse_forwarded(message).code(), Errc::malformed);
}

TEST(ForwardedDatagram, IdentifiesItsSocket) {
    const ForwardedDatagram forwarded{ForwardedDatagram::Protocol::srt, true, 10080, {}, {}};
    EXPECT_TRUE(forwarded.came_by({"::", 10080}));
    EXPECT_FALSE(forwarded.came_by({"0.0.0.0", 10080}));
    EXPECT_FALSE(forwarded.came_by({"::", 10081}));
}

}  // namespace
}  // namespace live::session
