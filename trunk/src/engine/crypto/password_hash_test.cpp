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
        EXPECT_TRUE(hash.verify("password"));
        EXPECT_FALSE(hash.verify("Password"));
        EXPECT_FALSE(hash.verify(""));
    }
}

// FIPS 180-4: SHA-256 of "abc".
TEST(PasswordHash, VerifiesSha256AndPlainText) {
    const auto hash = MUST(PasswordHash::parse("sha256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="));
    EXPECT_TRUE(hash.verify("abc"));
    EXPECT_FALSE(hash.verify("abd"));
    EXPECT_FALSE(hash.verify("abcabc"));
    EXPECT_TRUE(hash.plain().empty());
    const auto plain = MUST(PasswordHash::parse("plain:a:b"));
    EXPECT_TRUE(plain.verify("a:b"));
    EXPECT_FALSE(plain.verify("a"));
    EXPECT_EQ(plain.plain(), "a:b");
}

TEST(PasswordHash, MakesTextsThatItVerifies) {
    for (const Scheme scheme : {Scheme::argon2id, Scheme::sha256, Scheme::plain}) {
        const std::string text = MUST(PasswordHash::make("wonderland", scheme));
        const auto hash = MUST(PasswordHash::parse(text));
        EXPECT_EQ(hash.scheme(), scheme);
        EXPECT_TRUE(hash.verify("wonderland")) << text;
        EXPECT_FALSE(hash.verify("wonderlanD")) << text;
    }
    EXPECT_NE(MUST(PasswordHash::make("a", Scheme::argon2id)), MUST(PasswordHash::make("a", Scheme::argon2id))) << "salted";
    EXPECT_EQ(PasswordHash::make("", Scheme::argon2id).code(), Errc::limit);
    EXPECT_EQ(PasswordHash::make(std::string(PasswordHash::kPasswordBytesMax + 1, 'a'), Scheme::sha256).code(), Errc::limit);
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
