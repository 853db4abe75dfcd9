// The server side of the upgrade from HTTP to WebSocket (RFC 6455, 4.2). Frames are in frame_reader.hpp. Neither extensions nor
// subprotocols are negotiated.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/http1/message.hpp"

namespace live::engine::websocket {

inline constexpr std::string_view kVersion = "13";

// Whether the client requests an upgrade to WebSocket; accept_value validates the request.
bool asks_for_websocket(const http1::Request& request);

// The Sec-WebSocket-Accept value for the client's Sec-WebSocket-Key. Errc::system without SHA-1.
Result<std::string> accept_key(std::string_view key);

// Validates the request and returns the accept value. Errc::malformed: answer 400. Errc::unsupported, for another version: answer
// 426 with "Sec-WebSocket-Version: 13".
Result<std::string> accept_value(const http1::Request& request);

// The further fields of the 101 response, besides "Connection: Upgrade".
std::vector<std::pair<std::string, std::string>> answer_fields(std::string accept_value);

}  // namespace live::engine::websocket
