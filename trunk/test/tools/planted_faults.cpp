// A fault on purpose inside a fiber, named by the argument, for coroutine_tools_test.sh: a memory tool must report it with the
// fiber's own frames, and must report nothing for "clean". Not a part of the server.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/tcp_listener.hpp"

#include "faults.hpp"

namespace {

using namespace live;
using io::Deadline;

// What every run does besides: parked fibers that hold the only pointer to something, switches, timers, sockets, pooled stacks.
void work(std::string_view fault) {
    io::Scope scope("faults");
    const auto listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    Signal go;
    MUST(scope.start("holds", [](Deadline) {
        const auto only_here = std::make_unique<char[]>(1000);
        static_cast<void>(io::sleep(Deadline::never()).ok());
        only_here[3] = 'x';
    }));
    MUST(scope.start("server", [&](Deadline) {
        const auto stream = MUST(listener->accept(Deadline::after(10s)));
        std::uint8_t block[100];
        while (stream->read_some(block, Deadline::after(10s)).ok()) {
        }
        go.raise();
    }));
    MUST(scope.start("client", [&](Deadline) {
        const auto stream = MUST(io::TcpStream::connect(listener->endpoint(), Deadline::after(10s)));
        for (int i = 0; i < 100; ++i) {
            const ::iovec part = io::as_part(as_bytes("some bytes"));
            MUST(stream->write_all({&part, 1}, Deadline::after(10s)));
            MUST(io::yield(Deadline::never()));
        }
    }));
    for (int i = 0; i < 300; ++i)
        MUST(scope.start("short", [](Deadline) { MUST(io::sleep(Deadline::after(100us))); }));
    MUST(io::wait(go, Deadline::after(30s)));
    Signal over;
    MUST(scope.start("faulty", [fault, &over](Deadline) {
        MUST(io::sleep(Deadline::after(1ms)));
        planted::plant(fault);
        MUST(io::sleep(Deadline::after(1ms)));
        over.raise();
    }));
    // As long as it takes: a debugger stops everything in between.
    MUST(io::wait(over, Deadline::never()));
    if (fault == "exit_while_parked") {
        // With fibers still parked: what they hold is no leak.
        std::puts("exit with parked fibers");
        std::fflush(stdout);
        std::exit(0);
    }
    MUST(scope.stop(Deadline::after(10s)));
}

}  // namespace

int main(int count, char** values) {
    const std::string_view fault = count > 1 ? values[1] : "clean";
    const auto loop = MUST(io::Loop::create());
    work(fault);
    std::puts("done");
    return 0;
}
