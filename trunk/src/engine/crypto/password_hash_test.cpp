#include "engine/crypto/password_hash.hpp"

#include <string>

#include <gtest/gtest.h>

namespace live::engine::crypto {
namespace {

using Scheme = PasswordHash::Scheme;

Errc code_of(std::string_view text) { return PasswordHash::parse(text).code(); }

// The test of the reference implementation: 64 MiB, 2 passes, "somesalt".
TEST(PasswordHash, VerifiesTheHashOfTheReference) {
    const std::string phc = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
    for (const char* scheme : {"argon2id:", "argon2:"}) {
        const auto hash = MUST(PasswordHash::parse(scheme + phc));
        EXPECT_EQ(hash.scheme(), Scheme::argon2id);
        EXPECT_TRUE(hash.verify("user", "password"));
        EXPECT_FALSE(hash.verify("user", "Password"));
        EXPECT_FALSE(hash.verify("user", ""));
    }
}

// FIPS 180-4: SHA-256 of "abc".
TEST(PasswordHash, VerifiesSha256AndPlainText) {
    const auto hash = MUST(PasswordHash::parse("sha256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="));
    EXPECT_TRUE(hash.verify("user", "abc"));
    EXPECT_FALSE(hash.verify("user", "abd"));
    EXPECT_FALSE(hash.verify("user", "abcabc"));
    EXPECT_TRUE(hash.plain().empty());
    const auto plain = MUST(PasswordHash::parse("plain:a:b"));
    EXPECT_TRUE(plain.verify("user", "a:b"));
    EXPECT_FALSE(plain.verify("user", "a"));
    EXPECT_EQ(plain.plain(), "a:b");
}

TEST(PasswordHash, MakesTextsThatItVerifies) {
    for (const Scheme scheme : {Scheme::argon2id, Scheme::sha256, Scheme::ha1, Scheme::plain}) {
        const std::string text = MUST(PasswordHash::make("user", "wonderland", scheme));
        const auto hash = MUST(PasswordHash::parse(text));
        EXPECT_EQ(hash.scheme(), scheme);
        EXPECT_TRUE(hash.verify("user", "wonderland")) << text;
        EXPECT_FALSE(hash.verify("user", "wonderlanD")) << text;
    }
    EXPECT_NE(MUST(PasswordHash::make("user", "a", Scheme::argon2id)), MUST(PasswordHash::make("user", "a", Scheme::argon2id)))
        << "salted";
    EXPECT_EQ(PasswordHash::make("user", "", Scheme::argon2id).code(), Errc::limit);
    EXPECT_EQ(PasswordHash::make("user", std::string(PasswordHash::kPasswordBytesMax + 1, 'a'), Scheme::sha256).code(),
              Errc::limit);
}

// printf dave:streams:abc | md5sum, and sha256sum.
TEST(PasswordHash, HasTheHashesForDigest) {
    const std::string md5 = "b64a38579c3c62ff0497afa6cc083e90";
    const std::string sha256 = "a21be87fd1905710723e69716a1c52af2185d7ed4617fcc0a4b216623480d794";
    EXPECT_EQ(MUST(PasswordHash::make("dave", "abc", Scheme::ha1)), "ha1:" + md5 + ":" + sha256);
    const auto hash = MUST(PasswordHash::parse("ha1:" + md5 + ":" + sha256));
    EXPECT_EQ(hash.ha1_md5(), md5);
    EXPECT_EQ(hash.ha1_sha256(), sha256);
    EXPECT_TRUE(hash.plain().empty());
    EXPECT_TRUE(hash.verify("dave", "abc"));
    EXPECT_FALSE(hash.verify("dave", "abd"));
    EXPECT_FALSE(hash.verify("Dave", "abc")) << "the name is hashed";
    EXPECT_TRUE(MUST(PasswordHash::parse("plain:a")).ha1_md5().empty());
    EXPECT_TRUE(MUST(PasswordHash::parse("plain:a")).ha1_sha256().empty());
    for (const std::string& text :
         {md5, sha256, md5 + ":" + md5, sha256 + ":" + md5, md5 + ":" + sha256.substr(1), ":" + md5 + sha256,
          md5 + ":" + sha256 + "0", md5.substr(1) + "g:" + sha256, md5 + sha256, std::string(":")})
        EXPECT_EQ(code_of("ha1:" + text), Errc::malformed) << text;
}

TEST(PasswordHash, RefusesOtherTextsWithoutShowingThem) {
    for (const char* text :
         {"", "secret", "plain:", "sha1:AAAA", "sha256:", "sha256:AAAA", "argon2id:", "argon2id:$argon2i$v=19$m=8,t=1,p=1$",
          "argon2id:$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ", "argon2id:$argon2id$v=19$m=64,t=1,p=1$c29t$CTFhFdXPJO1aFaMaO6Mm5Q",
          "argon2id:$argon2id$v=19$m=64,t=0,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5Q",
          "argon2id:$argon2id$v=19$m=262145,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5Q",
          "argon2id:$argon2id$v=19$m=64,t=33,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5Q",
          "argon2id:$argon2id$v=19$m=640,t=1,p=17$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5Q",
          "argon2id:$argon2id$v=19$m=99999999999,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5Q"})
        EXPECT_EQ(code_of(text), Errc::malformed) << text;
    EXPECT_EQ(code_of("plain:" + std::string(PasswordHash::kTextBytesMax, 'a')), Errc::malformed);
    EXPECT_EQ(PasswordHash::parse("hunter2").error().sentence().find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace live::engine::crypto
