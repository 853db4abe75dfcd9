#include "engine/srt/handshake/crypto.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/bytes/hex_fixture.hpp"
#include "engine/crypto/siphash.hpp"

namespace live::engine::srt {
namespace {

Salt counting_salt() {
    Salt salt;
    std::iota(salt.begin(), salt.end(), std::uint8_t{0});
    return salt;
}

KeyEncryptingKey counting_key(std::size_t size) {
    KeyEncryptingKey kek;
    kek.size = size;
    std::iota(kek.bytes.begin(), kek.bytes.end(), std::uint8_t{0});
    return kek;
}

// Expected values by another library.
TEST(SrtCrypto, DerivesAKeyFromThePassphraseAndTheEndOfTheSalt) {
    const auto expected = hex("805becc03c656e51b1a8e7d1b11ebfb396eab54e7e661c4240b9ac5a5f4800ed");
    for (const std::size_t size : {16U, 24U, 32U}) {
        const auto kek = derive_key("correct horse battery", counting_salt(), size);
        ASSERT_TRUE(kek.ok());
        EXPECT_EQ(std::vector<std::uint8_t>(kek->key().begin(), kek->key().end()),
                  std::vector<std::uint8_t>(expected.begin(), expected.begin() + static_cast<int>(size)));
    }
    EXPECT_FALSE(derive_key("correct horse battery", counting_salt(), 17).ok());
    EXPECT_FALSE(derive_key(std::string(81, 'x'), counting_salt(), 16).ok());
}

struct WrapVector {
    std::size_t kek_bytes;
    std::vector<std::uint8_t> keys;
    std::vector<std::uint8_t> wrapped;
};

// RFC 3394, section 4.
std::vector<WrapVector> wrap_vectors() {
    return {
        {16, hex("00112233445566778899aabbccddeeff"), hex("1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5")},
        {24, hex("00112233445566778899aabbccddeeff"), hex("96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d")},
        {32, hex("00112233445566778899aabbccddeeff"), hex("64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7")},
        {24, hex("00112233445566778899aabbccddeeff0001020304050607"),
         hex("031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2")},
        {32, hex("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f"),
         hex("28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21")},
    };
}

TEST(SrtCrypto, WrapsKeysByTheStandard) {
    for (const WrapVector& vector : wrap_vectors()) {
        const auto kek = counting_key(vector.kek_bytes);
        EXPECT_EQ(wrap_keys(kek, vector.keys).value(), vector.wrapped);
        EXPECT_EQ(unwrap_keys(kek, vector.wrapped).value(), vector.keys);
    }
}

TEST(SrtCrypto, NoticesAnotherPassphrase) {
    for (const WrapVector& vector : wrap_vectors()) {
        auto kek = counting_key(vector.kek_bytes);
        kek.bytes[3] ^= 1;
        EXPECT_EQ(unwrap_keys(kek, vector.wrapped).code(), Errc::denied);
    }
    EXPECT_EQ(unwrap_keys(counting_key(16), hex("00")).code(), Errc::malformed);
    EXPECT_EQ(unwrap_keys(counting_key(16), std::vector<std::uint8_t>(104)).code(), Errc::malformed);
    EXPECT_FALSE(wrap_keys(counting_key(16), hex("00")).ok());
    EXPECT_FALSE(wrap_keys(counting_key(15), std::vector<std::uint8_t>(16)).ok());
}

TEST(SrtCrypto, EncryptsPayloadsByTheirSequenceNumber) {
    const std::pair<std::size_t, const char*> vectors[] = {
        {16, "ac60d2e2e3fefe944b534430c9d4d8958c1d6fc2f9e8a0b2f2b0562d564937671d3568ad9d9922c0"},
        {24, "c5fc62595114d560bc6386be9e05efbd648dfd2936b37b7a30a8d727ef99078f54df24b1cf57e920"},
        {32, "f8affc4e21c575b6392f7e615ea7ea22637f742c4408de58abbf8488b814780271c1622e02c2366a"},
    };
    std::vector<std::uint8_t> plain(40);
    std::iota(plain.begin(), plain.end(), std::uint8_t{0});
    for (const auto& [size, expected] : vectors) {
        auto cipher = PayloadCipher::create(counting_key(size).key(), counting_salt());
        ASSERT_TRUE(cipher.ok());
        std::vector<std::uint8_t> out(40);
        ASSERT_TRUE(cipher->apply(99, plain, out));  // another one before
        ASSERT_TRUE(cipher->apply(0x0102'0304, plain, out));
        EXPECT_EQ(out, hex(expected));
        ASSERT_TRUE(cipher->apply(0x0102'0304, out, out));
        EXPECT_EQ(out, plain);
        EXPECT_FALSE(cipher->apply(1, plain, MutBytes(out).first(39)));
    }
    EXPECT_FALSE(PayloadCipher::create(std::vector<std::uint8_t>(20), counting_salt()).ok());
}

// The reference implementation's first test vectors.
TEST(SrtCrypto, HashesCookiesWithSipHash) {
    std::array<std::uint8_t, 16> key;
    std::iota(key.begin(), key.end(), std::uint8_t{0});
    std::vector<std::uint8_t> input(15);
    std::iota(input.begin(), input.end(), std::uint8_t{0});
    EXPECT_EQ(crypto::SipHash(key).of(input), 0xA129'CA61'49BE'45E5);
    EXPECT_EQ(crypto::SipHash(key).of({}), 0x726F'DB47'DD0E'0E31);
}

}  // namespace
}  // namespace live::engine::srt
