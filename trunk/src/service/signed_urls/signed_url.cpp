#include "service/signed_urls/signed_url.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/bytes/base64.hpp"
#include "base/net/ip_network.hpp"
#include "base/text/secret.hpp"
#include "engine/crypto/hmac_sha256.hpp"
#include "engine/crypto/md5.hpp"
#include "service/signed_urls/signed_policy.hpp"

namespace live::service::signed_urls {

namespace {

using tokens::Permission;
using wire::http::Query;

// A token has no line end, so that no signature of a URL verifies a token by the same secret.
constexpr std::string_view kPurpose = "millrace signed URL 1";
// The end of the year 9999.
constexpr std::int64_t kSecondsMax = 253402300799;

Error refusal(const char* why) { return {Errc::denied, std::string("the signed URL is not valid: ") + why}; }

Result<UnixSeconds> seconds_of(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || end != text.data() + text.size() || number < 0 || number > kSecondsMax)
        return refusal("its expiry is not a number of seconds");
    return UnixSeconds(std::chrono::seconds(number));
}

std::string signed_text(std::string_view path, std::string_view rights, std::string_view expires, std::string_view network) {
    std::string text(kPurpose);
    for (const std::string_view part : {path, rights, expires, network})
        text.append("\n").append(part);
    return text;
}

Result<std::string> signature_of(std::string_view text, Bytes key) {
    return base64url(TRY(engine::crypto::hmac_sha256(key, as_bytes(text))));
}

bool lists(std::string_view rights, Permission permission) {
    while (!rights.empty()) {
        const std::size_t comma = std::min(rights.find(','), rights.size());
        if (tokens::parse_permission(rights.substr(0, comma)) == permission)
            return true;
        rights.remove_prefix(std::min(comma + 1, rights.size()));
    }
    return false;
}

Result<std::optional<UnixSeconds>> check_expiry(std::string_view expires, UnixSeconds now) {
    if (expires.empty())
        return std::optional<UnixSeconds>();
    const UnixSeconds end = TRY(seconds_of(expires));
    if (now >= end)
        return refusal("it has expired");
    return std::optional(end);
}

Result<std::optional<UnixSeconds>> verify_own(const Query& query, const Secrets& secrets, const Requested& requested) {
    const std::string_view rights = query.get("rights", "play");
    const std::string_view expires = query.get("expires");
    const std::string_view network = query.get("address");
    const std::string text = signed_text(requested.path, rights, expires, network);
    bool is_good = false;
    for (const Bytes key : secrets.keys)
        is_good = same_secret(query.get("signature"), TRY(signature_of(text, key))) || is_good;
    if (!is_good)
        return refusal("no key of this server has signed it for this stream");
    const auto end = TRY(check_expiry(expires, requested.now));
    if (!lists(rights, requested.permission))
        return refusal("it does not permit this");
    if (!network.empty()) {
        const auto address = parse_ip(requested.peer_ip);
        if (!address.ok() || !TRY(IpNetwork::parse(network)).contains(*address))
            return refusal("it is for another address");
    }
    return end;
}

void replace_all(std::string& text, std::string_view name, std::string_view value) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
        text.replace(at, name.size(), value);
}

constexpr std::string_view kArgumentPath = "$arg_path";

// The texts that a service may have hashed for this URL.
std::vector<std::string> secure_link_texts(std::string_view expires, const Written& written, const Secrets& secrets,
                                           const Requested& requested) {
    const auto text_for = [&](std::string_view uri, std::string_view path_parameter) {
        std::string text(secrets.secure_link);
        replace_all(text, "$secure_link_expires", expires);
        replace_all(text, "$arg_expires", expires);
        replace_all(text, "$remote_addr", requested.peer_ip);
        replace_all(text, kArgumentPath, path_parameter);
        replace_all(text, "$uri", uri);
        return text;
    };
    std::vector<std::string> texts;
    for (const std::string& uri : written.uris)
        texts.push_back(text_for(uri, ""));
    // Without the parameter, one hash would be good for all streams.
    if (secrets.secure_link.find(kArgumentPath) != std::string_view::npos)
        for (const std::string& uri : written.query_uris)
            texts.push_back(text_for(uri, written.path_parameter));
    return texts;
}

// nginx, ngx_http_secure_link_module.
Result<std::optional<UnixSeconds>> verify_secure_link(const Query& query, const Written& written, const Secrets& secrets,
                                                      const Requested& requested) {
    const std::string_view expires = query.get("expires");
    bool is_good = false;
    for (const std::string& text : secure_link_texts(expires, written, secrets, requested)) {
        const auto hash = TRY(engine::crypto::md5(as_bytes(text)));
        is_good = same_secret(query.get("md5"), base64url(hash)) || is_good;
    }
    if (!is_good)
        return refusal("its hash is another one");
    if (requested.permission != Permission::play && requested.permission != Permission::playback)
        return refusal("it does not permit this");
    return check_expiry(expires, requested.now);
}

}  // namespace

bool is_signed(const Query& query) {
    return query.find("signature").has_value() || query.find("md5").has_value() || query.find("policy").has_value();
}

Result<std::optional<UnixSeconds>> verify(const Query& query, const Written& written, const Secrets& secrets,
                                          const Requested& requested) {
    if (query.find("policy") && !secrets.policy.empty()) {
        if (std::ranges::find(secrets.policy_permissions, requested.permission) == secrets.policy_permissions.end())
            return refusal("it does not permit this");
        return verify_policy(query, written, secrets.policy, requested);
    }
    if (query.find("signature") && !secrets.keys.empty())
        return verify_own(query, secrets, requested);
    if (query.find("md5") && !secrets.secure_link.empty())
        return verify_secure_link(query, written, secrets, requested);
    return refusal("this form is not accepted here");
}

Result<std::string> sign(const Signing& signing, Bytes key) {
    std::string rights;
    for (const Permission permission : signing.permissions)
        rights.append(rights.empty() ? "" : ",").append(tokens::name_of(permission));
    const std::string expires = signing.expires ? std::to_string(signing.expires->time_since_epoch().count()) : "";
    const std::string signature = TRY(signature_of(signed_text(signing.path, rights, expires, signing.network), key));
    std::string query;
    if (rights != "play")
        query += "rights=" + rights + "&";
    if (!expires.empty())
        query += "expires=" + expires + "&";
    if (!signing.network.empty())
        query += "address=" + wire::http::percent_encode(signing.network) + "&";
    return query + "signature=" + signature;
}

}  // namespace live::service::signed_urls
