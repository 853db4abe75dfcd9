#include "service/signed_urls/signed_url.hpp"

#include <gtest/gtest.h>

#include "base/bytes/base64.hpp"
#include "engine/crypto/hmac_sha1.hpp"
#include "engine/crypto/md5.hpp"

namespace live::service::signed_urls {
namespace {

using namespace std::chrono_literals;
using tokens::Permission;
using wire::http::Query;

constexpr UnixSeconds kNow{1'800'000'000s};
constexpr std::string_view kKey = "0123456789abcdef0123456789abcdef";

struct SignedUrlTest : testing::Test {
    Result<std::optional<UnixSeconds>> check(std::string_view query) {
        written.raw_query = query;
        return verify(MUST(Query::parse(query)), written, secrets, requested);
    }
    bool permits(std::string_view query) { return check(query).ok(); }
    std::string policy_query(const std::string& policy, std::string_view base = "rtmp://h:1935/live/cam",
                             std::string_view before = "") {
        const std::string part = std::string(before) + "policy=" + base64url(as_bytes(policy));
        const std::string text = std::string(base) + "?" + part;
        return part + "&signature=" + base64url(MUST(engine::crypto::hmac_sha1(as_bytes("policy key"), as_bytes(text))));
    }

    Secrets secrets{.keys = {as_bytes(kKey)}};
    Requested requested{"live/cam", Permission::play, "10.0.0.7", "192.0.2.9", kNow};
    Written written{{"/live/cam.m3u8", "/live/cam"}, {"rtmp://h:1935", "rtmp://h"}, {}};
};

TEST_F(SignedUrlTest, PermitsItsStreamUntilItsTime) {
    const std::string query = MUST(sign({"live/cam", {Permission::play}, kNow + 5s}, as_bytes(kKey)));
    EXPECT_EQ(query.find("expires=1800000005&signature="), 0U) << query;
    EXPECT_EQ(*MUST(check(query)), kNow + 5s);
    EXPECT_TRUE(is_signed(MUST(Query::parse(query))));
    requested.now = kNow + 5s;
    EXPECT_FALSE(permits(query));
    requested.now = kNow;
    requested.path = "live/cam2";
    EXPECT_FALSE(permits(query));
    requested.path = "live/cam";
    requested.permission = Permission::publish;
    EXPECT_FALSE(permits(query));
    EXPECT_FALSE(permits("rights=publish&" + query)) << "the rights are signed";
    EXPECT_FALSE(permits("expires=1800000006" + query.substr(query.find('&')))) << "the expiry is signed";
    EXPECT_EQ(MUST(check(MUST(sign({"live/cam", {Permission::publish, Permission::play}}, as_bytes(kKey))))), std::nullopt);
}

TEST_F(SignedUrlTest, MayBeForANetworkOnly) {
    const std::string query = MUST(sign({"live/cam", {Permission::play}, {}, "10.0.0.0/24"}, as_bytes(kKey)));
    EXPECT_TRUE(permits(query));
    requested.peer_ip = "10.0.1.7";
    EXPECT_FALSE(permits(query));
    requested.peer_ip = "10.0.0.7";
    EXPECT_FALSE(permits(query.substr(query.find('&') + 1))) << "the network is signed";
}

TEST_F(SignedUrlTest, RefusesOtherKeysAndEveryOtherText) {
    const std::string query = MUST(sign({"live/cam", {Permission::play}, kNow + 5s}, as_bytes(kKey)));
    for (std::size_t i = 0; i < query.size(); ++i) {
        std::string other = query;
        other[i] = other[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(permits(other)) << other;
        EXPECT_FALSE(permits(query.substr(0, i))) << i;
    }
    secrets.keys = {as_bytes("another key of at least 32 bytes")};
    EXPECT_FALSE(permits(query));
    secrets.keys.push_back(as_bytes(kKey));
    EXPECT_TRUE(permits(query)) << "an older key";
    secrets.keys.clear();
    EXPECT_FALSE(permits(query));
}

// The example of the documentation of nginx's module: echo -n '2147483647/s/link127.0.0.1 secret' | openssl md5 -binary | ...
TEST_F(SignedUrlTest, AcceptsSecureLinkOfNginx) {
    secrets.secure_link = "$secure_link_expires$uri$remote_addr secret";
    written.uris = {"/s/link"};
    requested.peer_ip = "127.0.0.1";
    const std::string query = "md5=_e4Nc3iduzkWRm01TBBNYw&expires=2147483647";
    EXPECT_EQ(MUST(check(query))->time_since_epoch(), 2147483647s);
    requested.peer_ip = "127.0.0.2";
    EXPECT_FALSE(permits(query));
    requested.peer_ip = "127.0.0.1";
    EXPECT_FALSE(permits("md5=_e4Nc3iduzkWRm01TBBNYw&expires=2147483648"));
    EXPECT_FALSE(permits("md5=&expires=2147483647"));
    requested.permission = Permission::publish;
    EXPECT_FALSE(permits(query));
    requested.permission = Permission::play;
    requested.now = UnixSeconds(2147483647s);
    EXPECT_FALSE(permits(query));
    requested.now = kNow;
    secrets.secure_link = {};
    EXPECT_FALSE(permits(query));
}

TEST_F(SignedUrlTest, AcceptsSignedPolicies) {
    secrets.policy = "policy key";
    secrets.policy_permissions = {Permission::play};
    EXPECT_EQ(MUST(check(policy_query(R"({"url_expire":1800000001000})"))), std::nullopt);
    EXPECT_EQ(*MUST(check(policy_query(R"({"url_expire":1800000001000,"stream_expire":1800000009500})"))), kNow + 10s);
    EXPECT_TRUE(permits(policy_query(R"({"url_expire":1800000001000})", "rtmp://h/live/cam")));
    EXPECT_TRUE(permits(policy_query(R"({"url_expire":1800000001000})", "rtmp://h:1935/live/cam", "a=b&")));
    EXPECT_FALSE(permits(policy_query(R"({"url_expire":1800000001000})", "rtmp://h:1935/live/other")));
    EXPECT_FALSE(permits(policy_query(R"({"url_expire":1800000000000})")));
    EXPECT_FALSE(permits(policy_query(R"({"url_expire":1800000001000,"stream_expire":1800000000000})")));
    EXPECT_FALSE(permits(policy_query(R"({"url_expire":1800000001000,"url_activate":1800000000001})")));
    EXPECT_TRUE(permits(policy_query(R"({"url_expire":1800000001000,"allow_ip":"10.0.0.0/8","real_ip":"192.0.2.9/32"})")));
    EXPECT_FALSE(permits(policy_query(R"({"url_expire":1800000001000,"allow_ip":"10.0.1.0/24"})")));
    EXPECT_FALSE(permits(policy_query(R"({"url_expire":1800000001000,"real_ip":"10.0.0.7"})")));
    for (const char* policy : {"", "{}", "[]", "null", R"({"url_expire":"1800000001000"})", R"({"url_expire":1e300})",
                               R"({"url_expire":[[[1]]]})", R"({"url_expire":1800000001000,"allow_ip":7})"})
        EXPECT_FALSE(permits(policy_query(policy))) << policy;
    requested.permission = Permission::publish;
    EXPECT_FALSE(permits(policy_query(R"({"url_expire":1800000001000})")));
    secrets.policy_permissions.push_back(Permission::publish);
    EXPECT_TRUE(permits(policy_query(R"({"url_expire":1800000001000})")));
}

// `/get?path=live/cam`: a signature of the path alone would be good for each stream.
TEST_F(SignedUrlTest, AcceptsSecureLinkOfRecordingsOnlyWithTheirStream) {
    secrets.secure_link = "$secure_link_expires$uri$arg_path secret";
    requested.permission = Permission::playback;
    written.query_uris = {"/get", "/list"};
    written.path_parameter = "live/cam";
    const auto permits_hash_of = [&](std::string_view text) {
        return permits("md5=" + base64url(MUST(engine::crypto::md5(as_bytes(text)))) + "&expires=2147483647");
    };
    EXPECT_TRUE(permits_hash_of("2147483647/getlive/cam secret"));
    EXPECT_TRUE(permits_hash_of("2147483647/listlive/cam secret")) << "the list hands its query on";
    EXPECT_TRUE(permits_hash_of("2147483647/live/cam.m3u8 secret")) << "and so does a playlist";
    EXPECT_FALSE(permits_hash_of("2147483647/getlive/other secret"));
    EXPECT_FALSE(permits_hash_of("2147483647/get secret"));
    secrets.secure_link = "$secure_link_expires$uri secret";
    EXPECT_FALSE(permits_hash_of("2147483647/get secret"));
    EXPECT_TRUE(permits_hash_of("2147483647/live/cam secret"));
}

TEST_F(SignedUrlTest, AcceptsPoliciesOfRecordingsOnlyWithTheirStream) {
    secrets.policy = "policy key";
    secrets.policy_permissions = {Permission::playback};
    requested.permission = Permission::playback;
    written.query_uris = {"/get", "/list"};
    written.path_parameter = "live/cam";
    constexpr std::string_view kPolicy = R"({"url_expire":1800000001000})";
    const std::string requested_url = policy_query(std::string(kPolicy), "rtmp://h/get", "start=1&path=live/cam&");
    EXPECT_TRUE(permits(requested_url));
    EXPECT_FALSE(permits("path=live/cam&" + requested_url)) << "another query";
    EXPECT_FALSE(permits(policy_query(std::string(kPolicy), "rtmp://h/get", "path=live/other&")));
    EXPECT_FALSE(permits(policy_query(std::string(kPolicy), "rtmp://h/get", "path=live/other&path=live/cam&")));
    EXPECT_FALSE(permits(policy_query(std::string(kPolicy), "rtmp://h/get"))) << "the path is not signed";
    EXPECT_FALSE(permits(policy_query(std::string(kPolicy), "rtmp://h/get") + "&path=live/cam"));
    // As lists and playlists hand it on.
    const std::string of_list = policy_query(std::string(kPolicy), "rtmp://h/list", "path=live/cam&");
    EXPECT_TRUE(permits("path=live%2Fcam&" + of_list.substr(of_list.find("policy=")) + "&start=1"));
    const std::string of_playlist = policy_query(std::string(kPolicy), "rtmp://h/live/cam.m3u8");
    EXPECT_TRUE(permits("path=live%2Fcam&" + of_playlist + "&start=1"));
    EXPECT_FALSE(permits("%70olicy=" + base64url(as_bytes(R"({"url_expire":1900000000000})")) + "&" + of_playlist))
        << "the policy that counts is the signed one";
    requested.permission = Permission::play;
    EXPECT_FALSE(permits("start=1&" + of_playlist)) << "of the stream itself, the URL as requested is signed";
}

TEST_F(SignedUrlTest, RefusesPoliciesThatWereChanged) {
    secrets.policy = "policy key";
    secrets.policy_permissions = {Permission::play};
    const std::string query = policy_query(R"({"url_expire":1800000001000})");
    ASSERT_TRUE(permits(query));
    for (std::size_t i = 0; i < query.size(); ++i) {
        std::string other = query;
        other[i] = other[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(permits(other)) << other;
        EXPECT_FALSE(permits(query.substr(0, i))) << i;
    }
    EXPECT_FALSE(permits(policy_query(std::string(kPolicyBytesMax, ' ') + R"({"url_expire":1800000001000})")));
}

}  // namespace
}  // namespace live::service::signed_urls
