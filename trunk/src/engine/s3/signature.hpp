// Signature version 4 of AWS, in the Authorization field of a request to S3 and servers that speak it. Dry: the caller gives the
// time. The text: "Authenticating Requests: Using the Authorization Header" of the Amazon S3 API reference.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/text/wall_time_text.hpp"
#include "engine/http1/message.hpp"

namespace live::engine::s3 {

struct Credentials {
    std::string access_key;
    std::string secret_key;
    std::string session_token;  // of temporary ones; otherwise empty

    bool is_empty() const { return access_key.empty() || secret_key.empty(); }
    bool operator==(const Credentials&) const = default;
};

struct Request {
    std::string method;
    std::string host;  // as in the Host field
    std::string path;  // decoded, begins with a slash
    std::vector<std::pair<std::string, std::string>> query;
    // All of them are signed.
    http1::Headers headers;
    std::string payload_hash;  // SHA-256 in hexadecimal
};

// The payload hash of a request without a body.
inline constexpr std::string_view kEmptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// SHA-256 in hexadecimal. Errc::system.
Result<std::string> hash_of(std::string_view text);

// Path and query as they are sent.
std::string target_of(const Request& request);

// The fields to send: those of the request, x-amz-date, x-amz-content-sha256, x-amz-security-token and Authorization.
// Errc::system if the library fails.
Result<http1::Headers> sign(const Request& request, const Credentials& credentials, std::string_view region, WallTime now);

}  // namespace live::engine::s3
