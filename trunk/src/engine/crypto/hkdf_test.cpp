#include "engine/crypto/hkdf.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::engine::crypto {
namespace {

// RFC 5869, appendix A.1 and A.3.
TEST(Hkdf, AgreesWithTheSamples) {
    const auto secret = hex("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b");
    const auto first = hkdf_sha256(secret, hex("000102030405060708090a0b0c"), hex("f0f1f2f3f4f5f6f7f8f9"), 42);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(*first, hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"));
    const auto bare = hkdf_sha256(secret, {}, {}, 42);
    ASSERT_TRUE(bare.ok());
    EXPECT_EQ(*bare, hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"));
}

TEST(Hkdf, RefusesMoreBytesThanItCanDerive) { EXPECT_FALSE(hkdf_sha256(hex("0b"), {}, {}, 8'161).ok()); }

}  // namespace
}  // namespace live::engine::crypto
