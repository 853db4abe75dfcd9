// Sends the same bytes to many sockets in one go, without suspending: what a cohort of players does once a beat. It knows
// descriptors and bytes only; who did not take everything is the caller's business.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sys/uio.h>

namespace live::io {

// A socket that did not take all: `sent` bytes went out (0 when it was full), or it failed with `error` (an errno).
struct ShortSend {
    std::size_t index = 0;  // into the descriptors
    std::size_t sent = 0;
    int error = 0;
};

// Sends `parts`, `total` bytes together, to each of `descriptors`. Appends to `missed` who took less, in no particular order. One
// system call a descriptor.
void send_to_all(std::span<const int> descriptors, std::span<const ::iovec> parts, std::size_t total,
                 std::vector<ShortSend>& missed);

}  // namespace live::io
