#include "wire/rtp/stream_framing.hpp"

#include <string>

#include "base/check.hpp"

namespace live::wire::rtp {

namespace {

std::size_t length_at(Bytes bytes) { return static_cast<std::size_t>(bytes[0] << 8 | bytes[1]); }

}  // namespace

Result<void> StreamUnframer::feed(Bytes input) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    buffer_.insert(buffer_.end(), input.begin(), input.end());
    return check();
}

// Checks every length received so far.
Result<void> StreamUnframer::check() const {
    for (std::size_t at = 0; at + kFrameHeadBytes <= buffer_.size();) {
        const std::size_t length = length_at(Bytes(buffer_).subspan(at));
        if (length > kFrameBytesMax)
            return Error(Errc::limit, "a frame of " + std::to_string(length) + " bytes");
        at += kFrameHeadBytes + length;
    }
    return {};
}

std::optional<MutBytes> StreamUnframer::next() {
    while (waiting_bytes() >= kFrameHeadBytes) {
        const std::size_t length = length_at(Bytes(buffer_).subspan(at_));
        if (waiting_bytes() < kFrameHeadBytes + length)
            return std::nullopt;
        const MutBytes datagram = MutBytes(buffer_).subspan(at_ + kFrameHeadBytes, length);
        at_ += kFrameHeadBytes + length;
        if (length > 0)
            return datagram;
    }
    return std::nullopt;
}

void write_frame(std::vector<std::uint8_t>& out, Bytes datagram) {
    CHECK(datagram.size() <= 0xFFFF);
    out.push_back(static_cast<std::uint8_t>(datagram.size() >> 8));
    out.push_back(static_cast<std::uint8_t>(datagram.size()));
    out.insert(out.end(), datagram.begin(), datagram.end());
}

}  // namespace live::wire::rtp
