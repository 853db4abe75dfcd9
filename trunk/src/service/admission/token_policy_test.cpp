#include "service/admission/token_policy.hpp"

#include <gtest/gtest.h>

#include "service/admission/vhosts_fixture.hpp"

namespace live::service::admission {
namespace {

using engine::crypto::SigningKey;
using namespace std::chrono_literals;

constexpr tokens::UnixSeconds kNow{1'800'000'000s};

class TokenPolicyTest : public testing::Test {
protected:
    TokenPolicyTest() {
        keys_.replace({{"a.key", key_}});
        vhosts_.main().access.enabled = true;
        vhosts_.main().access.key_files = {"missing.key", "a.key"};
    }
    std::string token(tokens::Permission permission, const std::string& path, std::optional<tokens::UnixSeconds> expires = {}) {
        tokens::TokenRequest request{.rights = {}, .expires = expires, .now = kNow};
        request.rights.push_back({permission, MUST(tokens::PathPattern::parse(path))});
        return MUST(tokens::make_jwt(request, key_));
    }
    Result<std::optional<tokens::UnixSeconds>> play(std::string param, std::string vhost = "any.example") {
        session::ClientRequest request = client_of(session::ClientKind::rtmp_play, std::move(vhost));
        request.param = std::move(param);
        return policy_.check(request, access::Role::play, kNow);
    }
    Errc code_of(std::string param) { return play(std::move(param)).code(); }

    const SigningKey key_ = MUST(SigningKey::parse(std::string(32, 'k')));
    tokens::KeyRing keys_;
    FakeVhosts vhosts_;
    VhostPolicy rules_{vhosts_};
    TokenPolicy policy_{rules_, keys_};
};

TEST_F(TokenPolicyTest, RequiresATokenWithTheRight) {
    EXPECT_EQ(code_of(""), Errc::denied);
    EXPECT_EQ(code_of("?token="), Errc::denied);
    EXPECT_EQ(code_of("?token=nonsense"), Errc::denied);
    EXPECT_TRUE(play("?token=" + token(tokens::Permission::play, "live/cam")).ok());
    EXPECT_TRUE(play("a=b&token=" + token(tokens::Permission::play, "live/*")).ok()) << "WHEP's query has no question mark";
    EXPECT_TRUE(play("?jwt=" + token(tokens::Permission::play, "")).ok());
    EXPECT_EQ(code_of("?token=" + token(tokens::Permission::play, "live/other")), Errc::denied);
    EXPECT_EQ(code_of("?token=" + token(tokens::Permission::publish, "live/cam")), Errc::denied);
}

TEST_F(TokenPolicyTest, ReturnsTheExpiry) {
    EXPECT_EQ(*MUST(play("?token=" + token(tokens::Permission::play, "live/cam", kNow + 5s))), kNow + 5s);
    EXPECT_EQ(MUST(play("?token=" + token(tokens::Permission::play, "live/cam"))), std::nullopt);
    EXPECT_EQ(code_of("?token=" + token(tokens::Permission::play, "live/cam", kNow - 1s)), Errc::denied);
}

TEST_F(TokenPolicyTest, AdmitsAnybodyToOpenStreamsAndWhenItIsOff) {
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
TEST_F(TokenPolicyTest, DoesNotConfuseVirtualHosts) {
    auto& other = vhosts_.add("v.example");
    other.access = vhosts_.main().access;
    EXPECT_EQ(play("?token=" + token(tokens::Permission::play, "live/cam"), "v.example").code(), Errc::denied);
    EXPECT_TRUE(play("?token=" + token(tokens::Permission::play, "v.example/live/*"), "v.example").ok());
}

}  // namespace
}  // namespace live::service::admission
