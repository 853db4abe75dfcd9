#include "service/admission/access_policy.hpp"

#include <map>

#include <gtest/gtest.h>

#include "base/bytes/base64.hpp"
#include "base/log/log_fixture.hpp"
#include "engine/crypto/md5.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/admission/vhosts_fixture.hpp"
#include "service/signed_urls/signed_url.hpp"

namespace live::service::admission {
namespace {

using engine::crypto::SigningKey;
using namespace std::chrono_literals;

constexpr tokens::UnixSeconds kNow{1'800'000'000s};

class FakeKeySets final : public tokens::KeySets {
public:
    const std::vector<SigningKey>* find(const std::string& url) const override {
        const auto found = sets.find(url);
        return found == sets.end() ? nullptr : &found->second;
    }
    void refresh(const std::string& url, io::Deadline) override {
        asked.push_back(url);
        if (!next.empty())
            sets[url] = next;
    }
    std::map<std::string, std::vector<SigningKey>> sets;
    std::vector<SigningKey> next;
    std::vector<std::string> asked;
};

class AccessPolicyTest : public testing::Test {
protected:
    AccessPolicyTest() {
        keys_.replace({{"a.key", key_}});
        vhosts_.main().access.enabled = true;
        vhosts_.main().access.key_files = {"missing.key", "a.key"};
    }
    std::string token(tokens::Permission permission, const std::string& path, std::optional<tokens::UnixSeconds> expires = {}) {
        tokens::TokenRequest request{.rights = {}, .expires = expires, .now = kNow};
        request.rights.push_back({permission, MUST(tokens::PathPattern::parse(path))});
        return MUST(tokens::make_jwt(request, key_));
    }
    Result<AccessGrant> play(const session::ClientRequest& request) {
        return policy_.check(request, access::Role::play, kNow, io::Deadline::after(io::kSoon));
    }
    Result<AccessGrant> play(std::string param, std::string vhost = "any.example") {
        session::ClientRequest request = client_of(session::ClientKind::rtmp_play, std::move(vhost));
        request.param = std::move(param);
        return play(request);
    }
    void set_users(std::vector<users::UserOptions> all) {
        user_options_ = std::move(all);
        MUST(users_.prepare(io::Deadline::never()));
        users_.apply(io::Deadline::never());
    }
    Errc code_of(std::string param) { return play(std::move(param)).code(); }

    const SigningKey key_ = MUST(SigningKey::parse(std::string(32, 'k')));
    tokens::KeyRing keys_;
    FakeVhosts vhosts_;
    VhostPolicy rules_{vhosts_};
    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    NoLog sink_;
    Log log_{sink_, "test"};
    std::vector<users::UserOptions> user_options_;
    users::UserService users_{[this] { return user_options_; }, log_};
    FakeKeySets key_sets_;
    AccessPolicy policy_{rules_, keys_, key_sets_, users_};
};

TEST_F(AccessPolicyTest, RequiresATokenWithTheRight) {
    EXPECT_EQ(code_of(""), Errc::denied);
    EXPECT_EQ(code_of("?token="), Errc::denied);
    EXPECT_EQ(code_of("?token=nonsense"), Errc::denied);
    EXPECT_TRUE(play("?token=" + token(tokens::Permission::play, "live/cam")).ok());
    EXPECT_TRUE(play("a=b&token=" + token(tokens::Permission::play, "live/*")).ok()) << "WHEP's query has no question mark";
    EXPECT_TRUE(play("?jwt=" + token(tokens::Permission::play, "")).ok());
    EXPECT_EQ(code_of("?token=" + token(tokens::Permission::play, "live/other")), Errc::denied);
    EXPECT_EQ(code_of("?token=" + token(tokens::Permission::publish, "live/cam")), Errc::denied);
}

TEST_F(AccessPolicyTest, RecordingsNeedARightOfTheirOwn) {
    static constexpr session::ClientKindRow kFiles{.name = "file-play", .plays_files = true};
    auto request = client_of(session::ClientKind(kFiles));
    const auto code_for = [&](const std::string& query) {
        request.param = "?" + query;
        return play(request).code();
    };
    EXPECT_EQ(code_for("token=" + token(tokens::Permission::play, "live/cam")), Errc::denied);
    EXPECT_EQ(code_of("?token=" + token(tokens::Permission::playback, "live/cam")), Errc::denied) << "the live stream";
    request.param = "?token=" + token(tokens::Permission::playback, "live/cam");
    EXPECT_TRUE(play(request).ok());
    EXPECT_TRUE(policy_.check_again(request, access::Role::play, "", kNow).ok());
    request.param = "?" + MUST(signed_urls::sign({"live/cam", {tokens::Permission::playback}, kNow + 5s}, key_.secret()));
    EXPECT_TRUE(play(request).ok());
    EXPECT_EQ(code_for(MUST(signed_urls::sign({"live/cam", {tokens::Permission::play}, kNow + 5s}, key_.secret()))),
              Errc::denied);
    // Another server signs the URL as requested: of a file, or of an endpoint with the stream in its query.
    vhosts_.main().access.secure_link = "$uri$arg_path SECRET";
    const auto admits_hash_of = [&](std::string_view text, const std::string& more) {
        request.param = "?md5=" + base64url(MUST(engine::crypto::md5(as_bytes(text)))) + more;
        return play(request).ok();
    };
    request.extension = "/rec/live/cam.17.mp4";
    EXPECT_TRUE(admits_hash_of("/rec/live/cam.17.mp4 SECRET", ""));
    EXPECT_FALSE(admits_hash_of("/rec/live/cam.18.mp4 SECRET", ""));
    request.extension = "/old/get";
    EXPECT_TRUE(admits_hash_of("/old/getlive/cam SECRET", "&path=live/cam"));
    EXPECT_TRUE(admits_hash_of("/old/listlive/cam SECRET", "&path=live/cam"));
    EXPECT_TRUE(admits_hash_of("/live/cam.m3u8 SECRET", "&path=live/cam"));
    EXPECT_FALSE(admits_hash_of("/old/get SECRET", "&path=live/cam"));
    vhosts_.main().access.anybody = {{"play"}};
    EXPECT_EQ(code_for(""), Errc::denied);
    vhosts_.main().access.anybody = {{"playback", "live/*"}};
    request.param.clear();
    EXPECT_TRUE(play(request).ok());
}

TEST_F(AccessPolicyTest, ReturnsTheExpiry) {
    EXPECT_EQ(MUST(play("?token=" + token(tokens::Permission::play, "live/cam", kNow + 5s))).ends_at, kNow + 5s);
    EXPECT_EQ(MUST(play("?token=" + token(tokens::Permission::play, "live/cam"))).ends_at, std::nullopt);
    EXPECT_EQ(code_of("?token=" + token(tokens::Permission::play, "live/cam", kNow - 1s)), Errc::denied);
}

TEST_F(AccessPolicyTest, AdmitsAnybodyToOpenStreamsAndWhenItIsOff) {
    vhosts_.main().access.anybody = {{"play", "live/pub*"}, {"publish"}};
    EXPECT_EQ(code_of(""), Errc::denied);
    vhosts_.main().access.anybody.push_back({"play", "live/cam"});
    EXPECT_TRUE(play("").ok());
    vhosts_.main().access.anybody = {{"play"}};
    EXPECT_TRUE(play("").ok());
    vhosts_.main().access = {};
    EXPECT_TRUE(play("").ok());
}

// A path without a virtual host is that of the default one.
TEST_F(AccessPolicyTest, DoesNotConfuseVirtualHosts) {
    auto& other = vhosts_.add("v.example");
    other.access = vhosts_.main().access;
    EXPECT_EQ(play("?token=" + token(tokens::Permission::play, "live/cam"), "v.example").code(), Errc::denied);
    EXPECT_TRUE(play("?token=" + token(tokens::Permission::play, "v.example/live/*"), "v.example").ok());
}

// FIPS 180-4: the password is "abc".
const users::UserOptions kAlice{
    "alice", "sha256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", {"10.0.0.0/24"}, {{"play", "live/*"}}};

TEST_F(AccessPolicyTest, AdmitsUsersByTheQuery) {
    EXPECT_EQ(code_of(""), Errc::denied);
    set_users({kAlice});
    EXPECT_EQ(code_of(""), Errc::unauthenticated) << "asked for a password";
    EXPECT_EQ(MUST(play("?user=alice&pass=abc")).user, "alice");
    EXPECT_TRUE(play("?username=alice&password=abc").ok());
    EXPECT_EQ(code_of("?u=alice&s=abc"), Errc::unauthenticated) << "keys of SRT";
    EXPECT_EQ(code_of("?user=alice&pass=abd"), Errc::unauthenticated);
}

TEST_F(AccessPolicyTest, AdmitsUsersByOtherFields) {
    set_users({kAlice});
    auto request = client_of(session::ClientKind::srt_play);
    request.protocol = "srt";
    request.param = "s=abc&u=alice";
    EXPECT_TRUE(play(request).ok());
    request = client_of(session::ClientKind::flv_play);
    request.credentials = session::parse_authorization("Basic YWxpY2U6YWJj");
    EXPECT_TRUE(play(request).ok());
    EXPECT_TRUE(policy_.check_at_once(request, access::Role::play, kNow).ok()) << "it was right before";
    request.credentials = session::parse_authorization("Basic YWxpY2U6YWJk");
    EXPECT_EQ(policy_.check_at_once(request, access::Role::play, kNow).code(), Errc::unauthenticated);
    request.credentials = session::parse_authorization("Bearer alice:abc");
    EXPECT_TRUE(play(request).ok());
    request.credentials = session::parse_authorization("Bearer " + token(tokens::Permission::play, "live/cam"));
    EXPECT_TRUE(play(request).ok());
    request.credentials = std::make_shared<const session::Credentials>(
        session::Credentials{"x", token(tokens::Permission::play, "live/cam"), {}, {}, {}});
    EXPECT_TRUE(play(request).ok()) << "a token as the password";
    request.credentials = std::make_shared<const session::Credentials>(
        session::Credentials{"alice", {}, {}, session::Credentials::Proof::right, {}});
    EXPECT_TRUE(play(request).ok()) << "Digest has verified it";
    request.credentials = std::make_shared<const session::Credentials>(
        session::Credentials{"alice", {}, {}, session::Credentials::Proof::wrong, {}});
    EXPECT_EQ(play(request).code(), Errc::unauthenticated) << "Digest has refused it";
}

TEST_F(AccessPolicyTest, ChecksRightsAndNetworksOfUsers) {
    set_users({kAlice});
    auto request = client_of(session::ClientKind::rtmp_play);
    request.param = "?user=alice&pass=abc";
    EXPECT_EQ(policy_.check(request, access::Role::publish, kNow, io::Deadline::after(io::kSoon)).code(), Errc::denied);
    request.stream = "cam/sub";
    EXPECT_EQ(play(request).code(), Errc::denied);
    request.stream = "cam";
    request.peer_ip = "10.0.1.7";
    EXPECT_EQ(play(request).code(), Errc::unauthenticated);
}

TEST_F(AccessPolicyTest, AdmitsSignedUrls) {
    const std::string query = MUST(signed_urls::sign({"live/cam", {tokens::Permission::play}, kNow + 5s}, key_.secret()));
    EXPECT_EQ(MUST(play("?" + query)).ends_at, kNow + 5s);
    EXPECT_EQ(code_of("?" + query + "x"), Errc::denied);
    EXPECT_TRUE(play("?" + query, "v.example").ok()) << "served by the default virtual host";
    vhosts_.add("v.example").access = vhosts_.main().access;
    EXPECT_EQ(play("?" + query, "v.example").code(), Errc::denied);
}

TEST_F(AccessPolicyTest, RequestsAKeySetForAnUnknownKey) {
    auto other = MUST(SigningKey::parse(std::string(32, 'o')));
    other.set_id("2026");
    tokens::TokenRequest asked{.rights = {}, .now = kNow};
    asked.rights.push_back({tokens::Permission::play, MUST(tokens::PathPattern::parse("live/cam"))});
    const std::string query = "?token=" + MUST(tokens::make_jwt(asked, other));
    EXPECT_EQ(code_of(query), Errc::denied);
    EXPECT_TRUE(key_sets_.asked.empty());
    vhosts_.main().access.jwks = {"http://h/keys"};
    EXPECT_EQ(code_of(query), Errc::limit) << "the set is missing: the token may be valid";
    EXPECT_EQ(key_sets_.asked.size(), 1U);
    EXPECT_EQ(code_of("?token=nonsense"), Errc::denied);
    EXPECT_EQ(code_of("?token=" + token(tokens::Permission::publish, "live/cam")), Errc::denied) << "by the key of a file";
    key_sets_.asked = {"http://h/keys"};
    key_sets_.next = {other};
    EXPECT_TRUE(play(query).ok());
    EXPECT_EQ(key_sets_.asked.size(), 2U);
    EXPECT_TRUE(play(query).ok());
    EXPECT_EQ(key_sets_.asked.size(), 2U) << "a known key";
    EXPECT_TRUE(play("?token=" + token(tokens::Permission::play, "live/cam")).ok()) << "by the key of a file";
    EXPECT_EQ(key_sets_.asked.size(), 2U) << "a token without the ID of a key requests no set that is there";
}

TEST_F(AccessPolicyTest, TakesRightsAwayAfterAReload) {
    auto request = client_of(session::ClientKind::rtmp_play);
    const auto again = [&](const std::string& user) { return policy_.check_again(request, access::Role::play, user, kNow).ok(); };
    set_users({kAlice});
    EXPECT_TRUE(again("alice"));
    set_users({kAlice});
    EXPECT_TRUE(again("alice"));
    auto changed = kAlice;
    changed.password = "plain:other";
    set_users({changed});
    EXPECT_FALSE(again("alice"));
    changed.rights = {{"publish"}};
    set_users({changed});
    EXPECT_FALSE(again("alice"));
    set_users({});
    EXPECT_FALSE(again("alice"));
    request.param = "?token=" + token(tokens::Permission::play, "live/cam");
    EXPECT_TRUE(again(""));
    keys_.replace({});
    EXPECT_FALSE(again(""));
    vhosts_.main().access.jwks = {"https://issuer.example/keys"};
    EXPECT_EQ(policy_.check_again(request, access::Role::play, "", kNow).code(), Errc::limit) << "until the set is read";
    key_sets_.sets["https://issuer.example/keys"] = {};
    EXPECT_EQ(policy_.check_again(request, access::Role::play, "", kNow).code(), Errc::denied);
    vhosts_.main().access.enabled = false;
    EXPECT_TRUE(again("")) << "nobody needs a token";
}

}  // namespace
}  // namespace live::service::admission
