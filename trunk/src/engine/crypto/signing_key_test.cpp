#include "engine/crypto/signing_key.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes/base64.hpp"

namespace live::engine::crypto {
namespace {

using Algorithm = SigningKey::Algorithm;

// RFC 7515, A.2.1.
constexpr std::string_view kRsaPublic =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAofgWCuLjybRlzo0tZWJj\n"
    "NiuSfb4p4fAkd/wWJcyQoTbji9k0l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEz\n"
    "P1Pt0Bm4d4QlL+yRT+SFd2lZS+pCgNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo\n"
    "9wGzjb/7OMg0LOL+bSf63kpaSHSXndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTB\n"
    "EMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxX\n"
    "FvUK+DWNmoudF8NAco9/h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXp\n"
    "oQIDAQAB\n"
    "-----END PUBLIC KEY-----\n";

std::vector<std::uint8_t> decoded(std::string_view text) { return MUST(parse_base64url(text)); }

// RFC 7515, A.1: the key is 64 bytes, not text.
TEST(SigningKey, VerifiesTheSecretOfTheStandard) {
    const auto secret = decoded("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
    const auto key = MUST(SigningKey::parse(as_text(secret)));
    EXPECT_EQ(key.name(), "HS256");
    EXPECT_TRUE(key.can_sign());
    const std::string input =
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    auto signature = decoded("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    EXPECT_TRUE(key.verify(as_bytes(input), signature));
    EXPECT_EQ(MUST(key.sign(as_bytes(input))), signature);
    signature.back() ^= 1U;
    EXPECT_FALSE(key.verify(as_bytes(input), signature));
    EXPECT_FALSE(key.verify(as_bytes(input), {}));
}

// RFC 7515, A.2.
TEST(SigningKey, VerifiesTheRsaSignatureOfTheStandard) {
    const auto key = MUST(SigningKey::parse(kRsaPublic));
    EXPECT_EQ(key.name(), "RS256");
    EXPECT_FALSE(key.can_sign());
    EXPECT_EQ(key.sign({}).code(), Errc::unsupported);
    const std::string input =
        "eyJhbGciOiJSUzI1NiJ9."
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    auto signature = decoded(
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQ"
        "jbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqt"
        "FZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw");
    EXPECT_TRUE(key.verify(as_bytes(input), signature));
    EXPECT_FALSE(key.verify(as_bytes(input + "x"), signature));
    signature.pop_back();
    EXPECT_FALSE(key.verify(as_bytes(input), signature));
}

// RFC 8037, A.4, with the private key of A.1 as PEM.
TEST(SigningKey, MakesTheEd25519SignatureOfTheStandard) {
    // The fixed head of PKCS #8 (RFC 8410, 7), and the key.
    std::vector<std::uint8_t> der = {0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
                                     0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};
    const auto seed = decoded("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A");
    der.insert(der.end(), seed.begin(), seed.end());
    const auto key = MUST(SigningKey::parse("-----BEGIN PRIVATE KEY-----\n" + base64(der) + "\n-----END PRIVATE KEY-----\n"));
    EXPECT_EQ(key.name(), "EdDSA");
    const std::string input = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    const auto signature = decoded("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
    EXPECT_EQ(MUST(key.sign(as_bytes(input))), signature);
    EXPECT_TRUE(key.verify(as_bytes(input), signature));
    EXPECT_FALSE(key.verify(as_bytes(input), std::vector<std::uint8_t>(64)));
}

// RFC 7515, A.3, with the public key of A.3.1 as PEM.
TEST(SigningKey, VerifiesTheP256SignatureOfTheStandard) {
    std::vector<std::uint8_t> der = {0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
                                     0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04};
    for (const std::string_view number :
         {"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}) {
        const auto bytes = decoded(number);
        der.insert(der.end(), bytes.begin(), bytes.end());
    }
    const auto key = MUST(SigningKey::parse("-----BEGIN PUBLIC KEY-----\n" + base64(der) + "\n-----END PUBLIC KEY-----\n"));
    EXPECT_EQ(key.name(), "ES256");
    const std::string input =
        "eyJhbGciOiJFUzI1NiJ9."
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    auto signature = decoded("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q");
    EXPECT_TRUE(key.verify(as_bytes(input), signature));
    EXPECT_FALSE(key.verify(as_bytes(input + "x"), signature));
    EXPECT_FALSE(key.verify(as_bytes(input), Bytes(signature).first(63)));
    // A signature of zeros is valid in careless libraries.
    EXPECT_FALSE(key.verify(as_bytes(input), std::vector<std::uint8_t>(64)));
}

TEST(SigningKey, RefusesFilesWithoutAUsableKey) {
    EXPECT_EQ(SigningKey::parse("").code(), Errc::malformed);
    EXPECT_EQ(SigningKey::parse("too short").code(), Errc::malformed);
    EXPECT_EQ(SigningKey::parse(std::string(31, 'x') + "\n\n\n").code(), Errc::malformed) << "line ends are no part of a secret";
    EXPECT_TRUE(SigningKey::parse(std::string(32, 'x')).ok());
    EXPECT_EQ(SigningKey::parse(std::string(SigningKey::kFileBytesMax + 1, 'x')).code(), Errc::malformed);
    EXPECT_EQ(SigningKey::parse("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n").code(), Errc::malformed);
    EXPECT_EQ(SigningKey::parse(kRsaPublic.substr(0, kRsaPublic.size() / 2)).code(), Errc::malformed);
}

}  // namespace
}  // namespace live::engine::crypto
