// Ring: the packets of one source in one order, with sequence numbers that start at zero and never wrap. Readers hold numbers,
// not pointers. Publishing is one append; the owner (Source) decides what is dropped at the old end, because only it knows the
// readers.
#pragma once

#include <cstdint>
#include <vector>

#include "media/packet.hpp"

namespace live::media {

using Sequence = std::uint64_t;

class Ring {
public:
    Sequence first() const { return first_; }
    Sequence next() const { return next_; }
    bool empty() const { return first_ == next_; }
    std::size_t size() const { return static_cast<std::size_t>(next_ - first_); }
    // Bytes of payload held.
    std::size_t bytes() const { return bytes_; }

    // `sequence` must be in [first, next).
    const Packet& at(Sequence sequence) const;
    const Packet& newest() const { return at(next_ - 1); }

    void append(Packet packet);
    // Drops everything before `sequence`.
    void drop_before(Sequence sequence);
    // Approximately the first packet in [first, next) whose time is not before `time`, or next. Off by at most the few tens of ms
    // by which kinds interleave.
    Sequence find_time(MediaTime time) const;

private:
    std::size_t slot(Sequence sequence) const { return static_cast<std::size_t>(sequence) & (slots_.size() - 1); }
    void grow();

    std::vector<Packet> slots_;  // size is a power of two
    Sequence first_ = 0;
    Sequence next_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace live::media
