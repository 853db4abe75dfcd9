// The floor: what the kernel alone costs. In `send` mode it accepts N sockets and sends each the bytes of a clip as a server
// with merged writing would: everything new since this client's last turn, once per window, turns spread evenly over the
// window, one plain send() each, ticks of about 5 ms. With a window of 0 every message goes to everybody at once. In `read` mode it
// accepts N sockets and only reads what they send; in `relay` mode the first who connects publishes, and what is read from it
// goes at once to the N who come later: the floor of the added delay. There is no protocol, no per-client state but a position,
// and no care for slow readers, so no server can do better by the same system calls. `clip` only prints the bit rate and the
// largest GOP of a clip.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <vector>

#include "clip.hpp"
#include "common.hpp"
#include "run.hpp"

namespace {

using namespace bench;

constexpr std::string_view kUsage =
    "floor --mode send|read|relay|clip --port PORT --clients N [--clip FILE.flv] [--window-ms 350] [--tick-ms 5]";

struct Counters {
    std::uint64_t bytes = 0;
    std::uint64_t calls = 0;
    std::uint64_t full = 0;  // Sends that found the socket full or took only a part.
    std::uint64_t gone = 0;
};

// One client, or -1 when none waits. `at_once`: small messages are not held back, as a server of low latency does it.
int accept_client(int listener, bool at_once) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const int one = at_once ? 1 : 0;
    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

std::vector<int> accept_all(std::uint16_t port, std::size_t clients, bool at_once) {
    const int listener = listen_on(port);
    JsonLine("listening").print();
    std::vector<int> sockets;
    while (sockets.size() < clients && !stop_requested()) {
        const int fd = accept_client(listener, at_once);
        if (fd >= 0)
            sockets.push_back(fd);
        else
            sleep_seconds(0.002);
    }
    JsonLine("ready").add("clients", static_cast<std::uint64_t>(sockets.size())).print();
    close(listener);
    return sockets;
}

void send_to(int& fd, const Run& run, std::uint64_t& position, std::uint64_t head, Counters& counters) {
    if (fd < 0 || position >= head)
        return;
    if (head - position > run.period())
        position = head - run.period();  // A reader this late has lost; the floor does not care.
    const ssize_t n = send(fd, run.at(position), head - position, MSG_DONTWAIT | MSG_NOSIGNAL);
    ++counters.calls;
    if (n < 0 && errno != EAGAIN) {
        close(fd);
        fd = -1;
        ++counters.gone;
        return;
    }
    const std::uint64_t taken = n > 0 ? static_cast<std::uint64_t>(n) : 0;
    counters.full += taken < head - position ? 1u : 0u;
    counters.bytes += taken;
    position += taken;
}

Counters run_sender(std::vector<int>& sockets, Run& run, double window_s, double tick_s) {
    Counters counters;
    std::vector<std::uint64_t> positions(sockets.size(), 0);
    const double start = now_seconds();
    Turns turns(sockets.size(), window_s, tick_s);
    std::uint64_t last_head = 0;
    while (!stop_requested()) {
        const double elapsed = now_seconds() - start;
        const std::uint64_t head = run.head(elapsed);
        if (window_s > 0)
            turns.take(elapsed, [&](std::size_t i) { send_to(sockets[i], run, positions[i], head, counters); });
        for (std::size_t i = 0; window_s <= 0 && head > last_head && i < sockets.size(); ++i)
            send_to(sockets[i], run, positions[i], head, counters);
        last_head = head;
        turns.sleep();
    }
    return counters;
}

void relay_bytes(int publisher, const std::vector<int>& players, Counters& counters) {
    static std::uint8_t scratch[262144];
    const ssize_t got = recv(publisher, scratch, sizeof scratch, MSG_DONTWAIT);
    for (const int player : players) {
        const ssize_t n = got > 0 ? send(player, scratch, static_cast<std::size_t>(got), MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
        ++counters.calls;
        counters.full += n < got ? 1u : 0u;
        counters.bytes += n > 0 ? static_cast<std::uint64_t>(n) : 0;
    }
}

Counters run_relay(std::uint16_t port, std::size_t clients) {
    Counters counters;
    const int listener = listen_on(port);
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    watch(epoll, listener, EPOLLIN, 0, true);
    JsonLine("listening").print();
    int publisher = -1;
    std::vector<int> players;
    while (!stop_requested()) {
        epoll_event events[2];
        const int n = epoll_wait(epoll, events, 2, 1000);
        for (int i = 0; i < n; ++i) {
            if (events[i].data.u32 == 1) {
                relay_bytes(publisher, players, counters);
                continue;
            }
            const int fd = accept_client(listener, true);
            if (fd >= 0 && publisher < 0)
                watch(epoll, publisher = fd, EPOLLIN, 1, true);
            else if (fd >= 0 && players.size() < clients)
                players.push_back(fd);
        }
    }
    return counters;
}

// Reads what has arrived, at once or on ticks.
Counters run_reader(std::vector<int>& sockets, double tick_s) {
    Turns ticks(1, 1, tick_s);
    Counters counters;
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (std::size_t i = 0; i < sockets.size(); ++i)
        watch(epoll, sockets[i], EPOLLIN, static_cast<std::uint32_t>(i), true);
    static std::uint8_t scratch[65536];
    std::vector<epoll_event> events(1024);
    while (!stop_requested()) {
        const int n = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), tick_s > 0 ? 0 : 1000);
        if (tick_s > 0 && n < static_cast<int>(events.size()))
            ticks.sleep();
        for (int i = 0; i < n; ++i) {
            int& fd = sockets[events[static_cast<std::size_t>(i)].data.u32];
            const ssize_t got = recv(fd, scratch, sizeof scratch, MSG_DONTWAIT);
            ++counters.calls;
            if (got > 0) {
                counters.bytes += static_cast<std::uint64_t>(got);
            } else if (got == 0 || errno != EAGAIN) {
                close(fd);
                ++counters.gone;
            }
        }
    }
    close(epoll);
    return counters;
}

int describe(const Clip& clip) {
    JsonLine("clip").add("kbps", clip.kbps()).add("gop_bytes_max", static_cast<std::uint64_t>(clip.gop_bytes_max)).print();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Args args(argc, argv, kUsage);
    const std::string mode = args.required("mode");
    const auto port = static_cast<std::uint16_t>(args.count("port", 0));
    const std::size_t clients = args.count("clients", 1);
    const double window_s = args.number("window-ms", 350) / 1000;
    const double tick_s = args.number("tick-ms", window_s > 0 ? 5 : 1) / 1000;
    const double read_tick_s = args.number("read-tick-ms", 0) / 1000;
    const std::string clip_path = args.text("clip", "");
    args.check_all_used();
    if (mode == "clip" && !clip_path.empty())
        return describe(load_clip(clip_path));
    if ((mode != "send" && mode != "read" && mode != "relay") || port == 0 || clients == 0 ||
        (mode == "send" && clip_path.empty()))
        die("usage: " + std::string(kUsage));
    raise_file_limit(clients + 64);
    catch_stop_signals();

    Counters counters;
    if (mode == "relay") {
        counters = run_relay(port, clients);
    } else {
        std::vector<int> sockets = accept_all(port, clients, window_s <= 0);
        if (mode == "send") {
            Run run(load_clip(clip_path));
            counters = run_sender(sockets, run, window_s, tick_s);
        } else {
            counters = run_reader(sockets, read_tick_s);
        }
    }
    JsonLine("final")
        .add("bytes", counters.bytes)
        .add("calls", counters.calls)
        .add("full", counters.full)
        .add("gone", counters.gone)
        .print();
    return 0;
}
