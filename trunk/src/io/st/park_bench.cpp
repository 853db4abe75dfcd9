// Measures the cost of a wake when many fibers are parked: PARKED fibers, each in read_some on its own connection (a socket pair)
// with a 30 s deadline; in every round READY of them get 64 bytes. Prints CPU per wake without the peer's write, system calls per
// wake, and resident memory per parked fiber.
//
//   bench_park [PARKED [READY [ROUNDS]]]        strace -c -f bench_park 1000 50 200 counts the same from outside
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/tcp_stream.hpp"

namespace live::io {
namespace {

double cpu_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Returns the resident memory of this process, in bytes.
double resident() {
    long pages = 0;
    long resident_pages = 0;
    if (FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld %ld", &pages, &resident_pages) != 2)
            resident_pages = 0;
        std::fclose(file);
    }
    return static_cast<double>(resident_pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

struct Peers {
    std::vector<std::unique_ptr<TcpStream>> streams;
    std::vector<int> far_ends;
};

struct Tally {
    std::size_t wakes = 0;
    std::size_t reads = 0;
};

void write_to(const std::vector<int>& far_ends, std::size_t first, std::size_t count) {
    char block[64] = {};
    for (std::size_t i = 0; i < count; ++i) {
        if (::write(far_ends[(first + i * 7919) % far_ends.size()], block, sizeof block) < 0)
            std::perror("write");
    }
}

bool open_peers(Peers& peers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        int pair[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0) {
            std::perror("socketpair");
            return false;
        }
        peers.streams.push_back(std::make_unique<TcpStream>(Socket(pair[0]), Endpoint{"127.0.0.1", 1}));
        peers.far_ends.push_back(pair[1]);
    }
    return true;
}

int run(std::size_t parked, std::size_t ready, std::size_t rounds) {
    const auto loop = MUST(Loop::create());
    Peers peers;
    if (!open_peers(peers, parked))
        return 1;
    static std::uint8_t scratch[4096];  // shared by all readers: see Stream::read_some
    Scope scope("bench");
    Tally tally;
    const double before_fibers = resident();
    for (const auto& stream : peers.streams)
        MUST(scope.start("reader", [&tally, reader = stream.get()](Deadline) {
            while (reader->read_some(scratch, Deadline::after(30s)).ok())
                ++tally.wakes;
        }));
    MUST(yield(Deadline::never()));
    MUST(yield(Deadline::never()));
    const double per_fiber = (resident() - before_fibers) / static_cast<double>(parked);
    // Once each, so that every socket is known to be drained.
    write_to(peers.far_ends, 0, parked);
    while (tally.wakes < parked)
        MUST(yield(Deadline::never()));

    double writing = 0;
    const std::size_t before_wakes = tally.wakes;
    const auto before = loop->counters();
    const double start = cpu_seconds();
    for (std::size_t round = 0; round < rounds; ++round) {
        const double write_start = cpu_seconds();
        write_to(peers.far_ends, round * 104'729, ready);
        writing += cpu_seconds() - write_start;
        const std::size_t wanted = before_wakes + (round + 1) * ready;
        while (tally.wakes < wanted)
            MUST(yield(Deadline::never()));
    }
    const double spent = cpu_seconds() - start - writing;
    const auto after = loop->counters();
    const auto wakes = static_cast<double>(tally.wakes - before_wakes);
    const auto turns = static_cast<double>(after.turns - before.turns);
    const auto controls = static_cast<double>(after.epoll_controls - before.epoll_controls);
    std::printf(
        "{\"parked\": %zu, \"ready\": %zu, \"wakes\": %.0f, \"cpu_us_per_wake\": %.3f, \"epoll_waits_per_wake\": %.3f, "
        "\"epoll_ctls_per_wake\": %.3f, \"resident_bytes_per_fiber\": %.0f}\n",
        parked, ready, wakes, spent / wakes * 1e6, turns / wakes, controls / wakes, per_fiber);
    MUST(scope.stop(Deadline::after(30s)));
    for (const int fd : peers.far_ends)
        ::close(fd);
    return 0;
}

std::size_t argument(int count, char** values, int index, std::size_t otherwise) {
    return count > index ? static_cast<std::size_t>(std::strtoul(values[index], nullptr, 10)) : otherwise;
}

}  // namespace
}  // namespace live::io

int main(int count, char** values) {
    using live::io::argument;
    return live::io::run(argument(count, values, 1, 9900), argument(count, values, 2, 1), argument(count, values, 3, 5000));
}
