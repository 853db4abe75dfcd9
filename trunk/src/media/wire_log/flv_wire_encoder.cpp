#include "media/wire_log/flv_wire_encoder.hpp"

#include "base/bytes/byte_writer.hpp"
#include "base/check.hpp"
#include "media/ring/data_message.hpp"
#include "media/ring/tag_packet.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::media {

namespace {

namespace flv = wire::flv;

flv::TagType type_of(MediaKind kind) {
    switch (kind) {
        case MediaKind::audio: return flv::TagType::audio;
        case MediaKind::video: return flv::TagType::video;
        case MediaKind::data: break;
    }
    return flv::TagType::script;
}

// Calls `append` with the framing and the tag header of a body of `size` bytes.
template <class Append>
std::uint8_t write_head(Framing framing, const Packet& packet, std::size_t size, std::int64_t time_ms, Append&& append) {
    const auto head = frame_head(framing, flv::kTagHeaderBytes + size + flv::kTagSizeBytes);
    append(head.view());
    append(Bytes(
        flv::tag_header_bytes({type_of(packet.kind), static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(time_ms)})));
    return head.size;
}

// Calls `append` with everything after the body.
template <class Append>
void write_end(Framing framing, std::size_t size, Append&& append) {
    append(Bytes(flv::tag_size_bytes(size)));
    append(frame_end(framing));
}

bool is_shared(const Packet& packet) { return packet.payload.size() >= SlabLog::kSharedMin; }

}  // namespace

WireEncoder::Encoded FlvWireEncoder::encode(const Packet& packet, SlabLog& log) {
    if (packet.codec == Codec::rtp_data)
        return encode(as_data_message(packet, to_ms(packet.dts)), log);
    if (!kinds_.has(packet.kind))
        return {};
    const auto append = [&log](Bytes bytes) { log.append(bytes); };
    flv::BodyHeader body_header;
    if (packet.needs_body_header())
        body_header = make_body_header(packet);
    const std::size_t size = body_header.size() + packet.payload.size();
    const std::uint8_t head = write_head(framing_, packet, size, to_ms(packet.dts), append);
    append(body_header.view());
    if (is_shared(packet))
        log.append_shared(packet.payload);
    else
        append(packet.payload.bytes());
    write_end(framing_, size, append);
    return {head, false};
}

bool FlvWireEncoder::append_own_header(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const {
    if (!kinds_.has(packet.kind) || !is_shared(packet) || packet.codec == Codec::rtp_data) {
        append_own_message(packet, time_ms, out);
        return false;
    }
    const std::size_t size = body_header_of(packet).size() + packet.payload.size();
    write_head(framing_, packet, size, time_ms, [&out](Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); });
    return true;
}

void FlvWireEncoder::append_own_message(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const {
    if (packet.codec == Codec::rtp_data)
        return append_own_message(as_data_message(packet, time_ms), time_ms, out);
    if (!kinds_.has(packet.kind))
        return;
    const auto append = [&out](Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
    const flv::BodyHeader body_header = body_header_of(packet);
    const std::size_t size = body_header.size() + packet.payload.size();
    write_head(framing_, packet, size, time_ms, append);
    append(body_header.view());
    append(packet.payload.bytes());
    write_end(framing_, size, append);
}

std::size_t FlvWireEncoder::stamped_bytes() const { return flv::kTagHeaderBytes; }

void FlvWireEncoder::stamp(MutBytes message, std::int64_t time_ms) const {
    constexpr std::size_t kTimeAt = 4;  // after type and size: the low 24 bits, then the high 8
    CHECK(message.size() >= flv::kTagHeaderBytes);
    const auto time = static_cast<std::uint32_t>(time_ms);
    message[kTimeAt] = static_cast<std::uint8_t>(time >> 16);
    message[kTimeAt + 1] = static_cast<std::uint8_t>(time >> 8);
    message[kTimeAt + 2] = static_cast<std::uint8_t>(time);
    message[kTimeAt + 3] = static_cast<std::uint8_t>(time >> 24);
}

std::vector<std::uint8_t> flv_file_head(Framing framing, MediaKindSet kinds) {
    ByteWriter writer;
    flv::write_file_header(writer, {kinds.has(MediaKind::audio), kinds.has(MediaKind::video)});
    std::vector<std::uint8_t> out;
    append_framed(framing, writer.written(), out);
    return out;
}

std::unique_ptr<WireEncoder> make_flv_encoder(const EncoderSetup& setup) {
    return std::make_unique<FlvWireEncoder>(setup.framing, setup.kinds);
}

}  // namespace live::media
