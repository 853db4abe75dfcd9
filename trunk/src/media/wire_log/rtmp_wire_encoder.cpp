#include "media/wire_log/rtmp_wire_encoder.hpp"

#include <algorithm>

#include "base/bytes/byte_writer.hpp"
#include "media/ring/data_message.hpp"
#include "media/ring/tag_packet.hpp"
#include "wire/rtmp/chunk_writer.hpp"

namespace live::media {

namespace {

namespace rtmp = wire::rtmp;

// References to smaller chunks cost more than a copy.
constexpr std::uint32_t kSharedChunkMin = 16 << 10;

std::uint32_t chunk_stream_of(MediaKind kind) {
    switch (kind) {
        case MediaKind::audio: return rtmp::kAudioChunkStream;
        case MediaKind::video: return rtmp::kVideoChunkStream;
        case MediaKind::data: break;
    }
    return rtmp::kDataChunkStream;
}

rtmp::MessageType type_of(MediaKind kind) {
    switch (kind) {
        case MediaKind::audio: return rtmp::MessageType::audio;
        case MediaKind::video: return rtmp::MessageType::video;
        case MediaKind::data: break;
    }
    return rtmp::MessageType::amf0_data;
}

void append(std::vector<std::uint8_t>& out, Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

enum class AddBy : std::uint8_t { copy, reference };

// Appends `count` bytes of the header and the payload, from `at` on.
void append_part(SlabLog& log, Bytes header, const Slice& payload, std::size_t at, std::size_t count, AddBy by) {
    const std::size_t in_header = at < header.size() ? std::min(count, header.size() - at) : 0;
    if (in_header > 0)
        log.append(header.subspan(at, in_header));
    if (count == in_header)
        return;
    const std::size_t from = at + in_header - header.size();
    if (by == AddBy::reference)
        log.append_shared(payload.sub(from, count - in_header));
    else
        log.append(payload.bytes().subspan(from, count - in_header));
}

}  // namespace

WireEncoder::Encoded RtmpWireEncoder::encode(const Packet& packet, SlabLog& log) {
    if (packet.codec == Codec::rtp_data)
        return encode(as_data_message(packet, to_ms(packet.dts)), log);
    Track& track = tracks_[index_of(packet.kind)];
    const std::int64_t time_ms = to_ms(packet.dts);
    std::int64_t delta_ms = time_ms - track.last_ms;
    Encoded encoded;
    // Players treat data with a timestamp as a track of its own, so data is at 0 for everybody, which takes a full header.
    const bool is_data = packet.kind == MediaKind::data;
    if (!is_data && (!track.seen || delta_ms < 0 || delta_ms >= rtmp::kExtendedTimestamp)) {
        delta_ms = 0;
        encoded.needs_own_header = true;
    }
    track = {time_ms, true};

    wire::flv::BodyHeader body_header;
    if (packet.needs_body_header())
        body_header = make_body_header(packet);
    const std::size_t size = body_header.size() + packet.payload.size();
    const std::uint32_t chunk_stream = chunk_stream_of(packet.kind);
    const auto length = static_cast<std::uint32_t>(size);
    const auto header =
        is_data ? rtmp::type0_header(chunk_stream, 0, length, type_of(packet.kind), rtmp::kMessageStreamId)
                : rtmp::type1_header(chunk_stream, static_cast<std::uint32_t>(delta_ms), length, type_of(packet.kind));
    encoded.header_bytes = header.size;
    log.append(header.view());
    const bool is_shared = packet.payload.size() >= SlabLog::kSharedMin && chunk_size_ >= kSharedChunkMin;
    for (std::size_t at = 0; at < size; at += chunk_size_) {
        if (at > 0)
            log.append(rtmp::type3_header(chunk_stream).view());
        append_part(log, body_header.view(), packet.payload, at, std::min<std::size_t>(chunk_size_, size - at),
                    is_shared ? AddBy::reference : AddBy::copy);
    }
    return encoded;
}

bool RtmpWireEncoder::append_own_header(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const {
    if (packet.codec == Codec::rtp_data) {
        append_own_message(packet, time_ms, out);
        return false;
    }
    const auto stamp = static_cast<std::uint32_t>(time_ms);
    const std::size_t size = body_header_of(packet).size() + packet.payload.size();
    // An extended timestamp must be repeated in every further chunk of the message, and the shared chunks do not repeat it.
    if (stamp >= rtmp::kExtendedTimestamp && size > chunk_size_) {
        append_own_message(packet, time_ms, out);
        return false;
    }
    append(out, rtmp::type0_header(chunk_stream_of(packet.kind), stamp, static_cast<std::uint32_t>(size), type_of(packet.kind),
                                   rtmp::kMessageStreamId)
                    .view());
    return true;
}

void RtmpWireEncoder::append_own_message(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const {
    if (packet.codec == Codec::rtp_data)
        return append_own_message(as_data_message(packet, time_ms), time_ms, out);
    ByteWriter writer;
    rtmp::write_message(writer, chunk_stream_of(packet.kind), type_of(packet.kind), static_cast<std::uint32_t>(time_ms),
                        rtmp::kMessageStreamId, packet.payload.bytes(), chunk_size_, body_header_of(packet).view());
    append(out, writer.written());
}

std::unique_ptr<WireEncoder> make_rtmp_encoder(const EncoderSetup& setup) {
    return std::make_unique<RtmpWireEncoder>(setup.rtmp_chunk_size);
}

}  // namespace live::media
