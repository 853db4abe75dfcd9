// The server's side of a handshake, from a new object to the SRTP keys: most of the cost of a WebRTC player's arrival. Measured
// in CPU time, so that a busy machine does not change the result.
#include <benchmark/benchmark.h>

#include <time.h>

#include <chrono>

#include "engine/dtls/transport.hpp"

namespace live::engine::dtls {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::nanoseconds processor_time() {
    timespec spent{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

void BM_ServerHandshake(benchmark::State& state) {
    const auto ours = MUST(Certificate::make());
    const auto theirs = MUST(Certificate::make());
    const auto context = MUST(Context::create(*ours));
    const auto peer = MUST(Context::create(*theirs));
    for (auto round : state) {
        static_cast<void>(round);
        auto client =
            MUST(Transport::create(*peer, {.role = Role::client, .remote_fingerprint = MUST(ours->fingerprint())}, Clock::now()));
        MUST(client->start(Clock::now()));
        auto from_client = client->take_output();
        std::chrono::nanoseconds taken{};
        std::unique_ptr<Transport> server;
        while (client->state() != Transport::State::established) {
            const auto began = processor_time();
            if (server == nullptr)
                server = MUST(Transport::create(
                    *context, {.role = Role::server, .remote_fingerprint = MUST(theirs->fingerprint())}, Clock::now()));
            for (const auto& datagram : from_client)
                MUST(server->handle_datagram(Clock::now(), datagram));
            if (server->state() == Transport::State::established)
                benchmark::DoNotOptimize(MUST(server->export_keys()));
            const auto from_server = server->take_output();
            taken += processor_time() - began;
            for (const auto& datagram : from_server)
                MUST(client->handle_datagram(Clock::now(), datagram));
            from_client = client->take_output();
        }
        const auto began = processor_time();
        server.reset();
        state.SetIterationTime(std::chrono::duration<double>(taken + (processor_time() - began)).count());
    }
}
BENCHMARK(BM_ServerHandshake)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace live::engine::dtls

BENCHMARK_MAIN();
