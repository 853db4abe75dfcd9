// SectionReader: puts the sections of one PID together from the payloads of its packets (ISO/IEC 13818-1, 2.4.4). Checks nothing
// but their lengths; crc32_mpeg2() detects a damaged one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"

namespace live::wire::ts {

class SectionReader {
public:
    static constexpr std::size_t kSectionBytesMax = 3 + 0xFFF;

    // Appends sections that this payload completes to `out`.
    void push(Bytes payload, bool begins, std::vector<std::vector<std::uint8_t>>& out);
    // Something is missing before the next payload.
    void drop() {
        open_ = false;
        buffer_.clear();
    }
    std::size_t held_bytes() const { return buffer_.size(); }
    // Whether the next payload that begins a section is read as the first of all would be.
    bool is_idle() const { return !open_ && buffer_.empty(); }

private:
    void append(Bytes bytes, std::vector<std::vector<std::uint8_t>>& out);

    std::vector<std::uint8_t> buffer_;
    bool open_ = false;
};

}  // namespace live::wire::ts
