// Parsers for single lines of HTTP/1.1 messages, each passed whole and without its line ending (RFC 9112, 3 to 7). As strict as
// the RFC allows a server to be: anything two servers could interpret differently is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/http1/message.hpp"

namespace live::engine::http1 {

inline constexpr std::size_t kMethodBytesMax = 32;
inline constexpr std::size_t kChunkLineBytesMax = 256;  // a chunk size with its extensions
inline constexpr std::size_t kEmptyLinesMax = 4;        // before a message
inline constexpr std::size_t kInterimMax = 16;          // interim responses before the final one

struct Version {
    int major = 1;
    int minor = 1;
};

struct RequestLine {
    std::string method;
    std::string target;
    Version version;
};

struct StatusLine {
    Version version;
    int status = 0;
    std::string reason;
};

// Errc::malformed; Errc::unsupported for a request line without a version (HTTP/0.9) and for other major versions.
Result<RequestLine> parse_request_line(std::string_view line);
Result<StatusLine> parse_status_line(std::string_view line);

// A header field or a trailer. Errc::malformed, also for a folded continuation line.
Result<Headers::Field> parse_field(std::string_view line);

// Digits only. Errc::malformed, Errc::limit beyond 64 bits.
Result<std::uint64_t> parse_content_length(std::string_view value);

// The size line of a chunk. Extensions are ignored. Errc::malformed.
Result<std::uint64_t> parse_chunk_size(std::string_view line);

// The text without leading and trailing spaces and tabs.
std::string_view without_blanks(std::string_view text);

}  // namespace live::engine::http1
