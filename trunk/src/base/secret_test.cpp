#include "base/secret.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(SecretTest, OnlyTheWholeOneIsTheSame) {
    EXPECT_TRUE(same_secret("token", "token"));
    EXPECT_TRUE(same_secret("", ""));
    for (const char* other : {"", "t", "toke", "tokeN", "Token", "tokentoken", "token "})
        EXPECT_FALSE(same_secret(other, "token")) << other;
    EXPECT_FALSE(same_secret("token", ""));
}

}  // namespace
}  // namespace live
