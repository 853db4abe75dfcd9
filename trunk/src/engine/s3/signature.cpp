#include "engine/s3/signature.hpp"

#include <algorithm>
#include <map>

#include "base/bytes/bytes.hpp"
#include "base/text/ascii.hpp"
#include "engine/crypto/hmac_sha256.hpp"
#include "engine/crypto/running_hash.hpp"
#include "wire/http/target.hpp"

namespace live::engine::s3 {

namespace {

using crypto::hmac_sha256;
using crypto::Sha256Tag;

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

// "20130524T000000Z"
std::string compact_time(WallTime now) {
    std::string text;
    for (const char letter :
         wall_time_text(std::chrono::floor<std::chrono::seconds>(now)).substr(0, sizeof("2013-05-24T00:00:00") - 1))
        if (letter != '-' && letter != ':')
            text += letter;
    return text + "Z";
}

std::string query_text(const Request& request) {
    std::vector<std::pair<std::string, std::string>> encoded;
    for (const auto& [name, value] : request.query)
        encoded.emplace_back(wire::http::percent_encode(name), wire::http::percent_encode(value));
    std::ranges::sort(encoded);
    std::string text;
    for (const auto& [name, value] : encoded)
        text += (text.empty() ? "" : "&") + name + "=" + value;
    return text;
}

std::string trimmed(std::string_view value) {
    const std::size_t begin = value.find_first_not_of(' ');
    return begin == std::string_view::npos ? std::string()
                                           : std::string(value.substr(begin, value.find_last_not_of(' ') - begin + 1));
}

}  // namespace

Result<std::string> hash_of(std::string_view text) {
    auto hash = TRY(crypto::RunningHash::create(crypto::RunningHash::Kind::sha256));
    TRY(hash.add(as_bytes(text)));
    return crypto::hex_text(TRY(hash.finish()));
}

std::string target_of(const Request& request) {
    const std::string query = query_text(request);
    return wire::http::percent_encode_path(request.path) + (query.empty() ? "" : "?" + query);
}

Result<http1::Headers> sign(const Request& request, const Credentials& credentials, std::string_view region, WallTime now) {
    constexpr std::size_t kDateBytes = 8;
    const std::string time = compact_time(now);
    const std::string date = time.substr(0, kDateBytes);
    http1::Headers headers = request.headers;
    headers.add("x-amz-date", time);
    headers.add("x-amz-content-sha256", request.payload_hash);
    if (!credentials.session_token.empty())
        headers.add("x-amz-security-token", credentials.session_token);

    std::map<std::string, std::string> signed_fields = {{"host", request.host}};
    for (const auto& field : headers.fields())
        signed_fields[ascii::lowered(field.name)] = trimmed(field.value);
    std::string fields, names;
    for (const auto& [name, value] : signed_fields) {
        fields.append(name).append(":").append(value).append("\n");
        names.append(names.empty() ? "" : ";").append(name);
    }

    const std::string canonical = request.method + "\n" + wire::http::percent_encode_path(request.path) + "\n" +
                                  query_text(request) + "\n" + fields + "\n" + names + "\n" + request.payload_hash;
    const std::string scope = date + "/" + std::string(region) + "/s3/aws4_request";
    const std::string to_sign = std::string(kAlgorithm) + "\n" + time + "\n" + scope + "\n" + TRY(hash_of(canonical));

    Sha256Tag key = TRY(hmac_sha256(as_bytes("AWS4" + credentials.secret_key), as_bytes(date)));
    for (const std::string_view step :
         {region, std::string_view("s3"), std::string_view("aws4_request"), std::string_view(to_sign)})
        key = TRY(hmac_sha256(key, as_bytes(step)));
    headers.add("Authorization", std::string(kAlgorithm) + " Credential=" + credentials.access_key + "/" + scope +
                                     ",SignedHeaders=" + names + ",Signature=" + crypto::hex_text(key));
    return headers;
}

}  // namespace live::engine::s3
