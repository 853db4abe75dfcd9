#include "service/upload/credentials_text.hpp"

#include <gtest/gtest.h>

namespace live::service::upload {
namespace {

constexpr std::string_view kFile =
    "# keys\n[other]\naws_access_key_id = OTHER\naws_secret_access_key=o\n\n[default]\r\naws_access_key_id = AKIA1\r\n"
    "aws_secret_access_key\t=  a/b+c=  \nregion = eu-west-1\n; end\n[temporary]\naws_access_key_id=ASIA\n"
    "aws_secret_access_key=t\naws_session_token=tok=en";
constexpr std::string_view kInstance =
    R"({"Code":"Success","AccessKeyId":"ASIA1","SecretAccessKey":"s","Token":"t","Expiration":"2026-11-30T07:00:00Z"})";

TEST(CredentialsText, HasTheKeysOfAProfile) {
    EXPECT_EQ(MUST(parse_credentials_file(kFile, "default")), (engine::s3::Credentials{"AKIA1", "a/b+c=", ""}));
    EXPECT_EQ(MUST(parse_credentials_file(kFile, "temporary")), (engine::s3::Credentials{"ASIA", "t", "tok=en"}));
    EXPECT_EQ(parse_credentials_file(kFile, "none").code(), Errc::not_found);
    EXPECT_EQ(parse_credentials_file("[default]\naws_access_key_id=a", "default").code(), Errc::not_found);
    for (std::size_t size = 0; size < kFile.size(); ++size)
        static_cast<void>(parse_credentials_file(kFile.substr(0, size), "temporary"));
}

TEST(CredentialsText, ReadsTheMetadataService) {
    const auto read = MUST(parse_instance_credentials(kInstance));
    EXPECT_EQ(read.credentials, (engine::s3::Credentials{"ASIA1", "s", "t"}));
    ASSERT_TRUE(read.expiration);
    EXPECT_EQ(wall_time_text(*read.expiration), "2026-11-30T07:00:00.000000Z");
    for (std::size_t size = 0; size < kInstance.size(); ++size)
        EXPECT_EQ(parse_instance_credentials(kInstance.substr(0, size)).code(), Errc::malformed);
    EXPECT_FALSE(parse_instance_credentials(R"({"AccessKeyId":7,"SecretAccessKey":"s"})").ok());
}

}  // namespace
}  // namespace live::service::upload
