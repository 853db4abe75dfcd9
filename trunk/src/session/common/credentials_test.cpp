#include "session/common/credentials.hpp"

#include <gtest/gtest.h>

#include "base/bytes/base64.hpp"

namespace live::session {
namespace {

std::string text_of(const std::shared_ptr<const Credentials>& found) {
    return found == nullptr ? "none" : found->user + "|" + found->password + "|" + found->bearer;
}

// The first is the example of RFC 7617, 2.
TEST(Credentials, ReadsTheAuthorizationField) {
    EXPECT_EQ(text_of(parse_authorization("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")), "Aladdin|open sesame|");
    EXPECT_EQ(text_of(parse_authorization("basic   YTpiOmM=")), "a|b:c|") << "the password may contain a colon";
    EXPECT_EQ(text_of(parse_authorization("Basic YTo=")), "a||");
    EXPECT_EQ(text_of(parse_authorization("Bearer abc.def.ghi")), "||abc.def.ghi");
    for (const char* field :
         {"", "Basic", "Basic ", "Basic YQ==", "Basic OmI=", "Basic !!!", "Bearer", "Bearer ", "Digest username=\"a\""})
        EXPECT_EQ(text_of(parse_authorization(field)), "none") << field;
}

TEST(Credentials, HasBounds) {
    EXPECT_EQ(parse_authorization("Bearer " + std::string(kBearerBytesMax + 1, 'a')), nullptr);
    EXPECT_NE(parse_authorization("Bearer " + std::string(kBearerBytesMax, 'a')), nullptr);
    EXPECT_EQ(user_info_of("rtmp://" + std::string(kCredentialBytesMax + 1, 'a') + "@h/live"), nullptr);
    EXPECT_NE(user_info_of("rtmp://" + std::string(kCredentialBytesMax, 'a') + "@h/live"), nullptr);
    EXPECT_NE(user_info_of("rtmp://a:" + std::string(kBearerBytesMax, 'a') + "@h/live"), nullptr) << "a token as the password";
    EXPECT_EQ(user_info_of("rtmp://a:" + std::string(kBearerBytesMax + 1, 'a') + "@h/live"), nullptr);
    EXPECT_NE(parse_authorization("Basic " + base64(as_bytes("a:" + std::string(kBearerBytesMax, 'a')))), nullptr);
    EXPECT_EQ(parse_authorization("Basic " + base64(as_bytes("a:" + std::string(kBearerBytesMax + 1, 'a')))), nullptr);
}

TEST(Credentials, ReadsUserInfoOfAUrl) {
    EXPECT_EQ(text_of(user_info_of("rtmp://alice:secret@h:1935/live")), "alice|secret|");
    EXPECT_EQ(text_of(user_info_of("rtmp://alice:a%40b%3Ac@h/live?x=y@z")), "alice|a@b:c|");
    EXPECT_EQ(text_of(user_info_of("rtmp://alice@h")), "alice||");
    EXPECT_EQ(text_of(user_info_of("rtmp://a:b@c@h/live")), "a|b@c|") << "the last at sign ends it";
    for (const char* url :
         {"", "rtmp://h/live", "rtmp://h/live@x", "alice:secret@h", "rtmp://:x@h/live", "rtmp://%zz@h/live", "rtmp://h?a=b@c"})
        EXPECT_EQ(text_of(user_info_of(url)), "none") << url;
    EXPECT_EQ(without_user_info("rtmp://alice:secret@h:1935/live?a=b@c"), "rtmp://h:1935/live?a=b@c");
    EXPECT_EQ(without_user_info("rtmp://h/live@x"), "rtmp://h/live@x");
}

}  // namespace
}  // namespace live::session
