#include "engine/websocket/handshake.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "base/bytes/base64.hpp"
#include "base/text/ascii.hpp"

namespace live::engine::websocket {

namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t kSha1Bytes = 20;
constexpr std::size_t kKeyBytes = 24;  // 16 bytes in base64

bool is_base64(char letter) { return ascii::is_alphanumeric(letter) || letter == '+' || letter == '/'; }

bool is_key(std::string_view key) {
    return key.size() == kKeyBytes && key.ends_with("==") && std::ranges::all_of(key.substr(0, kKeyBytes - 2), is_base64);
}

std::size_t count(const http1::Headers& headers, std::string_view name) {
    return static_cast<std::size_t>(
        std::ranges::count_if(headers.fields(), [name](const auto& field) { return http1::same_name(field.name, name); }));
}

}  // namespace

bool asks_for_websocket(const http1::Request& request) { return request.headers.has_token("Upgrade", "websocket"); }

Result<std::string> accept_key(std::string_view key) {
    const std::string text = std::string(key).append(kGuid);
    std::array<std::uint8_t, kSha1Bytes> digest{};
    std::size_t size = 0;
    if (EVP_Q_digest(nullptr, "SHA1", nullptr, text.data(), text.size(), digest.data(), &size) == 0 || size != digest.size())
        return Error(Errc::system, "SHA-1 is not available");
    return base64(digest);
}

Result<std::string> accept_value(const http1::Request& request) {
    const http1::Headers& headers = request.headers;
    if (request.method != "GET" || request.minor_version < 1)
        return Error(Errc::malformed, "a WebSocket begins with GET and HTTP/1.1");
    if (!headers.find("Host"))
        return Error(Errc::malformed, "the WebSocket request names no host");
    if (!headers.has_token("Upgrade", "websocket") || !headers.has_token("Connection", "Upgrade"))
        return Error(Errc::malformed, "the WebSocket request does not ask for an upgrade");
    if (count(headers, "Sec-WebSocket-Version") != 1 || headers.find("Sec-WebSocket-Version") != kVersion)
        return Error(Errc::unsupported, "only version 13 of WebSocket is spoken here");
    const auto key = headers.find("Sec-WebSocket-Key");
    if (count(headers, "Sec-WebSocket-Key") != 1 || !is_key(*key))
        return Error(Errc::malformed, "Sec-WebSocket-Key is not 16 bytes in base64");
    return accept_key(*key);
}

std::vector<std::pair<std::string, std::string>> answer_fields(std::string accept_value) {
    return {{"Upgrade", "websocket"}, {"Sec-WebSocket-Accept", std::move(accept_value)}};
}

}  // namespace live::engine::websocket
