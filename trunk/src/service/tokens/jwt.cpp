#include "service/tokens/jwt.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/bytes/base64.hpp"

namespace live::service::tokens {

namespace {

using engine::crypto::SigningKey;
using nlohmann::json;

// Nested deeper than a token of any issuer.
constexpr int kDepthMax = 16;
// The end of the year 9999.
constexpr double kSecondsMax = 253402300799;

Error refusal(const char* why) { return {Errc::denied, std::string("the token is not valid: ") + why}; }

Result<json> parse_object(std::string_view encoded) {
    const auto bytes = parse_base64url(encoded);
    if (!bytes.ok())
        return refusal("it is not base64url");
    bool is_deep = false;
    const auto depth = [&is_deep](int at, json::parse_event_t, json&) {
        is_deep = is_deep || at > kDepthMax;
        return !is_deep;
    };
    json object = json::parse(bytes->begin(), bytes->end(), depth, false);
    if (is_deep || !object.is_object())
        return refusal("a part is not a JSON object");
    return object;
}

std::string text_of(const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// nullopt if the claim is missing.
Result<std::optional<UnixSeconds>> time_of(const json& claims, const char* name) {
    const auto found = claims.find(name);
    if (found == claims.end())
        return std::optional<UnixSeconds>();
    if (!found->is_number() || !(std::abs(found->get<double>()) <= kSecondsMax))
        return refusal("a time is not a number of seconds");
    return std::optional(UnixSeconds(std::chrono::seconds(static_cast<std::int64_t>(found->get<double>()))));
}

bool has_audience(const json& claims, std::string_view wanted) {
    const auto found = claims.find("aud");
    const auto is_it = [wanted](const json& one) { return one.is_string() && one.get_ref<const std::string&>() == wanted; };
    return found != claims.end() && (is_it(*found) || (found->is_array() && std::ranges::any_of(*found, is_it)));
}

// Rights that this server does not have are ignored: another server may share the tokens.
Result<std::vector<Right>> rights_of(const json& claims, std::string_view name) {
    std::vector<Right> rights;
    auto found = claims.find(name);
    if (found == claims.end())
        return refusal("it has no rights");
    const json listed = found->is_string() ? json::parse(found->get_ref<const std::string&>(), nullptr, false) : *found;
    if (!listed.is_array() || listed.size() > kRightsMax)
        return refusal("its rights are not a list");
    for (const json& one : listed) {
        const auto permission = one.is_object() ? parse_permission(text_of(one, "action")) : std::nullopt;
        if (!permission)
            continue;
        auto paths = PathPattern::parse(text_of(one, "path"));
        if (!paths.ok())
            return refusal("a path in its rights is not valid");
        rights.push_back({*permission, *std::move(paths)});
    }
    return rights;
}

bool is_signed(std::string_view input, Bytes signature, const json& header, std::span<const SigningKey> keys) {
    const std::string algorithm = text_of(header, "alg");
    const std::string id = text_of(header, "kid");
    const auto is_candidate = [&](const SigningKey& key) {
        return key.name() == algorithm && (id.empty() || key.id().empty() || key.id() == id);
    };
    return std::ranges::any_of(
        keys, [&](const SigningKey& key) { return is_candidate(key) && key.verify(as_bytes(input), signature); });
}

Result<void> check_times(const json& claims, UnixSeconds now) {
    const auto expires = TRY(time_of(claims, "exp"));
    if (expires && now >= *expires)
        return refusal("it has expired");
    if (const auto begins = TRY(time_of(claims, "nbf")); begins && now < *begins - kClockSkew)
        return refusal("it is not valid yet");
    return {};
}

std::string encode(const json& object) {
    return base64url(as_bytes(object.dump(-1, ' ', false, json::error_handler_t::replace)));
}

}  // namespace

Result<std::string_view> verify_jws(std::string_view token, std::span<const SigningKey> keys) {
    if (token.size() > kTokenBytesMax)
        return refusal("it is too long");
    const std::size_t first = token.find('.');
    const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
    if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos)
        return refusal("it is no JSON Web Token");
    const json header = TRY(parse_object(token.substr(0, first)));
    const auto signature = parse_base64url(token.substr(second + 1));
    // RFC 7515, 4.1.11: extensions that are critical, none of which is supported.
    if (!signature.ok() || header.contains("crit") || !is_signed(token.substr(0, second), *signature, header, keys))
        return refusal("no key of this server has signed it");
    const std::string_view payload = token.substr(first + 1, second - first - 1);
    if (!parse_base64url(payload).ok())
        return refusal("it is not base64url");
    return payload;
}

Result<VerifiedToken> verify_jwt(std::string_view token, std::span<const SigningKey> keys, const JwtRules& rules,
                                 UnixSeconds now) {
    const json claims = TRY(parse_object(TRY(verify_jws(token, keys))));
    TRY(check_times(claims, now));
    if (!rules.issuer.empty() && text_of(claims, "iss") != rules.issuer)
        return refusal("it has another issuer");
    if (!rules.audience.empty() && !has_audience(claims, rules.audience))
        return refusal("it is for another audience");
    // No TRY among the members of an initialiser: those before it would not be freed.
    VerifiedToken verified;
    verified.rights = TRY(rights_of(claims, rules.rights_claim));
    verified.expires = TRY(time_of(claims, "exp"));
    verified.subject = text_of(claims, "sub");
    return verified;
}

std::string key_id_of(std::string_view token) {
    if (token.size() > kTokenBytesMax)
        return {};
    const auto header = parse_object(token.substr(0, token.find('.')));
    return header.ok() ? text_of(*header, "kid") : std::string();
}

Result<std::string> make_jwt(const TokenRequest& request, const SigningKey& key) {
    json rights = json::array();
    for (const Right& right : request.rights)
        rights.push_back({{"action", name_of(right.permission)}, {"path", right.paths.text()}});
    json claims = {{"iat", request.now.time_since_epoch().count()}, {std::string(request.rights_claim), std::move(rights)}};
    if (!request.issuer.empty())
        claims["iss"] = request.issuer;
    if (!request.audience.empty())
        claims["aud"] = request.audience;
    if (!request.subject.empty())
        claims["sub"] = request.subject;
    if (request.expires)
        claims["exp"] = request.expires->time_since_epoch().count();
    json header = {{"alg", key.name()}, {"typ", "JWT"}};
    if (!key.id().empty())
        header["kid"] = key.id();
    const std::string input = encode(header) + "." + encode(claims);
    return input + "." + base64url(TRY(key.sign(as_bytes(input))));
}

}  // namespace live::service::tokens
