// Any bytes, cut anywhere: the skipper never aborts, the result does not depend on the cut, and wire/rtmp's reader, which keeps
// payload, reads the same messages. The first two bytes choose the cut.
#include <cstdlib>
#include <variant>
#include <vector>

#include "bench/rtmp/chunk_skipper.hpp"
#include "wire/rtmp/chunk_reader.hpp"
#include "wire/rtmp/control_message.hpp"

namespace {

using live::Bytes;
using live::bench::ChunkSkipper;
using live::wire::rtmp::ChunkReader;

struct Trace {
    std::vector<std::uint32_t> numbers;
    bool failed = false;

    void add(live::wire::rtmp::MessageType type, std::uint32_t timestamp_ms, std::size_t length) {
        numbers.push_back(static_cast<std::uint32_t>(type));
        numbers.push_back(timestamp_ms);
        numbers.push_back(static_cast<std::uint32_t>(length));
    }
};

void skip(ChunkSkipper& skipper, Bytes input, Trace& trace) {
    while (!trace.failed) {
        const auto message = skipper.read(input);
        trace.failed = !message.ok();
        if (trace.failed || !message->has_value())
            return;
        trace.add((*message)->type, (*message)->timestamp_ms, (*message)->length);
    }
}

// Applies what the skipper applies by itself: chunk sizes and aborts.
bool obey(ChunkReader& reader, const live::wire::rtmp::Message& message) {
    using live::wire::rtmp::MessageType;
    if (message.type != MessageType::set_chunk_size && message.type != MessageType::abort)
        return true;
    const auto control = live::wire::rtmp::parse_control(message.type, message.payload.bytes());
    if (!control.ok())
        return false;
    if (const auto* size = std::get_if<live::wire::rtmp::SetChunkSize>(&*control))
        reader.set_chunk_size(size->bytes);
    if (const auto* abort = std::get_if<live::wire::rtmp::Abort>(&*control))
        reader.abort(abort->chunk_stream);
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes all(data, size);
    if (all.size() < 2)
        return 0;
    const std::size_t step = 1U + (static_cast<std::size_t>(all[0]) << 8 | all[1]);
    const Bytes input = all.subspan(2);
    ChunkSkipper whole_skipper;
    ChunkSkipper cut_skipper;
    Trace whole;
    Trace cut;
    skip(whole_skipper, input, whole);
    for (std::size_t at = 0; at < input.size(); at += step)
        skip(cut_skipper, input.subspan(at, std::min(step, input.size() - at)), cut);
    if (whole.failed != cut.failed || whole.numbers != cut.numbers)
        std::abort();

    // The reader has its own bounds for stored data; where it stops, the skipper may go on.
    ChunkReader reader({.message_bytes = 1 << 16, .pending_bytes = 1 << 18, .chunk_streams = ChunkSkipper::kChunkStreamsMax});
    Trace kept;
    Bytes rest = input;
    while (!kept.failed) {
        const auto message = reader.read(rest);
        kept.failed = !message.ok();
        if (kept.failed || !message->has_value())
            break;
        kept.add((*message)->type, (*message)->timestamp_ms, (*message)->payload.size());
        if (!obey(reader, **message)) {
            kept.failed = true;
            kept.numbers.resize(kept.numbers.size() - 3);
        }
    }
    const std::size_t common = std::min(kept.numbers.size(), whole.numbers.size());
    if (!std::equal(kept.numbers.begin(), kept.numbers.begin() + static_cast<std::ptrdiff_t>(common), whole.numbers.begin()))
        std::abort();
    return 0;
}
