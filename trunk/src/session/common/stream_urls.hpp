// StreamUrls: the URLs at which a client reaches a stream. Each protocol adds its own (Protocol::add_urls).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace live::session {

// A format for the API, such as "srt" or "ws-flv", and a full URL.
struct StreamUrl {
    std::string format;
    std::string url;

    bool operator==(const StreamUrl&) const = default;
};
using StreamUrls = std::vector<StreamUrl>;

// The stream, and the host at which the client reaches this server.
struct UrlRequest {
    enum class Purpose : bool { play, publish };

    // The first port of these endpoints that the client can reach; nullopt when all are on loopback and the client is not.
    std::optional<std::uint16_t> port_for(const std::vector<std::string>& listen) const;
    bool is_play() const { return purpose == Purpose::play; }

    Purpose purpose = Purpose::play;
    std::string_view vhost;  // its name in the settings
    std::string_view app;
    std::string_view stream;
    // "vhost=NAME" if the host alone does not select the virtual host; otherwise empty.
    std::string_view query;
    // Whether players of frames, and players of RTP, can play the stream: the bridge may be off.
    bool has_frames = true;
    bool has_rtp = false;

    std::string_view host;   // with the brackets of an IPv6 address
    std::string_view port;   // of HTTP, with its colon; empty: the default
    bool is_local = false;   // the client is on this machine
    bool is_secure = false;  // the request came over HTTPS

    std::string http_origin() const;
    std::string websocket_origin() const;
};

}  // namespace live::session
