#include "service/tokens/jwk_set.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes/base64.hpp"
#include "service/tokens/jwk_set_vectors.hpp"
#include "service/tokens/jwt.hpp"

namespace live::service::tokens {
namespace {

using namespace std::chrono_literals;

Errc code_of(std::string_view text) { return parse_jwk_set(text).code(); }

TEST(JwkSet, ReadsTheKeysOfTheStandards) {
    const auto keys = MUST(parse_jwk_set(kKeySet));
    ASSERT_EQ(keys.size(), 3U) << "not the secret";
    EXPECT_EQ(keys[0].name(), "ES256");
    EXPECT_EQ(keys[0].id(), "p256");
    EXPECT_EQ(keys[1].name(), "RS256");
    EXPECT_EQ(keys[2].name(), "EdDSA");
    // RFC 8037, A.4.
    const std::string input = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    const auto signature =
        MUST(parse_base64url("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"));
    EXPECT_TRUE(keys[2].verify(as_bytes(input), signature));
    for (const auto& key : keys)
        EXPECT_FALSE(key.can_sign());
}

TEST(JwkSet, LeavesOutWhatItCannotUse) {
    const auto with = [](const std::string& more) {
        return R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")" + more + "}]}";
    };
    EXPECT_TRUE(parse_jwk_set(with("")).ok());
    EXPECT_TRUE(parse_jwk_set(with(R"(,"alg":"EdDSA")")).ok());
    EXPECT_TRUE(parse_jwk_set(with(R"(,"alg":"Ed25519","kid":7)")).ok());
    EXPECT_EQ(code_of(with(R"(,"alg":"HS256")")), Errc::malformed);
    EXPECT_EQ(code_of(with(R"(,"use":"enc")")), Errc::malformed);
    EXPECT_EQ(code_of(with(R"(,"key_ops":["encrypt"])")), Errc::malformed);
    EXPECT_TRUE(parse_jwk_set(with(R"(,"key_ops":["verify"])")).ok());
    for (
        const char* key :
        {R"({"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})",
         R"({"kty":"OKP","crv":"Ed25519","x":"11qY"})",
         R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"})",
         R"({"kty":"EC","crv":"P-384","x":"AA","y":"AA"})", R"({"kty":"RSA","n":"AQAB","e":"AQAB"})",
         R"({"kty":"RSA","e":"AQAB"})", R"({"kty":"RSA"})", "{}", "7", "null", R"({"kty":{"kty":"RSA"}})"})
        EXPECT_EQ(code_of(R"({"keys":[)" + std::string(key) + "]}"), Errc::malformed) << key;
}

TEST(JwkSet, RefusesWhatIsNoSet) {
    for (const char* text : {"", "{}", "[]", "<html>", R"({"keys":{}})", R"({"keys":[]})", R"({"keys":7})", "null"})
        EXPECT_EQ(code_of(text), Errc::malformed) << text;
    for (std::size_t size = 0; size < kKeySet.size(); ++size)
        EXPECT_FALSE(parse_jwk_set(kKeySet.substr(0, size)).ok()) << size;
    EXPECT_EQ(code_of(std::string(100'000, '[')), Errc::malformed);
    std::string many = R"({"keys":[{})";
    for (std::size_t i = 0; i < kJwkSetKeysMax; ++i)
        many += ",{}";
    EXPECT_EQ(code_of(many + "]}"), Errc::limit);
    EXPECT_EQ(code_of(std::string(kJwkSetBytesMax + 1, ' ')), Errc::limit);
}

// A token that names its key is verified by that key only.
TEST(JwkSet, ChoosesTheKeyByItsId) {
    auto first = MUST(engine::crypto::SigningKey::parse(std::string(32, 'a')));
    auto second = MUST(engine::crypto::SigningKey::parse(std::string(32, 'b')));
    first.set_id("one");
    second.set_id("two");
    TokenRequest request{.rights = {}, .now = UnixSeconds(1'800'000'000s)};
    const std::string token = MUST(make_jwt(request, second));
    EXPECT_EQ(key_id_of(token), "two");
    EXPECT_TRUE(verify_jwt(token, std::vector{first, second}, {}, request.now).ok());
    second.set_id("three");
    EXPECT_FALSE(verify_jwt(token, std::vector{first, second}, {}, request.now).ok());
    second.set_id("");
    EXPECT_TRUE(verify_jwt(token, std::vector{first, second}, {}, request.now).ok()) << "a key of a file has no ID";
    EXPECT_EQ(key_id_of("nonsense"), "");
    EXPECT_EQ(key_id_of(std::string(kTokenBytesMax + 1, 'a')), "");
}

}  // namespace
}  // namespace live::service::tokens
