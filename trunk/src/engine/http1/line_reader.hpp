// Assembles one line of an HTTP message from bytes that arrive in portions (RFC 9112, 2.2). Refuses input on which two parsers
// could disagree about the end of a line: a lone CR, other control characters and, in strict mode, a lone LF.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::http1 {

class LineReader {
public:
    enum class LineEnd : std::uint8_t { strict, lenient };  // lenient: accepts a lone LF

    explicit LineReader(LineEnd line_end) : line_end_(line_end) {}

    // Consumes input up to the end of the line at most, and returns the number of bytes consumed. Once is_complete(), call
    // start_next() before the next feed(). Errc::malformed; Errc::limit for a line of more than `bytes_max`, excluding its
    // ending. A line that arrives whole is not copied: line() is then valid as long as `input`.
    Result<std::size_t> feed(Bytes input, std::size_t bytes_max);
    bool is_complete() const { return complete_; }
    // Nothing of the line has arrived.
    bool is_empty() const { return held_.empty() && !complete_; }
    // The line without its ending, as far as it has arrived; after Errc::limit, its beginning.
    std::string_view line() const { return complete_ ? line_ : held_; }
    void start_next();

private:
    std::string held_;       // received earlier
    std::string_view line_;  // once complete
    LineEnd line_end_;
    bool carriage_return_ = false;  // received; an LF must follow
    bool complete_ = false;
};

}  // namespace live::engine::http1
