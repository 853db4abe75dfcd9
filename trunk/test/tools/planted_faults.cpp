// Faults on purpose inside fibers, one per argument, for coroutine_tools_test.sh: a memory tool must report each with the fiber's own
// frames, and must report nothing for "clean". Not a part of the server.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "io/loop.hpp"
#include "io/scope.hpp"
#include "io/tcp_listener.hpp"

namespace {

using namespace live;
using io::Deadline;

// Where a pointer is put so that the compiler cannot know that nobody reads it.
void* volatile sink;

// The frames the reports must name.
[[gnu::noinline]] void planted_leak() {
    sink = std::malloc(4321);
    sink = nullptr;
}

// The address of a fresh block, laundered: the compiler would refuse to compile what follows.
char* fresh_block() {
    sink = std::malloc(64);
    return static_cast<char*>(sink);
}

[[gnu::noinline]] void planted_use_after_free() {
    std::free(fresh_block());
    static_cast<volatile char*>(sink)[7] = 1;
    sink = nullptr;
}

[[gnu::noinline]] int planted_stack_overflow(int depth) {
    volatile char frame[1024];
    std::memset(const_cast<char*>(frame), depth, sizeof frame);
    return depth == 0 ? 0 : planted_stack_overflow(depth - 1) + frame[17];
}

[[gnu::noinline]] void planted_uninitialised() {
    char* block = fresh_block();
    if (block[3] == 7)
        std::puts("seven");
    std::free(block);
    sink = nullptr;
}

[[gnu::noinline]] void run_fault(std::string_view fault) {
    if (fault == "leak")
        planted_leak();
    else if (fault == "use_after_free")
        planted_use_after_free();
    else if (fault == "stack_overflow")
        std::printf("%d\n", planted_stack_overflow(4096));
    else if (fault == "uninitialised")
        planted_uninitialised();
    sink = nullptr;  // So that none of the calls is the last thing done here: its frame would be gone from the report.
}

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
        run_fault(fault);
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
