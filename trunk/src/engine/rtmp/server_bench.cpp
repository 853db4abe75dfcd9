// The whole engine on the publisher's hot path: bytes in, media out, with 4096-byte chunks as sent by ffmpeg and OBS.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "engine/rtmp/server.hpp"
#include "wire/rtmp/chunk_writer.hpp"
#include "wire/rtmp/control_message.hpp"

namespace live::engine::rtmp {
namespace {

using wire::amf::Value;
using wire::rtmp::MessageType;

constexpr std::uint32_t kChunkSize = 4096;
constexpr std::size_t kMessages = 68;

void call(ByteWriter& out, std::string_view name, std::initializer_list<Value> values) {
    wire::rtmp::write_message(out, 3, MessageType::amf0_command, 0, 1, write_command(name, 1, values), kChunkSize);
}

bool start_publish(Server& server) {
    ByteWriter out;
    out.u8(3).zeros(2 * kHandshakeBlockBytes);
    wire::rtmp::write_control(out, wire::rtmp::SetChunkSize{kChunkSize});
    call(out, "connect", {Value::object({{"tcUrl", "rtmp://h/live"}})});
    call(out, "publish", {Value::null(), "cam"});
    return server.handle_bytes(TimePoint{}, out.written()).ok() && server.poll_event() && server.accept_connect().ok() &&
           server.poll_event() && server.accept_publish().ok();
}

void publish(benchmark::State& state) {
    Server server({}, 1);
    if (!start_publish(server)) {
        state.SkipWithError("the publish did not start");
        return;
    }
    ByteWriter stream;
    const std::vector<std::uint8_t> body(20'000, 0x5A);
    for (std::uint32_t i = 0; i < kMessages; ++i) {
        const bool is_video = i % 3 == 0;
        const std::size_t size = i == 0 ? 20'000 : is_video ? 1'700 : 190;
        wire::rtmp::write_message(stream, is_video ? 6 : 4, is_video ? MessageType::video : MessageType::audio, i * 15, 1,
                                  Bytes(body).first(size), kChunkSize);
    }
    std::size_t messages = 0;
    for ([[maybe_unused]] auto turn : state) {
        for (Bytes rest = stream.written(); !rest.empty();) {
            const Bytes input = rest.first(std::min<std::size_t>(rest.size(), 16 << 10));
            rest = rest.subspan(input.size());
            if (!server.handle_bytes(TimePoint{}, input).ok())
                state.SkipWithError("refused");
            messages += server.take_media().size();
        }
    }
    if (messages != static_cast<std::size_t>(state.iterations()) * kMessages)
        state.SkipWithError("messages were lost");
    state.SetItemsProcessed(static_cast<std::int64_t>(messages));
}
BENCHMARK(publish);

}  // namespace
}  // namespace live::engine::rtmp

BENCHMARK_MAIN();
