#include "engine/crypto/aes_cbc.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::engine::crypto {
namespace {

AesBlock block(std::string_view text) {
    const auto bytes = hex(text);
    AesBlock result{};
    std::ranges::copy(bytes, result.begin());
    return result;
}

// NIST SP 800-38A, F.2.1, followed by padding.
TEST(AesCbc, EncryptsTheVectorOfItsDocument) {
    const auto key = block("2b7e151628aed2a6abf7158809cf4f3c");
    const auto iv = block("000102030405060708090a0b0c0d0e0f");
    const auto plain = hex("6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51");
    const std::array<Bytes, 2> parts = {Bytes(plain).first(5), Bytes(plain).subspan(5)};
    const auto sealed = encrypt_aes128_cbc(key, iv, parts);
    ASSERT_TRUE(sealed.ok());
    ASSERT_EQ(sealed->size(), 48U);
    const auto wanted = hex("7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2");
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), sealed->begin()));
    const auto opened = decrypt_aes128_cbc(key, iv, *sealed);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(*opened, plain);
}

TEST(AesCbc, DecryptsEveryLength) {
    for (std::size_t size = 0; size < 70; ++size) {
        const std::vector<std::uint8_t> plain(size, static_cast<std::uint8_t>(size));
        const Bytes part(plain);
        const auto sealed = MUST(encrypt_aes128_cbc({1}, {2}, std::span(&part, 1)));
        EXPECT_EQ(sealed.size() % kAesBlockBytes, 0U);
        EXPECT_GT(sealed.size(), size);
        EXPECT_EQ(MUST(decrypt_aes128_cbc({1}, {2}, sealed)), plain);
    }
}

TEST(AesCbc, RefusesTruncatedInput) {
    const std::vector<std::uint8_t> plain(100, 7);
    const Bytes part(plain);
    const auto sealed = MUST(encrypt_aes128_cbc({1}, {2}, std::span(&part, 1)));
    EXPECT_FALSE(decrypt_aes128_cbc({1}, {2}, Bytes(sealed).first(sealed.size() - 1)).ok());
    EXPECT_FALSE(decrypt_aes128_cbc({1}, {2}, {}).ok());
}

}  // namespace
}  // namespace live::engine::crypto
