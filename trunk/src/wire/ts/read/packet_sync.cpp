#include "wire/ts/read/packet_sync.hpp"

#include <algorithm>

#include "wire/ts/packet_writer.hpp"

namespace live::wire::ts {

Bytes PacketSync::take_whole(Bytes& input) {
    std::size_t size = 0;
    if (stride_ == kPacketBytes && at_ == size_)
        while (size + kPacketBytes <= input.size() && input[size] == kSyncByte)
            size += kPacketBytes;
    const Bytes packets = input.first(size);
    input = input.subspan(size);
    return packets;
}

std::size_t PacketSync::feed(Bytes input) {
    const std::size_t done = std::min(at_, size_);
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(done), buffer_.begin() + static_cast<std::ptrdiff_t>(size_),
              buffer_.begin());
    size_ -= done;
    at_ -= done;
    const std::size_t taken = std::min(input.size(), kBufferBytes - size_);
    copy_bytes(input.first(taken), MutBytes(buffer_).subspan(size_));
    size_ += taken;
    return taken;
}

std::optional<Bytes> PacketSync::next() {
    for (;;) {
        if (stride_ == 0 && !lock())
            return std::nullopt;
        if (at_ + kPacketBytes > size_)
            return std::nullopt;
        if (buffer_[at_] == kSyncByte) {
            const Bytes packet = Bytes(buffer_).subspan(at_, kPacketBytes);
            at_ += stride_;
            return packet;
        }
        stride_ = 0;
        ++resyncs_;
    }
}

bool PacketSync::lock() {
    for (; at_ < size_; ++at_, ++skipped_) {
        for (const std::size_t stride : kStrides) {
            const Found found = packets_at(at_, stride);
            if (found == Found::unknown)
                return false;
            if (found == Found::yes) {
                stride_ = stride;
                return true;
            }
        }
    }
    return false;
}

PacketSync::Found PacketSync::packets_at(std::size_t at, std::size_t stride) const {
    for (std::size_t i = 0; i < kSyncsToLock; ++i, at += stride) {
        if (at >= size_)
            return finished_ ? Found::yes : Found::unknown;
        if (buffer_[at] != kSyncByte)
            return Found::no;
    }
    return Found::yes;
}

}  // namespace live::wire::ts
