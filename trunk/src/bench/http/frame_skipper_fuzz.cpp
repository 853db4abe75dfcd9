// Any bytes as the output of a WebSocket server: no abort, and the result does not depend on how the bytes are cut. The first
// byte gives the cut.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "bench/http/frame_skipper.hpp"

namespace {

using live::Bytes;
using live::bench::FrameSkipper;

struct Outcome {
    std::string data;
    std::string controls;
    bool ok = true;

    bool operator==(const Outcome&) const = default;
};

Outcome read_all(Bytes input, std::size_t portion) {
    Outcome outcome;
    FrameSkipper skipper;
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        for (;;) {
            const auto piece = skipper.read(part);
            outcome.ok = piece.ok();
            if (!piece.ok())
                return outcome;
            if (!*piece)
                break;
            (live::engine::websocket::is_control((*piece)->opcode) ? outcome.controls : outcome.data) +=
                live::as_text((*piece)->payload);
        }
    }
    return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const Bytes input(data + 1, size - 1);
    if (!(read_all(input, size) == read_all(input, std::size_t{data[0]} + 1)))
        std::abort();
    return 0;
}
