// The lines that HTTP/1.1 messages are made of, each taken whole and without its end (RFC 9112, 3 to 7). As strict as the text
// allows a server to be: what two servers could understand differently is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/http1/message.hpp"

namespace live::engine::http1 {

inline constexpr std::size_t kMethodBytesMax = 32;
inline constexpr std::size_t kChunkLineBytesMax = 256;  // a chunk's size with its extensions
inline constexpr std::size_t kEmptyLinesMax = 4;        // in front of a message
inline constexpr std::size_t kInterimMax = 16;          // answers before the answer

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

// Errc::malformed; Errc::unsupported for a first line without a version, as HTTP/0.9 had it, and for other major versions.
Result<RequestLine> parse_request_line(std::string_view line);
Result<StatusLine> parse_status_line(std::string_view line);

// A header field or a trailer. Errc::malformed, also for a line that goes on the one before it.
Result<Headers::Field> parse_field(std::string_view line);

// Digits only. Errc::malformed, Errc::limit beyond 64 bits.
Result<std::uint64_t> parse_content_length(std::string_view value);

// The size in front of a chunk. Extensions are skipped. Errc::malformed.
Result<std::uint64_t> parse_chunk_size(std::string_view line);

// The text without the blanks and tabs around it.
std::string_view without_blanks(std::string_view text);

}  // namespace live::engine::http1
