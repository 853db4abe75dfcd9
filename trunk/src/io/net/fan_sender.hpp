// FanSender: sends the same bytes to many sockets at once, without suspending, as a cohort of players needs on each tick. It
// handles only descriptors and bytes; the caller serves sockets that did not take everything. With io_uring, where the kernel has
// it and permits it, a batch of sends is one system call; otherwise each send is one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sys/uio.h>

namespace live::io {

// A socket that did not take everything: `sent` bytes went out (0 when it was full), or it failed with `error` (an errno).
struct ShortSend {
    std::size_t index = 0;  // index into the descriptors
    std::size_t sent = 0;
    int error = 0;
};

class FanSender {
public:
    // Sends a ring takes at once. Below kBatchMin the overhead of the ring is not worth it.
    static constexpr unsigned kRingEntries = 512;
    static constexpr std::size_t kBatchMin = 4;

    enum class Use : bool { plain_sends, io_uring };

    explicit FanSender(Use use = Use::plain_sends);
    ~FanSender();
    FanSender(const FanSender&) = delete;
    FanSender& operator=(const FanSender&) = delete;

    // False when this build or kernel has no io_uring.
    bool uses_io_uring() const { return ring_ != nullptr; }

    // Sends `parts`, `total` bytes in all, to each of `descriptors`. Appends those that took less to `missed`, in no particular
    // order.
    void send(std::span<const int> descriptors, std::span<const ::iovec> parts, std::size_t total,
              std::vector<ShortSend>& missed);

private:
    class Ring;

    std::unique_ptr<Ring> ring_;
};

}  // namespace live::io
