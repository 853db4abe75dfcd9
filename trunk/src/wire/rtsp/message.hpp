// RTSP messages (RFC 2326, 4 to 7), both directions: requests and responses as values. message_reader.hpp finds them in a byte
// stream, transport.hpp and description.hpp read the values with a grammar of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace live::wire::rtsp {

// The limit of the start line and the headers, with the empty line after them.
inline constexpr std::size_t kHeadBytesMax = 16 << 10;
inline constexpr std::size_t kBodyBytesMax = 64 << 10;
inline constexpr std::size_t kHeadersMax = 64;
inline constexpr std::size_t kUrlBytesMax = 4'096;
inline constexpr std::size_t kMethodBytesMax = 32;

struct Message {
    // A request has a method and a URL, a response a status.
    std::string method{};
    std::string url{};
    int status = 0;
    std::string reason{};
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string body{};

    bool is_request() const { return status == 0; }
    // The first header of that name, compared without case.
    std::optional<std::string_view> find(std::string_view name) const;
};

// Parses the start line and the headers, without the empty line after them; the body stays empty. Errc::malformed, Errc::limit,
// and Errc::unsupported for another version than 1.
Result<Message> parse_head(std::string_view head);

// The length of the body by Content-Length; 0 without one. Errc::malformed for anything but digits, and for two that differ;
// Errc::limit above kBodyBytesMax.
Result<std::size_t> body_bytes_of(const Message& message);

// Returns the message as bytes. Content-Length follows from the body. Values must not contain line breaks.
std::string write(const Message& message);

// "OK", "Session Not Found", ...; the standard text of a status (RFC 2326, 7.1.1).
std::string_view reason_of(int status);

namespace status {
inline constexpr int kOk = 200;
inline constexpr int kBadRequest = 400;
inline constexpr int kUnauthorized = 401;
inline constexpr int kForbidden = 403;
inline constexpr int kNotFound = 404;
inline constexpr int kNotAcceptable = 406;
inline constexpr int kTooLarge = 413;
inline constexpr int kUnsupportedMedia = 415;
inline constexpr int kSessionNotFound = 454;
inline constexpr int kWrongState = 455;
inline constexpr int kAggregateNotAllowed = 459;
inline constexpr int kOnlyAggregate = 460;
inline constexpr int kUnsupportedTransport = 461;
inline constexpr int kInternal = 500;
inline constexpr int kNotImplemented = 501;
inline constexpr int kUnavailable = 503;
inline constexpr int kVersion = 505;
inline constexpr int kUnsupportedOption = 551;
}  // namespace status

}  // namespace live::wire::rtsp
