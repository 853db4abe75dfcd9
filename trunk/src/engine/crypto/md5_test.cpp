#include "engine/crypto/md5.hpp"

#include <string_view>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::engine::crypto {
namespace {

// RFC 1321, A.5.
TEST(Md5, HashesTheVectorsOfTheStandard) {
    const auto hash = [](std::string_view text) {
        const auto found = MUST(md5(as_bytes(text)));
        return std::vector<std::uint8_t>(found.begin(), found.end());
    };
    EXPECT_EQ(hash(""), hex("d41d8cd98f00b204e9800998ecf8427e"));
    EXPECT_EQ(hash("message digest"), hex("f96b697d7cb7938d525a2f31aaf161d0"));
}

}  // namespace
}  // namespace live::engine::crypto
