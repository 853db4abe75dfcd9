// Arbitrary payloads as any control message; a message that parses must write and read back the same.
#include <cstdlib>

#include "wire/rtmp/chunk_reader.hpp"
#include "wire/rtmp/control_message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::wire::rtmp;
    const live::Bytes input(data, size);
    if (input.empty())
        return 0;
    const auto parsed = parse_control(static_cast<MessageType>(input[0]), input.subspan(1));
    if (!parsed.ok())
        return 0;
    live::ByteWriter out;
    write_control(out, *parsed);
    live::Bytes written = out.written();
    ChunkReader reader;
    const auto message = reader.read(written);
    if (!message.ok() || !message->has_value())
        std::abort();
    const auto again = parse_control((*message)->type, (*message)->payload.bytes());
    if (!again.ok() || *again != *parsed)
        std::abort();
    return 0;
}
