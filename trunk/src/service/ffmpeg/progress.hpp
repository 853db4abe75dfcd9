// Progress: the report that ffmpeg writes with -progress, lines of "key=value". Dry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace live::service::ffmpeg {

struct Progress {
    std::uint64_t frames = 0;
    double fps = 0;
    double speed = 0;
    std::uint64_t dropped = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t out_us = 0;  // media time of the output
    std::uint64_t out_bytes = 0;

    bool operator==(const Progress&) const = default;
    // Whether output was made since `earlier`.
    bool is_beyond(const Progress& earlier) const {
        return frames != earlier.frames || out_us != earlier.out_us || out_bytes != earlier.out_bytes;
    }
};

// Splits bytes into lines. Longer lines than kLineMax are cut off.
class LineReader {
public:
    static constexpr std::size_t kLineMax = 512;

    // Calls `on_line` for each line that the text completes.
    template <class OnLine>
    void read(std::string_view text, OnLine&& on_line) {
        for (const char letter : text) {
            const bool is_end = letter == '\n' || letter == '\r';
            if (is_end && !line_.empty())
                on_line(std::string_view(line_));
            if (is_end)
                line_.clear();
            else if (line_.size() < kLineMax)
                line_ += letter >= ' ' || letter < 0 ? letter : '?';
        }
    }

private:
    std::string line_;
};

// Takes one line. Unknown keys, and values such as "N/A", are ignored.
void read_progress(std::string_view line, Progress& into);

// The encoder that a line of ffmpeg's log reports as missing; empty if it reports none.
std::string missing_encoder(std::string_view line);

}  // namespace live::service::ffmpeg
