#include "service/tokens/jwk_set.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/bytes/base64.hpp"
#include "engine/crypto/jwk.hpp"

namespace live::service::tokens {

namespace {

using engine::crypto::SigningKey;
using nlohmann::json;

constexpr int kSetDepthMax = 16;

std::string member(const json& key, const char* name) {
    const auto found = key.find(name);
    return found != key.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Empty if it is missing or not base64url.
std::vector<std::uint8_t> number(const json& key, const char* name) {
    auto bytes = parse_base64url(member(key, name));
    return bytes.ok() ? *std::move(bytes) : std::vector<std::uint8_t>();
}

Result<SigningKey> key_in(const json& one) {
    if (const std::string use = member(one, "use"); !use.empty() && use != "sig")
        return Error(Errc::unsupported, "it is not for signatures");
    // RFC 7517, 4.3.
    if (const auto uses = one.find("key_ops");
        uses != one.end() && (!uses->is_array() || std::ranges::find(*uses, json("verify")) == uses->end()))
        return Error(Errc::unsupported, "it is not for signatures");
    const std::string type = member(one, "kty");
    const std::string curve = member(one, "crv");
    const auto pem =
        TRY(engine::crypto::pem_of({type, curve, number(one, "n"), number(one, "e"), number(one, "x"), number(one, "y")}));
    auto key = TRY(SigningKey::parse(pem));
    // RFC 8037 names the curve's algorithm EdDSA, RFC 9864 Ed25519.
    if (const std::string algorithm = member(one, "alg");
        !algorithm.empty() && algorithm != key.name() && !(algorithm == "Ed25519" && key.name() == "EdDSA"))
        return Error(Errc::unsupported, "it is for another algorithm");
    key.set_id(member(one, "kid"));
    return key;
}

}  // namespace

Result<std::vector<SigningKey>> parse_jwk_set(std::string_view text) {
    if (text.size() > kJwkSetBytesMax)
        return Error(Errc::limit, "the key set has more than 256 KiB");
    bool is_deep = false;
    const json set = json::parse(
        text.begin(), text.end(),
        [&is_deep](int depth, json::parse_event_t, json&) {
            is_deep = is_deep || depth > kSetDepthMax;
            return !is_deep;
        },
        false);
    const auto listed = set.is_object() && !is_deep ? set.find("keys") : set.end();
    if (is_deep || !set.is_object() || listed == set.end() || !listed->is_array())
        return Error(Errc::malformed, "the answer is no key set: expected a JSON object with a list named keys");
    if (listed->size() > kJwkSetKeysMax)
        return Error(Errc::limit, "the key set has more than 64 keys");
    std::vector<SigningKey> keys;
    std::string why;
    for (const json& one : *listed) {
        auto key = one.is_object() ? key_in(one) : Result<SigningKey>(Error(Errc::malformed, "it is no object"));
        if (key.ok())
            keys.push_back(*std::move(key));
        else
            why = ": " + key.error().sentence();
    }
    if (keys.empty())
        return Error(Errc::malformed, "the key set has no key for RS256, ES256 or EdDSA" + why);
    return keys;
}

}  // namespace live::service::tokens
