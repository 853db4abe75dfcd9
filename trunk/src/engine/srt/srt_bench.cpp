// Measures the cost of a flood of handshakes, and of a packet of a player: copied or encrypted into a datagram, acknowledged,
// forgotten.
#include <benchmark/benchmark.h>

#include <vector>

#include "engine/srt/handshake/connection_setup.hpp"
#include "engine/srt/listener.hpp"

namespace live::engine::srt {
namespace {

const TransportAddress kFrom{parse_ip("192.0.2.7").value(), 40'000};

std::vector<std::uint8_t> induction() {
    Handshake handshake;
    handshake.version = 4;
    handshake.type = static_cast<std::uint32_t>(HandshakeType::induction);
    handshake.socket_id = SocketId{5};
    return handshake_datagram(handshake, SocketId{}, 0);
}

void BM_Induction(benchmark::State& state) {
    const Listener listener(Listener::Secret{1});
    const auto question = induction();
    std::vector<std::uint8_t> answer(64);
    TransportAddress from = kFrom;
    for (auto round : state) {
        static_cast<void>(round);
        ++from.port;
        benchmark::DoNotOptimize(listener.answer_induction(TimePoint{1h}, question, from, answer));
    }
}
BENCHMARK(BM_Induction);

void BM_ForgedConclusion(benchmark::State& state) {
    const Listener listener(Listener::Secret{1});
    Handshake handshake;
    handshake.type = static_cast<std::uint32_t>(HandshakeType::conclusion);
    handshake.cookie = 1;
    handshake.stream_id = std::string(500, 'x');
    const auto question = handshake_datagram(handshake, SocketId{}, 0);
    for (auto round : state) {
        static_cast<void>(round);
        benchmark::DoNotOptimize(listener.handle_datagram(TimePoint{1h}, question, kFrom));
    }
}
BENCHMARK(BM_ForgedConclusion);

// The argument is the length of the key; 0 for none.
void BM_SendOnePacket(benchmark::State& state) {
    TimePoint now{1h};
    Connection::Setup setup;
    setup.socket_id = SocketId{5};
    setup.peer_socket_id = SocketId{6};
    setup.began_at = setup.peer_received_at = now;
    setup.peer_capabilities = Capabilities{.flags = 0xBF};
    const auto key_bytes = static_cast<std::size_t>(state.range(0));
    if (key_bytes > 0)
        setup.key = StreamKey{.kek = MUST(derive_key("correct horse battery", {}, key_bytes)),
                              .key = std::vector<std::uint8_t>(key_bytes, 1)};
    Connection connection(now, std::move(setup));
    const Slice payload = Slice::copy_of(std::vector<std::uint8_t>(1'316, 0x47));
    std::vector<std::uint8_t> buffer(kDatagramBytesMax);
    std::uint32_t sent = 0;
    for (auto round : state) {
        static_cast<void>(round);
        now += 5ms;
        static_cast<void>(connection.send(now, payload));
        while (connection.write_next(now, buffer) > 0) {
        }
        if (++sent % 8 == 0) {
            const auto ack = write_ack({.next_sequence = sent, .path = Ack::Path{20'000, 1'000, 8'000}, .rates = {}});
            connection.handle_datagram(now,
                                       write_control({.type = ControlType::ack, .information = sent, .to = SocketId{5}}, ack));
        }
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 1'316);
}
BENCHMARK(BM_SendOnePacket)->Arg(0)->Arg(16)->Arg(32);

}  // namespace
}  // namespace live::engine::srt

BENCHMARK_MAIN();
