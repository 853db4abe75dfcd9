#include "wire/rtmp/chunk_writer.hpp"

#include <algorithm>

namespace live::wire::rtmp {
namespace {

// Fills a HeaderBytes from the front. The sizes are fixed, so nothing here can exceed 18 bytes.
class HeaderWriter {
public:
    // RTMP 1.0, section 5.3.1.1: IDs 2..63 in the first byte, 64..319 in one more, up to 65599 in two more, low byte first.
    HeaderWriter(std::uint8_t format, std::uint32_t chunk_stream) {
        CHECK(chunk_stream >= 2 && chunk_stream <= kChunkStreamIdMax);
        const unsigned top = static_cast<unsigned>(format) << 6;
        if (chunk_stream < 64) {
            put(top | chunk_stream);
        } else if (chunk_stream < 320) {
            put(top);
            put(chunk_stream - 64);
        } else {
            put(top | 1);
            put((chunk_stream - 64) & 0xFF);
            put((chunk_stream - 64) >> 8);
        }
    }
    void u24be(std::uint32_t value) {
        put(value >> 16);
        put(value >> 8);
        put(value);
    }
    void u32be(std::uint32_t value) {
        put(value >> 24);
        u24be(value);
    }
    void u32le(std::uint32_t value) { u32be(__builtin_bswap32(value)); }
    void type(MessageType value) { put(static_cast<std::uint32_t>(value)); }
    HeaderBytes done() const { return header_; }

private:
    void put(std::uint32_t value) { header_.bytes[header_.size++] = static_cast<std::uint8_t>(value); }

    HeaderBytes header_;
};

// Writes `count` bytes of the two ranges, from `at` on.
void write_part(ByteWriter& out, Bytes header, Bytes payload, std::size_t at, std::size_t count) {
    const std::size_t in_header = at < header.size() ? std::min(count, header.size() - at) : 0;
    if (in_header > 0)
        out.bytes(header.subspan(at, in_header));
    if (count > in_header)
        out.bytes(payload.subspan(at + in_header - header.size(), count - in_header));
}

}  // namespace

HeaderBytes type0_header(std::uint32_t chunk_stream, std::uint32_t timestamp_ms, std::uint32_t length, MessageType type,
                         std::uint32_t stream_id) {
    CHECK(length <= kMessageLengthMax);
    HeaderWriter out(0, chunk_stream);
    out.u24be(std::min(timestamp_ms, kExtendedTimestamp));
    out.u24be(length);
    out.type(type);
    // The format's only little-endian number (RTMP 1.0, section 5.3.1.2.1).
    out.u32le(stream_id);
    if (timestamp_ms >= kExtendedTimestamp)
        out.u32be(timestamp_ms);
    return out.done();
}

HeaderBytes type1_header(std::uint32_t chunk_stream, std::uint32_t delta_ms, std::uint32_t length, MessageType type) {
    CHECK(length <= kMessageLengthMax && delta_ms < kExtendedTimestamp);
    HeaderWriter out(1, chunk_stream);
    out.u24be(delta_ms);
    out.u24be(length);
    out.type(type);
    return out.done();
}

HeaderBytes type3_header(std::uint32_t chunk_stream, std::optional<std::uint32_t> extended_ms) {
    HeaderWriter out(3, chunk_stream);
    if (extended_ms.has_value())
        out.u32be(*extended_ms);
    return out.done();
}

std::size_t write_message(ByteWriter& out, std::uint32_t chunk_stream, MessageType type, std::uint32_t timestamp_ms,
                          std::uint32_t stream_id, Bytes payload, std::uint32_t chunk_size, Bytes payload_header) {
    const std::size_t size = payload_header.size() + payload.size();
    CHECK(chunk_size > 0 && size <= kMessageLengthMax);
    const std::size_t before = out.size();
    out.bytes(type0_header(chunk_stream, timestamp_ms, static_cast<std::uint32_t>(size), type, stream_id).view());
    write_part(out, payload_header, payload, 0, std::min<std::size_t>(size, chunk_size));

    std::optional<std::uint32_t> extended_ms;
    if (timestamp_ms >= kExtendedTimestamp)
        extended_ms = timestamp_ms;
    const HeaderBytes again = type3_header(chunk_stream, extended_ms);
    for (std::size_t at = chunk_size; at < size; at += chunk_size) {
        out.bytes(again.view());
        write_part(out, payload_header, payload, at, std::min<std::size_t>(size - at, chunk_size));
    }
    return out.size() - before;
}

}  // namespace live::wire::rtmp
