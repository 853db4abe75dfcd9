// The cost of a switch between fibers: two fibers that wake each other through Signals. One item is one switch.
#include <memory>

#include <benchmark/benchmark.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/st/core.hpp"

namespace live::io {
namespace {

// Two fibers; `sleepers` others are parked with a deadline, for the timed case.
void ping_pong(benchmark::State& bench, bool timed) {
    const auto loop = MUST(Loop::create());
    Scope scope("bench");
    Signal never;
    for (int i = 0; i < bench.range(0); ++i)
        MUST(scope.start("sleeper", [](Deadline) { static_cast<void>(sleep(Deadline::after(1h)).ok()); }));
    Signal ping;
    Signal pong;
    bool stop = false;
    const Deadline limit = timed ? Deadline::after(30s) : Deadline::never();
    MUST(scope.start("pong", [&](Deadline) {
        while (!stop) {
            MUST(wait(ping, limit));
            pong.raise();
        }
    }));
    MUST(yield(Deadline::never()));
    const auto before = loop->counters().switches;
    for (auto _ : bench) {
        ping.raise();
        MUST(wait(pong, limit));
    }
    bench.SetItemsProcessed(static_cast<std::int64_t>(loop->counters().switches - before));
    stop = true;
    ping.raise();
    MUST(scope.stop(Deadline::after(10s)));
}

void switch_untimed(benchmark::State& bench) { ping_pong(bench, false); }
void switch_timed(benchmark::State& bench) { ping_pong(bench, true); }
BENCHMARK(switch_untimed)->Arg(0);
BENCHMARK(switch_timed)->Arg(0)->Arg(10'000);

// The core alone: its own condition variables, with our switch, hooks and run queue.
void switch_core(benchmark::State& bench) {
    const auto loop = MUST(Loop::create());
    struct Pair {
        st_cond_t ping = st_cond_new();
        st_cond_t pong = st_cond_new();
        bool stop = false;
    } pair;
    const auto answer = [](void* argument) -> void* {
        auto* both = static_cast<Pair*>(argument);
        while (!both->stop) {
            st_cond_wait(both->ping);
            st_cond_signal(both->pong);
        }
        return nullptr;
    };
    st_thread_create(answer, &pair, 0, 64 * 1024);
    MUST(yield(Deadline::never()));
    const auto before = loop->counters().switches;
    for (auto _ : bench) {
        st_cond_signal(pair.ping);
        st_cond_wait(pair.pong);
    }
    bench.SetItemsProcessed(static_cast<std::int64_t>(loop->counters().switches - before));
    pair.stop = true;
    st_cond_signal(pair.ping);
    MUST(yield(Deadline::never()));
    st_cond_destroy(pair.ping);
    st_cond_destroy(pair.pong);
}
BENCHMARK(switch_core);

// Start, first run and end of a fiber on a pooled stack.
void start_and_end(benchmark::State& bench) {
    const auto loop = MUST(Loop::create());
    Scope scope("bench");
    for (auto _ : bench) {
        MUST(scope.start("short", [](Deadline) {}));
        MUST(scope.join(Deadline::never()));
    }
    bench.SetItemsProcessed(bench.iterations());
}
BENCHMARK(start_and_end);

}  // namespace
}  // namespace live::io

BENCHMARK_MAIN();
