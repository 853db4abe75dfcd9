#include "bench/rtc/rtc_hub.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <optional>
#include <utility>

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"

namespace live::bench {

using engine::webrtc::DatagramBatch;

namespace {

// Room for a whole GOP at once while this process is busy elsewhere.
constexpr int kSocketBufferBytes = 1 << 20;

void raise_buffer(int fd) {
    // Root may exceed the system's limit, others get the maximum.
    if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kSocketBufferBytes, sizeof kSocketBufferBytes) < 0)
        ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
}

// When the kernel received the datagram, on the clock of `now`, which corresponds to `wall`; nothing if the kernel does not
// report it.
std::optional<TimePoint> arrival_of(msghdr& message, TimePoint now, std::chrono::nanoseconds wall) {
    constexpr std::chrono::seconds kBelieved{10};
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        timespec time{};
        std::memcpy(&time, CMSG_DATA(head), sizeof time);
        const auto ago = wall - (std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
        if (ago >= 0ns && ago < kBelieved)
            return now - ago;
    }
    return std::nullopt;
}

// A descriptor of ours that is unknown to the loop.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() {
        if (fd_ >= 0)
            ::close(fd_);
    }
    int get() const { return fd_; }

private:
    int fd_;
};

}  // namespace

struct RtcHub::Entry {
    Entry(Descriptor socket, RtcMember& owner) : descriptor(std::move(socket)), member(owner) {}

    Descriptor descriptor;
    RtcMember& member;
    TimePoint armed = TimePoint::max();
};

struct RtcHub::Buffers {
    std::array<std::array<std::uint8_t, kDatagramBytesMax>, kBatch> bytes;
    std::array<iovec, kBatch> parts{};
    std::array<mmsghdr, kBatch> messages{};
    struct alignas(cmsghdr) Control {
        std::array<unsigned char, CMSG_SPACE(sizeof(timespec))> bytes;
    };
    std::array<Control, kBatch> controls;
    std::array<epoll_event, kEventsMax> events{};
};

RtcHub::RtcHub() : buffers_(std::make_unique<Buffers>()) {
    for (std::size_t i = 0; i < kBatch; ++i) {
        buffers_->parts[i] = {buffers_->bytes[i].data(), kDatagramBytesMax};
        buffers_->messages[i].msg_hdr.msg_iov = &buffers_->parts[i];
        buffers_->messages[i].msg_hdr.msg_iovlen = 1;
    }
}

RtcHub::~RtcHub() = default;

Result<void> RtcHub::open() {
    if (epoll_.is_open())
        return {};
    const int fd = ::epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        return system_error("making an epoll", errno);
    epoll_ = io::Socket(fd);
    return {};
}

void RtcHub::run(io::Deadline deadline) {
    const auto sleep_until = [&](TimePoint when) { return io::sleep(deadline.sooner(io::Deadline::at(when))).ok(); };
    for (bool goes_on = open().ok(); goes_on;) {
        const TimePoint now = io::now();
        const bool has_more = take_events(now);
        serve_due(now);
        if (has_more) {
            goes_on = io::yield(deadline).ok();
        } else if (pace_ == Pace::by_tick) {
            goes_on = sleep_until(now + kTick);
        } else {
            const TimePoint next = due_.empty() ? TimePoint::max() : due_.front().when;
            goes_on = epoll_.wait(io::Interest::readable, &wake_, deadline.sooner(io::Deadline::at(next))).ok();
        }
    }
    epoll_.close();
}

Result<RtcHub::Id> RtcHub::join(RtcMember& member, const Endpoint& remote) {
    TRY(open());
    const auto address = TRY(io::SocketAddress::of(remote));
    Descriptor socket(::socket(address.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0)
        return system_error("making a UDP socket", errno);
    raise_buffer(socket.get());
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    // Connected, so that it receives only this peer's datagrams, and an error when nothing listens there.
    if (::connect(socket.get(), address.data(), address.size) < 0)
        return system_error("connecting UDP to " + remote.text(), errno);
    const Id id = next_id_++;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.u64 = id;
    if (::epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, socket.get(), &event) < 0)
        return system_error("watching a UDP socket", errno);
    const auto placed = entries_.emplace(id, std::make_unique<Entry>(std::move(socket), member));
    arm(id, *placed.first->second);
    return id;
}

void RtcHub::leave(Id id) { entries_.erase(id); }

void RtcHub::serve(Id id) {
    const auto found = entries_.find(id);
    if (found == entries_.end())
        return;
    receive(*found->second, io::now());
    turn(id, *found->second, io::now());
}

bool RtcHub::take_events(TimePoint now) {
    for (std::size_t taken = 0; taken < kSocketsPerTurn;) {
        const int count = ::epoll_wait(epoll_.fd(), buffers_->events.data(), kEventsMax, 0);
        if (count <= 0) {
            epoll_.set_blocked(io::Interest::readable);
            return false;
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            const Id id = buffers_->events[i].data.u64;
            const auto found = entries_.find(id);
            if (found == entries_.end())
                continue;
            receive(*found->second, now);
            turn(id, *found->second, now);
        }
        taken += static_cast<std::size_t>(count);
    }
    return true;
}

// Until the socket is empty: epoll is edge-triggered.
void RtcHub::receive(Entry& entry, TimePoint now) {
    for (int count = kBatch; count == static_cast<int>(kBatch);) {
        for (std::size_t i = 0; i < kBatch; ++i) {
            buffers_->messages[i].msg_hdr.msg_control = buffers_->controls[i].bytes.data();
            buffers_->messages[i].msg_hdr.msg_controllen = buffers_->controls[i].bytes.size();
        }
        count = ::recvmmsg(entry.descriptor.get(), buffers_->messages.data(), kBatch, MSG_DONTWAIT, nullptr);
        if (count < 0 && (errno == ECONNREFUSED || errno == EHOSTUNREACH)) {
            entry.member.on_refused();
            // The error has been consumed; further datagrams may follow it.
            count = kBatch;
            continue;
        }
        const auto steady = std::chrono::steady_clock::now();
        const auto wall = std::chrono::system_clock::now().time_since_epoch();
        for (std::size_t i = 0; count > 0 && i < static_cast<std::size_t>(count); ++i) {
            mmsghdr& message = buffers_->messages[i];
            const TimePoint arrived = arrival_of(message.msg_hdr, steady, wall).value_or(now);
            entry.member.on_datagram(arrived, MutBytes(buffers_->bytes[i]).first(message.msg_len));
        }
    }
}

void RtcHub::serve_due(TimePoint now) {
    while (!due_.empty() && due_.front().when <= now) {
        const Due due = due_.front();
        std::ranges::pop_heap(due_, std::greater<>());
        due_.pop_back();
        const auto found = entries_.find(due.id);
        if (found == entries_.end() || found->second->armed != due.when)
            continue;
        found->second->armed = TimePoint::max();
        turn(due.id, *found->second, now);
    }
}

void RtcHub::turn(Id id, Entry& entry, TimePoint now) {
    entry.member.on_turn(now);
    send(entry);
    arm(id, entry);
}

// A timer moved to a later time is detected when the earlier time comes; that is cheaper than searching the heap.
void RtcHub::arm(Id id, Entry& entry) {
    const TimePoint due = entry.member.next_due();
    if (due >= entry.armed)
        return;
    const bool is_first = due_.empty() || due < due_.front().when;
    entry.armed = due;
    due_.push_back({due, id});
    std::ranges::push_heap(due_, std::greater<>());
    if (is_first)
        wake_.raise();
}

void RtcHub::send(Entry& entry) {
    if (output_.empty())
        return;
    output_.for_each_gso_batch([&](const DatagramBatch::GsoBatch& gso) {
        if (gso.count > 1 && cuts_in_kernel_ && send_gso_batch(entry, gso))
            return;
        for (std::size_t at = 0; at < gso.bytes.size(); at += gso.segment_bytes) {
            const Bytes one = gso.bytes.subspan(at, std::min(gso.segment_bytes, gso.bytes.size() - at));
            if (::send(entry.descriptor.get(), one.data(), one.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
                entry.member.on_sent(one.size());
            else if (errno == ECONNREFUSED)
                entry.member.on_refused();
        }
    });
    output_.clear();
}

// False when the kernel cannot segment it (udp(7)): then it is split by hand from now on.
bool RtcHub::send_gso_batch(Entry& entry, const DatagramBatch::GsoBatch& gso) {
    struct alignas(cmsghdr) Control {
        std::array<unsigned char, CMSG_SPACE(sizeof(std::uint16_t))> bytes{};
    } control;
    iovec part{const_cast<std::uint8_t*>(gso.bytes.data()), gso.bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_UDP;
    head->cmsg_type = UDP_SEGMENT;
    head->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
    const auto segment = static_cast<std::uint16_t>(gso.segment_bytes);
    std::memcpy(CMSG_DATA(head), &segment, sizeof segment);
    if (::sendmsg(entry.descriptor.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
        entry.member.on_sent(gso.bytes.size());
        return true;
    }
    if (errno == EIO || errno == EINVAL) {
        cuts_in_kernel_ = false;
        return false;
    }
    if (errno == ECONNREFUSED)
        entry.member.on_refused();
    return true;
}

}  // namespace live::bench
