#include "engine/crypto/hmac_sha1.hpp"

#include <gtest/gtest.h>

#include "wire/stun/stun_vectors.hpp"

namespace live::engine::crypto {
namespace {

using namespace wire::stun;

TEST(HmacSha1, AgreesWithTheSampleMessages) {
    for (const Vector& vector : stun_vectors()) {
        const auto message = parse_message(vector.bytes);
        ASSERT_TRUE(message.ok()) << vector.name;
        EXPECT_TRUE(has_integrity(vector.bytes, *message, as_bytes(kPassword), hmac_sha1).value()) << vector.name;
        EXPECT_FALSE(has_integrity(vector.bytes, *message, as_bytes("another"), hmac_sha1).value()) << vector.name;
    }
}

TEST(HmacSha1, SignsAnAnswerAsTheSampleIsSigned) {
    // RFC 5769, 2.2: the same values in the same order; its padding is a space, ours is zeros, so the name fills whole words.
    const auto sample = parse_message(stun_vectors()[1].bytes);
    MessageWriter writer(Kind::success, sample->transaction);
    writer.software("test").xor_mapped_address(*sample->xor_mapped_address);
    ASSERT_TRUE(writer.sign(as_bytes(kPassword), hmac_sha1).ok());
    const auto bytes = writer.fingerprint().release();
    const auto again = parse_message(bytes);
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(has_integrity(bytes, *again, as_bytes(kPassword), hmac_sha1).value());
}

}  // namespace
}  // namespace live::engine::crypto
