#include "engine/http1/line_reader.hpp"

#include <algorithm>

namespace live::engine::http1 {

namespace {

bool is_control(char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return (byte < 0x20 && byte != '\t') || byte == 0x7F;
}

}  // namespace

Result<std::size_t> LineReader::feed(Bytes input, std::size_t bytes_max) {
    const std::string_view text = as_text(input);
    std::size_t at = 0;
    while (at < text.size() && !complete_) {
        if (text[at] == '\n') {
            if (!carriage_return_ && line_end_ == LineEnd::strict)
                return Error(Errc::malformed, "a line of an HTTP message ends without a carriage return");
            complete_ = true;
            ++at;
            continue;
        }
        if (carriage_return_)
            return Error(Errc::malformed, "a carriage return inside a line of an HTTP message");
        if (text[at] == '\r') {
            carriage_return_ = true;
            ++at;
            continue;
        }
        const auto rest = text.substr(at);
        const auto run = static_cast<std::size_t>(std::ranges::find_if(rest, is_control) - rest.begin());
        if (run == 0)
            return Error(Errc::malformed, "a control character in an HTTP message");
        const std::size_t room = bytes_max - std::min(bytes_max, line_.size());
        line_ += rest.substr(0, std::min(run, room));
        if (run > room)
            return Error(Errc::limit, "a line of an HTTP message is longer than " + std::to_string(bytes_max) + " bytes");
        at += run;
    }
    return at;
}

void LineReader::start_next() {
    line_.clear();
    carriage_return_ = complete_ = false;
}

}  // namespace live::engine::http1
