#include "io/net/fan_sender.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/socket.h>

#ifdef LIVE_HAVE_URING
#include <liburing.h>
#endif

namespace live::io {

namespace {

constexpr int kSendFlags = MSG_DONTWAIT | MSG_NOSIGNAL;

::msghdr message_of(std::span<const ::iovec> parts) {
    ::msghdr message{};
    message.msg_iov = const_cast<::iovec*>(parts.data());
    message.msg_iovlen = parts.size();
    return message;
}

// `sent` is the result of a send, or a negative errno.
void note_result(std::size_t index, ::ssize_t sent, std::size_t total, std::vector<ShortSend>& missed) {
    if (sent == static_cast<::ssize_t>(total))
        return;
    const bool failed = sent < 0 && sent != -EAGAIN && sent != -EINTR;
    missed.push_back({index, sent < 0 ? 0 : static_cast<std::size_t>(sent), failed ? static_cast<int>(-sent) : 0});
}

void send_plainly(std::span<const int> descriptors, std::span<const ::iovec> parts, std::size_t total, std::size_t first,
                  std::vector<ShortSend>& missed) {
    const ::msghdr message = message_of(parts);
    for (std::size_t i = first; i < descriptors.size(); ++i) {
        const ::ssize_t sent = parts.size() == 1 ? ::send(descriptors[i], parts[0].iov_base, parts[0].iov_len, kSendFlags)
                                                 : ::sendmsg(descriptors[i], &message, kSendFlags);
        note_result(i, sent < 0 ? -errno : sent, total, missed);
    }
}

}  // namespace

#ifdef LIVE_HAVE_URING

class FanSender::Ring {
public:
    static std::unique_ptr<Ring> create() {
        auto ring = std::make_unique<Ring>();
        return ring->opened_ ? std::move(ring) : nullptr;
    }
    Ring() : opened_(::io_uring_queue_init(kRingEntries, &ring_, 0) == 0) {}
    ~Ring() {
        if (opened_)
            ::io_uring_queue_exit(&ring_);
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    // As FanSender::send. Returns how many of the descriptors were handled: all, unless the kernel refuses to continue.
    std::size_t send(std::span<const int> descriptors, std::span<const ::iovec> parts, std::size_t total,
                     std::vector<ShortSend>& missed) {
        const ::msghdr message = message_of(parts);
        for (std::size_t done = 0; done < descriptors.size();) {
            const std::size_t count = std::min<std::size_t>(kRingEntries, descriptors.size() - done);
            for (std::size_t i = done; i < done + count; ++i) {
                ::io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
                if (parts.size() == 1)
                    ::io_uring_prep_send(entry, descriptors[i], parts[0].iov_base, parts[0].iov_len, kSendFlags);
                else
                    ::io_uring_prep_sendmsg(entry, descriptors[i], &message, kSendFlags);
                entry->user_data = i;
            }
            const std::size_t submitted = submit(count);
            reap(submitted, total, missed);
            done += submitted;
            if (submitted < count)
                return done;
        }
        return descriptors.size();
    }

private:
    // Returns how many of them the kernel took, in order: all, unless it refuses.
    std::size_t submit(std::size_t count) {
        std::size_t submitted = 0;
        while (submitted < count) {
            const int taken = ::io_uring_submit(&ring_);
            if (taken > 0)
                submitted += static_cast<std::size_t>(taken);
            else if (taken != -EINTR)
                break;
        }
        return submitted;
    }

    void reap(std::size_t count, std::size_t total, std::vector<ShortSend>& missed) {
        for (std::size_t seen = 0; seen < count;) {
            ::io_uring_cqe* entry = nullptr;
            // Non-blocking sends have completed by now; only a signal makes this wait repeat.
            if (::io_uring_wait_cqe(&ring_, &entry) < 0)
                continue;
            note_result(static_cast<std::size_t>(entry->user_data), entry->res, total, missed);
            ::io_uring_cqe_seen(&ring_, entry);
            ++seen;
        }
    }

    ::io_uring ring_{};
    bool opened_;
};

#else

class FanSender::Ring {
public:
    static std::unique_ptr<Ring> create() { return nullptr; }
    std::size_t send(std::span<const int>, std::span<const ::iovec>, std::size_t, std::vector<ShortSend>&) { return 0; }
};

#endif

FanSender::FanSender(Use use) : ring_(use == Use::io_uring ? Ring::create() : nullptr) {}

FanSender::~FanSender() = default;

void FanSender::send(std::span<const int> descriptors, std::span<const ::iovec> parts, std::size_t total,
                     std::vector<ShortSend>& missed) {
    std::size_t done = 0;
    if (ring_ && descriptors.size() >= kBatchMin) {
        done = ring_->send(descriptors, parts, total, missed);
        if (done < descriptors.size())
            ring_.reset();  // otherwise entries the kernel has not taken would go out later
    }
    send_plainly(descriptors, parts, total, done, missed);
}

}  // namespace live::io
