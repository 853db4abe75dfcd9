#include "wire/ts/read/section_reader.hpp"

namespace live::wire::ts {

void SectionReader::push(Bytes payload, bool begins, std::vector<std::vector<std::uint8_t>>& out) {
    if (!begins)
        return append(payload, out);
    const std::size_t pointer = payload.empty() ? 0 : payload[0];
    if (payload.size() < 1 + pointer)
        return drop();
    append(payload.subspan(1, pointer), out);
    drop();
    open_ = true;
    append(payload.subspan(1 + pointer), out);
}

void SectionReader::append(Bytes bytes, std::vector<std::vector<std::uint8_t>>& out) {
    constexpr std::size_t kHeadBytes = 3;
    constexpr std::uint8_t kStuffingByte = 0xFF;
    if (!open_)
        return;
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    std::size_t at = 0;
    while (buffer_.size() - at >= kHeadBytes && buffer_[at] != kStuffingByte) {
        const std::size_t size = kHeadBytes + ((buffer_[at + 1] & 0x0FU) << 8 | buffer_[at + 2]);
        if (buffer_.size() - at < size)
            break;
        const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(at);
        out.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
        at += size;
    }
    if (at < buffer_.size() && buffer_[at] == kStuffingByte)
        return drop();
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace live::wire::ts
