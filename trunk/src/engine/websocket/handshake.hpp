// How an HTTP connection becomes a WebSocket, seen from the server (RFC 6455, 4.2). Frames are frame_reader.hpp's business.
// Neither extensions nor subprotocols are agreed on.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/http1/message.hpp"

namespace live::engine::websocket {

inline constexpr std::string_view kVersion = "13";

// Whether the client wants to leave HTTP for WebSocket here; how well it asks is for accept_value to say.
bool asks_for_websocket(const http1::Request& request);

// What Sec-WebSocket-Accept must say to the client's Sec-WebSocket-Key. Errc::system without SHA-1.
Result<std::string> accept_key(std::string_view key);

// Checks the request and gives the accept value. Errc::malformed: answer 400. Errc::unsupported, for another version: answer 426
// with "Sec-WebSocket-Version: 13".
Result<std::string> accept_value(const http1::Request& request);

// What the answer 101, with "Connection: Upgrade", says besides.
std::vector<std::pair<std::string, std::string>> answer_fields(std::string accept_value);

}  // namespace live::engine::websocket
