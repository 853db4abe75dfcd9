// Arbitrary bytes, split anywhere, at any chunk size: the reader never aborts, and the split never changes the result. The first
// three bytes choose the chunk size and the split.
#include <cstdlib>
#include <vector>

#include "wire/rtmp/chunk_reader.hpp"

namespace {

using live::Bytes;
using live::wire::rtmp::ChunkReader;
using live::wire::rtmp::Message;

struct Trace {
    std::vector<std::uint8_t> bytes;
    bool failed = false;
};

void feed(ChunkReader& reader, Bytes input, Trace& trace) {
    while (!trace.failed) {
        auto message = reader.read(input);
        trace.failed = !message.ok();
        if (trace.failed || !message->has_value())
            return;
        const Message& got = **message;
        trace.bytes.push_back(static_cast<std::uint8_t>(got.type));
        trace.bytes.push_back(static_cast<std::uint8_t>(got.timestamp_ms));
        trace.bytes.insert(trace.bytes.end(), got.payload.bytes().begin(), got.payload.bytes().end());
        if (got.type == live::wire::rtmp::MessageType::abort && !got.payload.empty())
            reader.abort(got.payload.bytes()[0]);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes all(data, size);
    if (all.size() < 3)
        return 0;
    const std::uint32_t chunk_size = 1U + all[0];
    const std::size_t step = 1U + (static_cast<std::size_t>(all[1]) << 8 | all[2]);
    const Bytes input = all.subspan(3);
    const ChunkReader::Limits limits{.message_bytes = 4096, .pending_bytes = 8192, .chunk_streams = 8};

    ChunkReader whole_reader(limits);
    ChunkReader cut_reader(limits);
    whole_reader.set_chunk_size(chunk_size);
    cut_reader.set_chunk_size(chunk_size);
    Trace whole;
    Trace cut;
    feed(whole_reader, input, whole);
    for (std::size_t at = 0; at < input.size(); at += step)
        feed(cut_reader, input.subspan(at, std::min(step, input.size() - at)), cut);
    if (whole.failed != cut.failed || whole.bytes != cut.bytes)
        std::abort();
    return 0;
}
