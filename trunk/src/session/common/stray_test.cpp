#include "session/common/stray.hpp"

#include <gtest/gtest.h>

#include "session/common/stray_vectors.hpp"

namespace live::session {
namespace {

TEST(Stray, IsWrittenAndRead) {
    std::vector<std::uint8_t> out{1, 2, 3};
    for (const StrayVector& vector : kStrayVectors) {
        write_stray(vector.stray, as_bytes(vector.datagram), out);
        EXPECT_EQ(as_text(out), vector.bytes);
        EXPECT_EQ(MUST(parse_stray(out)), vector.stray);
        EXPECT_EQ(as_text(Bytes(out).subspan(Stray::kHeadBytes)), vector.datagram);
    }
}

TEST(Stray, WithoutItsHeadOrItsDatagramIsRefused) {
    for (const StrayVector& vector : kStrayVectors)
        for (std::size_t length = 0; length < vector.bytes.size(); ++length)
            EXPECT_EQ(parse_stray(as_bytes(vector.bytes.substr(0, length))).ok(), length > Stray::kHeadBytes) << length;
}

TEST(Stray, RefusesWhatMakesNoSense) {
    std::vector<std::uint8_t> message;
    write_stray({}, std::vector<std::uint8_t>(Stray::kDatagramBytesMax, 1), message);
    EXPECT_TRUE(parse_stray(message).ok());
    message.push_back(1);
    EXPECT_EQ(parse_stray(message).code(), Errc::malformed) << "longer than a datagram that is taken";
    message.pop_back();
    message[0] = 2;
    EXPECT_EQ(parse_stray(message).code(), Errc::malformed) << "an unknown protocol";
    message[0] = 0;
    message[1] = 2;
    EXPECT_EQ(parse_stray(message).code(), Errc::malformed);
}

TEST(Stray, KnowsItsSocket) {
    const Stray stray{Stray::Protocol::srt, true, 10080, {}, {}};
    EXPECT_TRUE(stray.came_by({"::", 10080}));
    EXPECT_FALSE(stray.came_by({"0.0.0.0", 10080}));
    EXPECT_FALSE(stray.came_by({"::", 10081}));
}

}  // namespace
}  // namespace live::session
