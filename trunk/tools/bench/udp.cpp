#include "udp.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/udp.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "common.hpp"

namespace bench {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int udp_socket(int buffer_bytes) {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die("no UDP socket: " + std::string(strerror(errno)));
    for (const int name : {SO_RCVBUFFORCE, SO_SNDBUFFORCE})
        setsockopt(fd, SOL_SOCKET, name, &buffer_bytes, sizeof buffer_bytes);
    return fd;
}

int bound_socket(std::uint16_t port, int buffer_bytes) {
    const int fd = udp_socket(buffer_bytes);
    sockaddr_in here = loopback(port);
    if (bind(fd, reinterpret_cast<sockaddr*>(&here), sizeof here) != 0)
        die("port " + std::to_string(port) + ": " + strerror(errno));
    return fd;
}

int connected_socket(std::uint16_t port, int buffer_bytes) {
    const int fd = udp_socket(buffer_bytes);
    sockaddr_in there = loopback(port);
    if (connect(fd, reinterpret_cast<sockaddr*>(&there), sizeof there) != 0)
        die("connecting: " + std::string(strerror(errno)));
    return fd;
}

void MessageBatch::add(sockaddr_in& to, std::uint8_t* bytes, std::size_t size, std::size_t segment) {
    msghdr& message = list_[count_].msg_hdr;
    message = {};
    message.msg_name = &to;
    message.msg_namelen = sizeof to;
    parts_[count_] = {bytes, size};
    message.msg_iov = &parts_[count_];
    message.msg_iovlen = 1;
    if (segment > 0) {
        message.msg_control = control_[count_];
        message.msg_controllen = sizeof control_[count_];
        cmsghdr* const head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_UDP;
        head->cmsg_type = UDP_SEGMENT;
        head->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
        const auto cut = static_cast<std::uint16_t>(segment);
        memcpy(CMSG_DATA(head), &cut, sizeof cut);
    }
    ++count_;
}

void MessageBatch::send(int fd, Counters& counters) {
    counters.messages += count_;
    for (std::size_t done = 0; done < count_;) {
        const int taken = sendmmsg(fd, list_ + done, static_cast<unsigned>(count_ - done), MSG_DONTWAIT);
        counters.refused += taken <= 0 ? 1 : 0;
        done += taken <= 0 ? 1 : static_cast<std::size_t>(taken);
    }
    count_ = 0;
}

std::vector<sockaddr_in> learn_peers(int fd, std::size_t clients) {
    std::vector<sockaddr_in> peers;
    while (peers.size() < clients && !stop_requested()) {
        char hello[16];
        sockaddr_in from{};
        socklen_t size = sizeof from;
        if (recvfrom(fd, hello, sizeof hello, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), &size) < 0)
            sleep_seconds(0.002);
        else
            peers.push_back(from);
    }
    JsonLine("ready").add("clients", static_cast<std::uint64_t>(peers.size())).print();
    return peers;
}

std::vector<int> join_floor(std::uint16_t port, std::size_t clients, int buffer_bytes) {
    std::vector<int> sockets;
    while (sockets.size() < clients) {
        sockets.push_back(connected_socket(port, buffer_bytes));
        if (send(sockets.back(), "hello", 5, 0) < 0)
            die("cannot send the first datagram");
        if (sockets.size() % 64 == 0)
            sleep_seconds(0.01);
    }
    JsonLine("ready").add("clients", static_cast<std::uint64_t>(clients)).print();
    return sockets;
}

Inbox::Inbox() {
    memset(messages, 0, sizeof messages);
    for (std::size_t i = 0; i < kBatch; ++i) {
        parts[i] = {bytes[i], sizeof bytes[i]};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
}

Words::Words() { fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK); }

bool Words::take(const Counters& all) {
    char text[64];
    const ssize_t count = read(STDIN_FILENO, text, sizeof text);
    const std::string_view said(text, count > 0 ? static_cast<std::size_t>(count) : 0);
    if (said.find("mark") != said.npos) {
        mark_ = all;
        marked_at_ = now_seconds();
    }
    if (said.find("report") != said.npos)
        JsonLine("report")
            .add("window_bytes", all.bytes - mark_.bytes)
            .add("window_packets", all.packets - mark_.packets)
            .add("missing", all.missing - mark_.missing)
            .add("seconds", now_seconds() - marked_at_)
            .print();
    return count != 0 && said.find("quit") == said.npos;
}

}  // namespace bench
