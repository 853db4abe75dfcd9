// Puts one line of an HTTP message together from bytes that come in portions (RFC 9112, 2.2). It refuses what would let two
// readers disagree on where a line ends: a carriage return alone, other control characters and, if it is strict, a line feed
// alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::http1 {

class LineReader {
public:
    enum class LineEnd : std::uint8_t { strict, lenient };  // lenient: a line feed alone will do

    explicit LineReader(LineEnd line_end) : line_end_(line_end) {}

    // Reads off the front of `input`, at most to the end of the line, and says how many bytes that took. Once is_complete(), call
    // start_next() before feeding on. Errc::malformed; Errc::limit for more than `bytes_max` in the line, its end not counted. A
    // line that comes whole is not copied: line() is then good as long as `input`.
    Result<std::size_t> feed(Bytes input, std::size_t bytes_max);
    bool is_complete() const { return complete_; }
    // Nothing of the line has come.
    bool is_empty() const { return held_.empty() && !complete_; }
    // The line without its end, as far as it has come; after Errc::limit, its front.
    std::string_view line() const { return complete_ ? line_ : held_; }
    void start_next();

private:
    std::string held_;       // what came before
    std::string_view line_;  // once complete
    LineEnd line_end_;
    bool carriage_return_ = false;  // seen, and a line feed must follow
    bool complete_ = false;
};

}  // namespace live::engine::http1
