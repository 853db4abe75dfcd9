// Arbitrary bytes with arbitrary cuts into both ends of the handshake: no abort, bounded output, and nothing after the handshake
// is consumed.
#include <algorithm>
#include <cstdlib>

#include "engine/rtmp/handshake.hpp"

namespace {

using namespace live::engine::rtmp;

template <class Handshake>
void run(Handshake& handshake, live::ByteWriter& out, live::Bytes input, std::size_t step) {
    std::size_t taken = 0;
    for (std::size_t at = 0; at < input.size(); at += step) {
        live::Bytes piece = input.subspan(at, std::min(step, input.size() - at));
        const std::size_t before = piece.size();
        const auto done = handshake.handle_bytes(live::TimePoint{}, piece, out);
        if (!done.ok())
            return;
        taken += before - piece.size();
        if (taken > 1 + 2 * kHandshakeBlockBytes || (!*done && !piece.empty()))
            std::abort();
        if (*done)
            return;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const live::Bytes all(data, size);
    if (all.size() < 3)
        return 0;
    const std::size_t step = 1U + (static_cast<std::size_t>(all[0]) << 8 | all[1]);
    live::ByteWriter server_out;
    ServerHandshake server(all[2]);
    run(server, server_out, all.subspan(3), step);
    live::ByteWriter client_out;
    ClientHandshake client(all[2], (all[2] & 1) != 0 ? HandshakeForm::complex : HandshakeForm::simple);
    if (!client.start(live::TimePoint{}, client_out).ok())
        std::abort();
    run(client, client_out, all.subspan(3), step);
    if (server_out.size() > 1 + 2 * kHandshakeBlockBytes || client_out.size() > 1 + 2 * kHandshakeBlockBytes)
        std::abort();
    return 0;
}
