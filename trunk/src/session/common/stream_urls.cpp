#include "session/common/stream_urls.hpp"

#include <fmt/format.h>

#include "base/net/endpoint.hpp"

namespace live::session {

std::optional<std::uint16_t> UrlRequest::port_for(const std::vector<std::string>& listen) const {
    for (const std::string& text : listen)
        if (const auto endpoints = parse_endpoint(text); endpoints.ok())
            for (const Endpoint& endpoint : *endpoints)
                if (!endpoint.is_loopback() || is_local)
                    return endpoint.port;
    return std::nullopt;
}

std::string UrlRequest::http_origin() const { return fmt::format("{}://{}{}", is_secure ? "https" : "http", host, port); }

std::string UrlRequest::websocket_origin() const { return fmt::format("{}://{}{}", is_secure ? "wss" : "ws", host, port); }

}  // namespace live::session
