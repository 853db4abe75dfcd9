#include "io/net/udp_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "base/check.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/loop_state.hpp"

namespace live::io {

namespace {

constexpr std::size_t kMappedPrefix = 12;  // Prefix length of an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2).

// Room for the destination or source address of a datagram, and for its time of arrival or the segment size of a GSO batch.
constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(timespec));

struct alignas(cmsghdr) Control {
    std::array<unsigned char, kControlBytes> bytes;
};

IpAddress ip_of(const in_addr& four) {
    IpAddress ip;
    ip.bytes[10] = ip.bytes[11] = 0xFF;
    std::memcpy(&ip.bytes[kMappedPrefix], &four, sizeof four);
    return ip;
}

IpAddress ip_of(const in6_addr& six) {
    IpAddress ip;
    std::memcpy(ip.bytes.data(), &six, sizeof six);
    return ip;
}

TransportAddress address_of(const sockaddr_storage& storage) {
    if (storage.ss_family == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, &storage, sizeof four);
        return {ip_of(four.sin_addr), ntohs(four.sin_port)};
    }
    sockaddr_in6 six{};
    std::memcpy(&six, &storage, sizeof six);
    return {ip_of(six.sin6_addr), ntohs(six.sin6_port)};
}

socklen_t write_address(const TransportAddress& to, bool is_ipv6, sockaddr_storage& into) {
    if (is_ipv6) {
        sockaddr_in6 six{};
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(to.port);
        std::memcpy(&six.sin6_addr, to.ip.bytes.data(), sizeof six.sin6_addr);
        std::memcpy(&into, &six, sizeof six);
        return sizeof six;
    }
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(to.port);
    std::memcpy(&four.sin_addr, &to.ip.bytes[kMappedPrefix], sizeof four.sin_addr);
    std::memcpy(&into, &four, sizeof four);
    return sizeof four;
}

template <class T>
void add_control(msghdr& message, std::size_t& used, int level, int type, const T& value) {
    auto* const head = reinterpret_cast<cmsghdr*>(static_cast<unsigned char*>(message.msg_control) + used);
    head->cmsg_level = level;
    head->cmsg_type = type;
    head->cmsg_len = CMSG_LEN(sizeof value);
    std::memcpy(CMSG_DATA(head), &value, sizeof value);
    used += CMSG_SPACE(sizeof value);
}

std::chrono::nanoseconds duration_of(const timespec& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// The kernel's times of arrival are those of the wall clock, which may be set between the arrival and the read.
class ArrivalClock {
public:
    ArrivalClock() : now_(std::chrono::steady_clock::now()) {
        timespec time{};
        ::clock_gettime(CLOCK_REALTIME, &time);
        wall_ = duration_of(time);
    }
    TimePoint arrival(const timespec& stamp) const {
        return now_ - std::clamp<std::chrono::nanoseconds>(wall_ - duration_of(stamp), {}, kAgeMax);
    }

private:
    static constexpr std::chrono::seconds kAgeMax{1};

    TimePoint now_;
    std::chrono::nanoseconds wall_{};
};

// Reads the local address and the time of arrival, as far as they are there.
void read_control(msghdr& message, const ArrivalClock* clock, Datagram& datagram) {
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
        if (clock != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_TIMESTAMPNS) {
            timespec stamp{};
            std::memcpy(&stamp, CMSG_DATA(head), sizeof stamp);
            datagram.arrived = clock->arrival(stamp);
        }
        if (head->cmsg_level == IPPROTO_IP && head->cmsg_type == IP_PKTINFO) {
            in_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(head), sizeof info);
            datagram.to = ip_of(info.ipi_addr);
        }
        if (head->cmsg_level == IPPROTO_IPV6 && head->cmsg_type == IPV6_PKTINFO) {
            in6_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(head), sizeof info);
            datagram.to = ip_of(info.ipi6_addr);
        }
    }
}

// Root may exceed the system's limit, others are clamped to it.
void raise_buffer(int fd, int forced, int plain, std::size_t bytes) {
    const int wanted = static_cast<int>(std::min<std::size_t>(bytes, 1 << 30));
    if (::setsockopt(fd, SOL_SOCKET, forced, &wanted, sizeof wanted) < 0)
        ::setsockopt(fd, SOL_SOCKET, plain, &wanted, sizeof wanted);
}

std::size_t buffer_of(int fd, int name) {
    int bytes = 0;
    socklen_t size = sizeof bytes;
    return ::getsockopt(fd, SOL_SOCKET, name, &bytes, &size) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

// Reports the fate of an earlier outgoing datagram, so it does not affect receiving.
bool is_event(int error) {
    return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH || error == EMSGSIZE || error == EPROTO;
}

std::size_t segments_of(const GsoBatch& gso) {
    return gso.segment_bytes == 0 ? 1 : (gso.bytes.size() + gso.segment_bytes - 1) / gso.segment_bytes;
}

bool is_gso_batch(const GsoBatch& gso) { return segments_of(gso) > 1; }

}  // namespace

struct UdpSocket::Inbox {
    Inbox() {
        for (std::size_t i = 0; i < kBatch; ++i) {
            parts[i] = {bytes[i].data(), kDatagramBytesMax};
            msghdr& message = messages[i].msg_hdr;
            message = {};
            message.msg_name = &addresses[i];
            message.msg_iov = &parts[i];
            message.msg_iovlen = 1;
            message.msg_control = controls[i].bytes.data();
            prepare(i);
        }
    }
    // Resets what the kernel wrote.
    void prepare(std::size_t at) {
        messages[at].msg_hdr.msg_namelen = sizeof addresses[at];
        messages[at].msg_hdr.msg_controllen = kControlBytes;
    }

    std::array<std::array<std::uint8_t, kDatagramBytesMax>, kBatch> bytes;
    std::array<Control, kBatch> controls;
    std::array<sockaddr_storage, kBatch> addresses;
    std::array<iovec, kBatch> parts;
    std::array<mmsghdr, kBatch> messages;
    std::array<Datagram, kBatch> datagrams;
    std::size_t used = 0;  // messages that the last call has written
};

struct UdpSocket::Outbox {
    std::array<Control, kBatch> controls;
    std::array<sockaddr_storage, kBatch> addresses;
    std::array<iovec, kBatch> parts;
    std::array<mmsghdr, kBatch> messages;
    bool has_one_address = false;

    // `cut`: the kernel splits GSO batches.
    void write(std::size_t at, const GsoBatch& gso, Bytes bytes, bool is_ipv6, bool cut) {
        parts[at] = {const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
        msghdr& message = messages[at].msg_hdr;
        message = {};
        message.msg_name = &addresses[at];
        message.msg_namelen = write_address(gso.to, is_ipv6, addresses[at]);
        message.msg_iov = &parts[at];
        message.msg_iovlen = 1;
        message.msg_control = controls[at].bytes.data();
        std::size_t used = 0;
        if (gso.from != IpAddress{} && !has_one_address)
            add_source(message, used, gso.from, is_ipv6);
        if (cut && is_gso_batch(gso))
            add_control(message, used, SOL_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(gso.segment_bytes));
        message.msg_controllen = used;
        if (used == 0)
            message.msg_control = nullptr;
    }

private:
    static void add_source(msghdr& message, std::size_t& used, const IpAddress& from, bool is_ipv6) {
        if (is_ipv6) {
            in6_pktinfo info{};
            std::memcpy(&info.ipi6_addr, from.bytes.data(), sizeof info.ipi6_addr);
            add_control(message, used, IPPROTO_IPV6, IPV6_PKTINFO, info);
        } else {
            in_pktinfo info{};
            std::memcpy(&info.ipi_spec_dst, &from.bytes[kMappedPrefix], sizeof info.ipi_spec_dst);
            add_control(message, used, IPPROTO_IP, IP_PKTINFO, info);
        }
    }
};

Result<std::unique_ptr<UdpSocket>> UdpSocket::bind(const Endpoint& on, std::size_t buffer_bytes, PortSharing sharing) {
    Socket socket = TRY(open_bound(on, SOCK_DGRAM, sharing));
    const int fd = socket.fd();
    raise_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
    raise_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, buffer_bytes);
    const Endpoint bound = TRY(bound_endpoint(socket));
    auto made = std::make_unique<UdpSocket>(std::move(socket), bound);
    if (made->only_address_)
        return made;
    const int on_flag = 1;
    const int set = on.is_ipv6() ? ::setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on_flag, sizeof on_flag)
                                 : ::setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on_flag, sizeof on_flag);
    if (set < 0)
        return system_error("asking for the local addresses of datagrams", errno);
    return made;
}

UdpSocket::UdpSocket(Socket socket, const Endpoint& endpoint)
    : socket_(std::move(socket)),
      endpoint_(endpoint),
      is_ipv6_(endpoint.is_ipv6()),
      inbox_(std::make_shared<Inbox>()),
      outbox_(std::make_unique<Outbox>()) {
    const auto ip = parse_ip(endpoint_.ip);
    if (ip.ok() && endpoint_.ip != "0.0.0.0" && endpoint_.ip != "::")
        only_address_ = *ip;
    outbox_->has_one_address = only_address_.has_value();
}

UdpSocket::~UdpSocket() = default;

Result<void> UdpSocket::join(const std::string& group, const std::string& source, const std::string& interface) {
    const int level = is_ipv6_ ? IPPROTO_IPV6 : IPPROTO_IP;
    unsigned index = 0;
    if (!interface.empty()) {
        index = ::if_nametoindex(interface.c_str());
        if (index == 0)
            return Error(Errc::not_found, "there is no network interface " + interface);
    }
    const SocketAddress to = TRY(SocketAddress::of({group, 0}));
    const SocketAddress from = TRY(SocketAddress::of({source.empty() ? group : source, 0}));
    if ((to.storage.ss_family == AF_INET6) != is_ipv6_ || from.storage.ss_family != to.storage.ss_family)
        return Error(Errc::malformed, "a group or sender of another IP version: " + group);
    group_source_req with_source{};
    with_source.gsr_interface = index;
    with_source.gsr_group = to.storage;
    with_source.gsr_source = from.storage;
    group_req plain{};
    plain.gr_interface = index;
    plain.gr_group = to.storage;
    const int set = source.empty() ? ::setsockopt(socket_.fd(), level, MCAST_JOIN_GROUP, &plain, sizeof plain)
                                   : ::setsockopt(socket_.fd(), level, MCAST_JOIN_SOURCE_GROUP, &with_source, sizeof with_source);
    // An inherited socket has joined already.
    if (set < 0 && errno != EADDRINUSE)
        return system_error("joining the multicast group " + group, errno);
    return {};
}

Result<std::span<const Datagram>> UdpSocket::receive(Deadline deadline) {
    for (;;) {
        TRY(st::breathe());
        TRY(st::wait_while_held(deadline));
        if (!socket_.is_open() || !receives_)
            return Error(Errc::closed, "the socket was closed by this side");
        if (const std::size_t count = TRY(try_receive()); count > 0)
            return std::span<const Datagram>(inbox_->datagrams.data(), count);
        // Returns at once while there may be more.
        if (TRY(socket_.wait(Interest::readable, &stopped_, deadline)).timed_out)
            return Error(Errc::timed_out, "nothing came from the peer");
    }
}

Result<std::span<const Datagram>> UdpSocket::take_arrived() {
    const std::size_t count = socket_.is_open() && receives_ ? TRY(try_receive()) : 0;
    return std::span<const Datagram>(inbox_->datagrams.data(), count);
}

Result<void> UdpSocket::stamp_arrivals() {
    const int on_flag = 1;
    if (::setsockopt(socket_.fd(), SOL_SOCKET, SO_TIMESTAMPNS, &on_flag, sizeof on_flag) < 0)
        return system_error("asking for the times of datagrams", errno);
    stamps_ = true;
    return {};
}

Result<void> UdpSocket::gather_until(Deadline until) {
    socket_.forget();
    return sleep(until);
}

void UdpSocket::stop_receiving() {
    receives_ = false;
    stopped_.raise();
    socket_.forget();
}

Result<std::size_t> UdpSocket::try_receive() {
    if (socket_.is_blocked(Interest::readable))
        return std::size_t{0};
    Inbox& in = *inbox_;
    for (; in.used > 0; --in.used)
        in.prepare(in.used - 1);
    const int taken = ::recvmmsg(socket_.fd(), in.messages.data(), kBatch, MSG_DONTWAIT, nullptr);
    if (taken < 0) {
        const int error = errno;
        if (error == EAGAIN)
            socket_.set_blocked(Interest::readable);
        else if (error != EINTR && !is_event(error))
            return system_error("receiving on " + endpoint_.text(), error);
        return std::size_t{0};
    }
    in.used = static_cast<std::size_t>(taken);
    if (in.used < kBatch)
        socket_.set_blocked(Interest::readable);
    std::optional<ArrivalClock> clock;
    if (stamps_)
        clock.emplace();
    std::size_t count = 0;
    for (std::size_t i = 0; i < in.used; ++i) {
        msghdr& message = in.messages[i].msg_hdr;
        ++counters_.received;
        if ((message.msg_flags & MSG_TRUNC) != 0) {
            ++counters_.received_too_long;
            continue;
        }
        Datagram& datagram = in.datagrams[count++];
        datagram.bytes = {in.bytes[i].data(), in.messages[i].msg_len};
        datagram.from = address_of(in.addresses[i]);
        datagram.to = only_address_.value_or(IpAddress());
        datagram.arrived = {};
        read_control(message, clock ? &*clock : nullptr, datagram);
    }
    return count;
}

std::size_t UdpSocket::send(std::span<const GsoBatch> batches) {
    std::size_t done = 0;
    while (done < batches.size() && socket_.is_open() && !socket_.is_blocked(Interest::writable)) {
        if (!cuts_in_kernel_ && is_gso_batch(batches[done])) {
            if (!send_cut(batches[done]))
                break;
            ++done;
            continue;
        }
        const auto rest = batches.subspan(done, std::min(kBatch, batches.size() - done));
        // Up to the next GSO batch that has to be split here.
        const auto end = cuts_in_kernel_ ? rest.end() : std::ranges::find_if(rest, is_gso_batch);
        const auto whole = rest.first(static_cast<std::size_t>(end - rest.begin()));
        for (std::size_t i = 0; i < whole.size(); ++i) {
            CHECK(whole[i].bytes.size() <= GsoBatch::kBytesMax && segments_of(whole[i]) <= GsoBatch::kSegmentsMax);
            outbox_->write(i, whole[i], whole[i].bytes, is_ipv6_, true);
        }
        ++counters_.send_calls;
        const int taken = ::sendmmsg(socket_.fd(), outbox_->messages.data(), static_cast<unsigned>(whole.size()), MSG_DONTWAIT);
        if (taken <= 0) {
            done += handle_refusal(whole.front(), errno);
            continue;
        }
        for (const GsoBatch& gso : whole.first(static_cast<std::size_t>(taken)))
            counters_.sent += segments_of(gso);
        done += static_cast<std::size_t>(taken);
    }
    return done;
}

// The kernel has refused the first message of a call. Returns how many are dropped, so that the following ones go out with the
// next call.
std::size_t UdpSocket::handle_refusal(const GsoBatch& first, int error) {
    if (error == EINTR)
        return 0;
    if (error == EAGAIN) {
        socket_.set_blocked(Interest::writable);
        return 0;
    }
    // The interface or the kernel does not support it (udp(7)): split here from now on.
    if (is_gso_batch(first) && (error == EIO || error == EINVAL)) {
        cuts_in_kernel_ = false;
        return 0;
    }
    counters_.sent_failed += segments_of(first);
    return 1;
}

// False when the kernel's buffer is full and nothing of the GSO batch went out. If only a part fits, the rest is dropped:
// retrying the batch would send the first datagrams twice.
bool UdpSocket::send_cut(const GsoBatch& gso) {
    for (std::size_t at = 0; at < gso.bytes.size(); at += gso.segment_bytes) {
        const Bytes bytes = gso.bytes.subspan(at, std::min(gso.segment_bytes, gso.bytes.size() - at));
        outbox_->write(0, gso, bytes, is_ipv6_, false);
        ssize_t sent = 0;
        do {
            ++counters_.send_calls;
            sent = ::sendmsg(socket_.fd(), &outbox_->messages[0].msg_hdr, MSG_DONTWAIT);
        } while (sent < 0 && errno == EINTR);
        if (sent < 0 && errno == EAGAIN) {
            socket_.set_blocked(Interest::writable);
            if (at == 0)
                return false;
            counters_.sent_failed += segments_of(gso) - at / gso.segment_bytes;
            return true;
        }
        ++(sent < 0 ? counters_.sent_failed : counters_.sent);
    }
    return true;
}

UdpSocket::BufferBytes UdpSocket::buffers() const {
    return {buffer_of(socket_.fd(), SO_RCVBUF), buffer_of(socket_.fd(), SO_SNDBUF)};
}

std::uint64_t UdpSocket::lost_on_arrival() const {
    std::array<std::uint32_t, SK_MEMINFO_VARS> figures{};
    socklen_t size = sizeof figures;
    if (!socket_.is_open() || ::getsockopt(socket_.fd(), SOL_SOCKET, SO_MEMINFO, figures.data(), &size) < 0)
        return 0;
    return figures[SK_MEMINFO_DROPS];
}

}  // namespace live::io
