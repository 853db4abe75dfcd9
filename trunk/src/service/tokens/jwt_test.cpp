#include "service/tokens/jwt.hpp"

#include <gtest/gtest.h>

#include "base/bytes/base64.hpp"

namespace live::service::tokens {
namespace {

using engine::crypto::SigningKey;
using namespace std::chrono_literals;

constexpr UnixSeconds kNow{1'800'000'000s};

SigningKey secret(char letter = 'k') { return MUST(SigningKey::parse(std::string(40, letter))); }

std::string encoded(std::string_view text) { return base64url(as_bytes(text)); }

std::string signed_token(std::string_view header, std::string_view claims, const SigningKey& key = secret()) {
    const std::string input = encoded(header) + "." + encoded(claims);
    return input + "." + base64url(MUST(key.sign(as_bytes(input))));
}

std::string with_claims(std::string_view claims) { return signed_token(R"({"alg":"HS256"})", claims); }

Result<VerifiedToken> verify(std::string_view token, const JwtRules& rules = {}) {
    const std::vector keys = {secret('x'), secret()};
    return verify_jwt(token, keys, rules, kNow);
}

std::string refusal_of(std::string_view token, const JwtRules& rules = {}) {
    const auto verified = verify(token, rules);
    EXPECT_EQ(verified.code(), Errc::denied);
    return verified.ok() ? "" : verified.error().sentence();
}

constexpr std::string_view kRights = R"("mediamtx_permissions":[{"action":"publish","path":"live/cam"}])";

std::string claims_with(std::string_view more) { return "{" + std::string(more) + "," + std::string(kRights) + "}"; }

TEST(Jwt, ReadsItsOwnTokens) {
    TokenRequest request{.rights = {}, .subject = "camera 7", .expires = kNow + 1h, .now = kNow};
    request.rights.push_back({Permission::play, MUST(PathPattern::parse("live/*"))});
    const auto token = MUST(make_jwt(request, secret()));
    const auto verified = MUST(verify(token));
    EXPECT_EQ(verified.subject, "camera 7");
    EXPECT_EQ(verified.expires, kNow + 1h);
    ASSERT_EQ(verified.rights.size(), 1U);
    EXPECT_TRUE(permits(verified.rights, Permission::play, "live/cam"));
}

TEST(Jwt, ReadsRightsFromAListOrItsText) {
    EXPECT_TRUE(permits(MUST(verify(with_claims("{" + std::string(kRights) + "}"))).rights, Permission::publish, "live/cam"));
    const auto text = with_claims(R"({"mediamtx_permissions":"[{\"action\":\"read\",\"path\":\"\"},{\"action\":\"pprof\"}]"})");
    EXPECT_TRUE(permits(MUST(verify(text)).rights, Permission::play, "any/stream"));
    const auto other = with_claims(R"({"rights":[{"action":"play"}]})");
    EXPECT_TRUE(permits(MUST(verify(other, {.rights_claim = "rights"})).rights, Permission::play, "any/stream"));
    EXPECT_NE(refusal_of(other).find("it has no rights"), std::string::npos);
    EXPECT_NE(refusal_of(with_claims(R"({"mediamtx_permissions":7})")).find("not a list"), std::string::npos);
    EXPECT_NE(refusal_of(with_claims(R"({"mediamtx_permissions":[{"action":"play","path":"~("}]})")).find("a path"),
              std::string::npos);
}

TEST(Jwt, ExpiresAndBegins) {
    EXPECT_TRUE(verify(with_claims(claims_with(R"("exp":1800000001)"))).ok());
    EXPECT_NE(refusal_of(with_claims(claims_with(R"("exp":1800000000)"))).find("expired"), std::string::npos);
    EXPECT_NE(refusal_of(with_claims(claims_with(R"("exp":"soon")"))).find("not a number"), std::string::npos);
    EXPECT_NE(refusal_of(with_claims(claims_with(R"("exp":1e300)"))).find("not a number"), std::string::npos);
    EXPECT_TRUE(verify(with_claims(claims_with(R"("nbf":1800000060)"))).ok()) << "within the accepted difference of clocks";
    EXPECT_NE(refusal_of(with_claims(claims_with(R"("nbf":1800000061)"))).find("not valid yet"), std::string::npos);
    EXPECT_EQ(MUST(verify(with_claims(claims_with(R"("exp":1800000001.9)")))).expires, kNow + 1s);
}

TEST(Jwt, ChecksIssuerAndAudience) {
    const auto token = with_claims(claims_with(R"("iss":"https://id.example","aud":["other","millrace"])"));
    EXPECT_TRUE(verify(token, {.issuer = "https://id.example", .audience = "millrace"}).ok());
    EXPECT_NE(refusal_of(token, {.issuer = "https://id.example/"}).find("another issuer"), std::string::npos);
    EXPECT_NE(refusal_of(token, {.audience = "mill"}).find("another audience"), std::string::npos);
    EXPECT_TRUE(verify(with_claims(claims_with(R"("aud":"millrace")")), {.audience = "millrace"}).ok());
    EXPECT_FALSE(verify(with_claims(claims_with(R"("sub":"x")")), {.audience = "millrace"}).ok());
}

TEST(Jwt, RefusesOtherSignaturesAndAlgorithms) {
    const std::string claims = "{" + std::string(kRights) + "}";
    const std::string unsigned_part = encoded(R"({"alg":"none"})") + "." + encoded(claims);
    for (const std::string& token : {signed_token(R"({"alg":"HS256"})", claims, secret('z')),  // another key
                                     signed_token(R"({"alg":"none"})", claims), unsigned_part + ".", unsigned_part + ".AAAA",
                                     signed_token(R"({"alg":"hs256"})", claims), signed_token(R"({"alg":"RS256"})", claims),
                                     signed_token(R"({"alg":["HS256"]})", claims), signed_token("{}", claims),
                                     signed_token(R"({"alg":"HS256","crit":["b64"],"b64":false})", claims)})
        EXPECT_NE(refusal_of(token).find("no key of this server"), std::string::npos) << token;
    EXPECT_FALSE(verify_jwt(with_claims(claims), {}, {}, kNow).ok()) << "without a key";
}

// A public key, known to everybody, must not become the secret of HS256.
TEST(Jwt, DoesNotTakeAPublicKeyForASecret) {
    constexpr std::string_view kPublic =
        "-----BEGIN PUBLIC KEY-----\n"
        "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
        "-----END PUBLIC KEY-----\n";
    const std::vector keys = {MUST(SigningKey::parse(kPublic))};
    EXPECT_EQ(keys.front().name(), "EdDSA");
    std::string text(kPublic);
    text.replace(0, 10, "----------");  // so that this key is a secret
    const auto forged = signed_token(R"({"alg":"HS256"})", "{" + std::string(kRights) + "}", MUST(SigningKey::parse(text)));
    EXPECT_FALSE(verify_jwt(forged, keys, {}, kNow).ok());
}

TEST(Jwt, RefusesEveryTruncation) {
    const std::string token = with_claims("{" + std::string(kRights) + "}");
    for (std::size_t size = 0; size < token.size(); ++size)
        EXPECT_FALSE(verify(token.substr(0, size)).ok()) << size;
    EXPECT_FALSE(verify(token + ".").ok());
    EXPECT_FALSE(verify(token + "A").ok());
}

TEST(Jwt, BoundsSizeAndDepth) {
    EXPECT_NE(refusal_of(std::string(kTokenBytesMax + 1, 'a')).find("too long"), std::string::npos);
    std::string deep = R"({"x":)";
    for (int i = 0; i < 1'000; ++i)
        deep += "[";
    EXPECT_NE(refusal_of(with_claims(deep)).find("JSON"), std::string::npos);
    EXPECT_NE(refusal_of(with_claims("[]")).find("JSON"), std::string::npos);
}

}  // namespace
}  // namespace live::service::tokens
