#include "base/text/secret.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(SecretTest, ComparesTheWholeSecret) {
    EXPECT_TRUE(same_secret("token", "token"));
    EXPECT_TRUE(same_secret("", ""));
    for (const char* other : {"", "t", "toke", "tokeN", "Token", "tokentoken", "token "})
        EXPECT_FALSE(same_secret(other, "token")) << other;
    EXPECT_FALSE(same_secret("token", ""));
}

TEST(SecretTest, ValuesOfSecretParametersAreHidden) {
    const std::pair<const char*, const char*> cases[] = {
        {"", ""},
        {"?", "?"},
        {"/live/cam.flv", "/live/cam.flv"},
        {"?token=abc&user=7", "?token=***&user=7"},
        {"user=7&KEY=a/b?c", "user=7&KEY=***"},
        {"rtmp://host/live?key=1", "rtmp://host/live?key=***"},
        {"rtmp://user:pw@host/live", "rtmp://***@host/live"},
        {"https://h/a@b", "https://h/a@b"},
        {"-i rtsp://a:b@cam/x -f flv rtmp://h/live/s?secret=x -y", "-i rtsp://***@cam/x -f flv rtmp://h/live/s?secret=*** -y"},
        {"?monkey=1&keys=2&token", "?monkey=1&keys=2&token"},
        {"?token=", "?token=***"},
        {"?a==&sign==&b", "?a==&sign=***&b"},
        {"key=1&key=2", "key=***&key=***"},
        {"?%74oken=abc&%4b%45%59=1&%7=2&%zz=3", "?%74oken=***&%4b%45%59=***&%7=2&%zz=3"},
    };
    for (const auto& [text, shown] : cases)
        EXPECT_EQ(redacted(text), shown);
}

}  // namespace
}  // namespace live
