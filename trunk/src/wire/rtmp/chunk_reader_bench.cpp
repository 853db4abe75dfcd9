// Chunk reading: the publisher's hot path. The stream resembles a 500 kbit/s encoder (per second 43 audio messages of 190 bytes,
// 25 video messages of 1,700 bytes, and a key frame of 20,000), split at the chunk size in the benchmark's argument and delivered
// in reads of 16 KiB. The result is messages per second on one core; 1,000 such streams are 68,000.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "wire/rtmp/chunk_reader.hpp"
#include "wire/rtmp/chunk_writer.hpp"

namespace live::wire::rtmp {
namespace {

constexpr std::size_t kMessages = 68;

std::vector<std::uint8_t> second_of_stream(std::uint32_t chunk_size) {
    ByteWriter out;
    const std::vector<std::uint8_t> body(20'000, 0x5A);
    for (std::uint32_t i = 0; i < kMessages; ++i) {
        const bool is_video = i % 68 * 25 / 68 != (i + 1) % 68 * 25 / 68;
        const std::size_t size = i == 0 ? 20'000 : is_video ? 1'700 : 190;
        write_message(out, is_video ? kVideoChunkStream : kAudioChunkStream, is_video ? MessageType::video : MessageType::audio,
                      i * 15, 1, Bytes(body).first(size), chunk_size);
    }
    return out.release();
}

void read_chunks(benchmark::State& state) {
    const auto chunk_size = static_cast<std::uint32_t>(state.range(0));
    const std::vector<std::uint8_t> stream = second_of_stream(chunk_size);
    ChunkReader reader;
    reader.set_chunk_size(chunk_size);
    std::size_t messages = 0;
    for ([[maybe_unused]] auto turn : state) {
        for (Bytes rest(stream); !rest.empty();) {
            Bytes input = rest.first(std::min<std::size_t>(rest.size(), 16 << 10));
            rest = rest.subspan(input.size());
            for (;;) {
                auto message = reader.read(input);
                if (!message.ok() || !message->has_value())
                    break;
                benchmark::DoNotOptimize((*message)->payload.data());
                ++messages;
            }
        }
    }
    if (messages != static_cast<std::size_t>(state.iterations()) * kMessages)
        state.SkipWithError("messages were lost");
    state.SetItemsProcessed(static_cast<std::int64_t>(messages));
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(stream.size()));
}
BENCHMARK(read_chunks)->Arg(128)->Arg(4096)->Arg(60'000);

}  // namespace
}  // namespace live::wire::rtmp

BENCHMARK_MAIN();
