// The request that a signed URL must permit, the secrets, and the URL as its client may have written it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "service/tokens/rights.hpp"

namespace live::service::signed_urls {

using UnixSeconds = std::chrono::sys_seconds;

// A policy of SignedPolicy is at most this long.
inline constexpr std::size_t kPolicyBytesMax = 2048;

// The request that a URL must permit.
struct Requested {
    std::string_view path;  // as in a pattern of paths: "live/cam"
    tokens::Permission permission = tokens::Permission::play;
    std::string_view peer_ip;       // of the connection
    std::string_view forwarded_ip;  // of the client behind proxies
    UnixSeconds now{};
};

struct Secrets {
    // Ours: each may have signed it.
    std::vector<Bytes> keys{};
    // The argument of secure_link_md5 in the conf of nginx, such as "$secure_link_expires$uri$remote_addr SECRET"; empty: this
    // form is not accepted. It permits to play.
    std::string_view secure_link{};
    // The key of OvenMediaEngine's SignedPolicy; empty: this form is not accepted.
    std::string_view policy{};
    std::vector<tokens::Permission> policy_permissions{};
};

// The forms of the URL that the other servers sign, as the client may have written it.
struct Written {
    std::vector<std::string> uris;    // that name the stream: "/live/cam.m3u8", "/live/cam"
    std::vector<std::string> places;  // "http://example.com:8080"
    std::string_view raw_query;       // without '?'
    // Recordings: URIs that leave the stream to the parameter `path`, such as "/get". Their signature must contain its value.
    std::vector<std::string> query_uris{};
    std::string path_parameter{};  // "live/cam"
};

}  // namespace live::service::signed_urls
