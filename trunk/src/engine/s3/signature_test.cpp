#include "engine/s3/signature.hpp"

#include <gtest/gtest.h>

#include "base/bytes/bytes.hpp"

namespace live::engine::s3 {
namespace {

// "Examples: Signature Calculations" of the Amazon S3 API reference.
const Credentials kExampleCredentials = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", {}};
constexpr std::string_view kScope = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,";

std::string authorization_of(const Request& request) {
    const WallTime now = MUST(parse_wall_time("2013-05-24T00:00:00Z"));
    const auto headers = MUST(sign(request, kExampleCredentials, "us-east-1", now));
    EXPECT_EQ(headers.find("x-amz-date"), "20130524T000000Z");
    return std::string(*headers.find("Authorization"));
}

Request example(std::string method, std::string path) {
    return {std::move(method), "examplebucket.s3.amazonaws.com", std::move(path), {}, {}, std::string(kEmptyHash)};
}

TEST(S3Signature, IsThatOfThePublishedGetObject) {
    Request request = example("GET", "/test.txt");
    request.headers.add("Range", "bytes=0-9");
    EXPECT_EQ(authorization_of(request), std::string(kScope) +
                                             "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                                             "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(S3Signature, IsThatOfThePublishedPutObject) {
    Request request = example("PUT", "/test$file.text");
    request.headers.add("Date", "Fri, 24 May 2013 00:00:00 GMT");
    request.headers.add("x-amz-storage-class", "REDUCED_REDUNDANCY");
    request.payload_hash = MUST(hash_of("Welcome to Amazon S3."));
    EXPECT_EQ(request.payload_hash, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
    EXPECT_EQ(authorization_of(request), std::string(kScope) +
                                             "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,"
                                             "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    EXPECT_EQ(target_of(request), "/test%24file.text");
}

TEST(S3Signature, IsThatOfThePublishedGetLifecycle) {
    Request request = example("GET", "/");
    request.query = {{"lifecycle", ""}};
    EXPECT_EQ(authorization_of(request), std::string(kScope) +
                                             "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
                                             "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    EXPECT_EQ(target_of(request), "/?lifecycle=");
}

TEST(S3Signature, IsThatOfThePublishedListObjects) {
    Request request = example("GET", "/");
    request.query = {{"prefix", "J"}, {"max-keys", "2"}};
    EXPECT_EQ(authorization_of(request), std::string(kScope) +
                                             "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
                                             "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    EXPECT_EQ(target_of(request), "/?max-keys=2&prefix=J");
}

TEST(S3Signature, SignsTheTokenOfTemporaryCredentials) {
    Credentials credentials = kExampleCredentials;
    credentials.session_token = "token";
    const auto headers = MUST(sign(example("GET", "/a b"), credentials, "eu-west-1", WallTime{}));
    EXPECT_EQ(headers.find("x-amz-security-token"), "token");
    EXPECT_NE(headers.find("Authorization")->find("x-amz-date;x-amz-security-token"), std::string_view::npos);
    EXPECT_EQ(target_of(example("GET", "/a b")), "/a%20b");
}

}  // namespace
}  // namespace live::engine::s3
