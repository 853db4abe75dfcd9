#include "engine/crypto/hmac_sha256.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::engine::crypto {
namespace {

std::vector<std::uint8_t> tag_of(Bytes key, Bytes data) {
    const auto tag = MUST(hmac_sha256(key, data));
    return {tag.begin(), tag.end()};
}

// RFC 4231, 4.2, 4.3 and 4.7.
TEST(HmacSha256, IsThatOfTheStandard) {
    EXPECT_EQ(tag_of(std::vector<std::uint8_t>(20, 0x0B), as_bytes("Hi There")),
              hex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"));
    EXPECT_EQ(tag_of(as_bytes("Jefe"), as_bytes("what do ya want for nothing?")),
              hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
    EXPECT_EQ(tag_of(std::vector<std::uint8_t>(131, 0xAA), as_bytes("Test Using Larger Than Block-Size Key - Hash Key First")),
              hex("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"));
}

TEST(HmacSha256, TakesAnEmptyKeyAndNoData) {
    EXPECT_EQ(tag_of({}, {}), hex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"));
}

}  // namespace
}  // namespace live::engine::crypto
