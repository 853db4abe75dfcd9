#include "engine/http1/line_reader.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace live::engine::http1 {

namespace {

// The number of letters before a control character other than a tab.
std::size_t run_of(std::string_view text) {
    std::size_t at = ascii::find_control(text);
    while (at < text.size() && text[at] == '\t')
        at = ascii::find_control(text, at + 1);
    return at;
}

}  // namespace

// A line is a sequence of non-control characters followed by a line ending.
Result<std::size_t> LineReader::feed(Bytes input, std::size_t bytes_max) {
    const std::string_view text = as_text(input);
    const std::size_t run = carriage_return_ ? 0 : run_of(text);
    const std::size_t room = bytes_max - std::min(bytes_max, held_.size());
    if (run > room) {
        held_ += text.substr(0, room);
        return Error(Errc::limit, "a line of an HTTP message is longer than " + std::to_string(bytes_max) + " bytes");
    }
    std::size_t at = run;
    if (!carriage_return_ && at < text.size() && text[at] == '\r') {
        carriage_return_ = true;
        ++at;
    }
    if (at < text.size()) {
        if (text[at] != '\n')
            return Error(Errc::malformed, carriage_return_ ? "a carriage return inside a line of an HTTP message"
                                                           : "a control character in an HTTP message");
        if (!carriage_return_ && line_end_ == LineEnd::strict)
            return Error(Errc::malformed, "a line of an HTTP message ends without a carriage return");
        complete_ = true;
        ++at;
    }
    const std::string_view part = text.substr(0, run);
    line_ = complete_ && held_.empty() ? part : held_.append(part);
    return at;
}

void LineReader::start_next() {
    held_.clear();
    carriage_return_ = complete_ = false;
}

}  // namespace live::engine::http1
