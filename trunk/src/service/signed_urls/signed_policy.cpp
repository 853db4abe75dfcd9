#include "service/signed_urls/signed_policy.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes/base64.hpp"
#include "base/net/ip_network.hpp"
#include "base/text/secret.hpp"
#include "engine/crypto/hmac_sha1.hpp"

namespace live::service::signed_urls {

namespace {

using nlohmann::json;

constexpr std::string_view kName = "policy=";
// The end of the year 9999.
constexpr double kMillisecondsMax = 253402300799999;

Error policy_refusal(const char* why) { return {Errc::denied, std::string("the signed policy is not valid: ") + why}; }

// The query up to the end of the policy's value, as it was signed; empty without one.
std::string_view signed_part(std::string_view raw_query) {
    for (std::size_t at = 0; at < raw_query.size();) {
        const std::size_t end = std::min(raw_query.find('&', at), raw_query.size());
        if (raw_query.substr(at).starts_with(kName))
            return raw_query.substr(0, end);
        at = end + 1;
    }
    return {};
}

// The text after "http://example.com" of each URL that a service may have signed.
std::vector<std::string> signed_texts(const wire::http::Query& query, const Written& written, const Requested& requested) {
    const std::string part(signed_part(written.raw_query));
    std::vector<std::string> texts;
    if (part.empty())
        return texts;
    for (const std::string& uri : written.uris)
        texts.push_back(uri + "?" + part);
    if (requested.permission != tokens::Permission::playback)
        return texts;
    // Lists and playlists of recordings hand the policy on to other URLs of the stream: it then counts as their only parameter
    // besides `path`.
    const std::string alone = "policy=" + std::string(query.get("policy"));
    for (const std::string& uri : written.uris)
        texts.push_back(uri + "?" + alone);
    const auto signed_query = wire::http::Query::parse(part);
    const bool names_stream = signed_query.ok() && signed_query->get("path") == written.path_parameter;
    for (const std::string& uri : written.query_uris) {
        if (names_stream)
            texts.push_back(uri + "?" + part);
        texts.push_back(uri + "?path=" + written.path_parameter + "&" + alone);
    }
    return texts;
}

Result<bool> has_signature(const wire::http::Query& query, const Written& written, std::string_view key,
                           const Requested& requested) {
    // Some tools keep the padding.
    std::string_view given = query.get("signature");
    while (given.ends_with('='))
        given.remove_suffix(1);
    bool is_good = false;
    for (const std::string& rest : signed_texts(query, written, requested))
        for (const std::string& place : written.places) {
            const auto hash = TRY(engine::crypto::hmac_sha1(as_bytes(key), as_bytes(place + rest)));
            is_good = same_secret(given, base64url(hash)) || is_good;
        }
    return is_good;
}

// In milliseconds since 1970; nullopt if the member is missing.
Result<std::optional<double>> time_member(const json& policy, const char* name) {
    const auto found = policy.find(name);
    if (found == policy.end())
        return std::optional<double>();
    if (!found->is_number() || !(std::abs(found->get<double>()) <= kMillisecondsMax))
        return policy_refusal("a time is not a number of milliseconds");
    return std::optional(found->get<double>());
}

Result<void> check_network(const json& policy, const char* name, std::string_view ip) {
    const auto found = policy.find(name);
    if (found == policy.end())
        return {};
    const auto network = found->is_string() ? IpNetwork::parse(found->get<std::string>())
                                            : Result<IpNetwork>(Error(Errc::malformed, "no network"));
    const auto address = parse_ip(ip);
    if (!network.ok() || !address.ok() || !network->contains(*address))
        return policy_refusal("it is for another address");
    return {};
}

}  // namespace

Result<std::optional<UnixSeconds>> verify_policy(const wire::http::Query& query, const Written& written, std::string_view key,
                                                 const Requested& requested) {
    std::string encoded(query.get("policy"));
    if (encoded.size() > kPolicyBytesMax)
        return policy_refusal("it is too long");
    if (!TRY(has_signature(query, written, key, requested)))
        return policy_refusal("it has another signature");
    while (encoded.ends_with('='))
        encoded.pop_back();
    const auto bytes = parse_base64url(encoded);
    // Flat: deeper values are no policy.
    const auto policy =
        bytes.ok() ? json::parse(
                         bytes->begin(), bytes->end(), [](int depth, json::parse_event_t, json&) { return depth <= 2; }, false)
                   : json();
    if (!policy.is_object())
        return policy_refusal("it is no JSON object");
    const double now = static_cast<double>(requested.now.time_since_epoch().count()) * 1000;
    const auto begins = TRY(time_member(policy, "url_activate"));
    const auto expires = TRY(time_member(policy, "url_expire"));
    const auto ends = TRY(time_member(policy, "stream_expire"));
    if (!expires)
        return policy_refusal("it has no url_expire");
    if (now >= *expires || (ends && now >= *ends))
        return policy_refusal("it has expired");
    if (begins && now < *begins)
        return policy_refusal("it is not valid yet");
    TRY(check_network(policy, "allow_ip", requested.peer_ip));
    TRY(check_network(policy, "real_ip", requested.forwarded_ip));
    if (!ends)
        return std::optional<UnixSeconds>();
    return std::optional(UnixSeconds(std::chrono::seconds(static_cast<std::int64_t>(std::ceil(*ends / 1000)))));
}

}  // namespace live::service::signed_urls
