#include "app/start/hash_command.hpp"

#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "engine/crypto/password_hash.hpp"

namespace live::app {
namespace {

using engine::crypto::PasswordHash;

Result<std::string> hash_of(std::vector<std::string_view> arguments, const std::string& input) {
    std::istringstream stream(input);
    return hash_password(arguments, stream);
}

TEST(HashCommand, HashesTheFirstLine) {
    for (const char* input : {"wonderland", "wonderland\n", "wonderland\r\nmore\n"}) {
        const std::string text = MUST(hash_of({}, input));
        EXPECT_EQ(text.find("argon2id:$argon2id$v=19$m=19456,t=2,p=1$"), 0U) << text;
        EXPECT_TRUE(MUST(PasswordHash::parse(text)).verify("user", "wonderland"));
    }
    EXPECT_EQ(MUST(hash_of({"--sha256"}, "abc\n")), "sha256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    EXPECT_EQ(MUST(hash_of({"--digest", "dave"}, "abc\n")), MUST(PasswordHash::make("dave", "abc", PasswordHash::Scheme::ha1)));
    EXPECT_EQ(hash_of({"--digest"}, "abc\n").code(), Errc::malformed);
    EXPECT_EQ(hash_of({}, "").code(), Errc::malformed);
    EXPECT_EQ(hash_of({"secret"}, "abc\n").code(), Errc::malformed);
}

}  // namespace
}  // namespace live::app
