#include "media/wire_log/rtmp_wire_encoder.hpp"

#include <algorithm>

#include "base/bytes/byte_writer.hpp"
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

}  // namespace

WireEncoder::Encoded RtmpWireEncoder::encode(const Packet& packet, SlabLog& log) {
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

    const Bytes payload = packet.payload.bytes();
    const std::uint32_t chunk_stream = chunk_stream_of(packet.kind);
    const auto length = static_cast<std::uint32_t>(payload.size());
    const auto header =
        is_data ? rtmp::type0_header(chunk_stream, 0, length, type_of(packet.kind), rtmp::kMessageStreamId)
                : rtmp::type1_header(chunk_stream, static_cast<std::uint32_t>(delta_ms), length, type_of(packet.kind));
    encoded.header_bytes = header.size;
    log.append(header.view());
    const bool is_shared = payload.size() >= SlabLog::kSharedMin && chunk_size_ >= kSharedChunkMin;
    for (std::size_t at = 0; at < payload.size(); at += chunk_size_) {
        if (at > 0)
            log.append(rtmp::type3_header(chunk_stream).view());
        const auto count = std::min<std::size_t>(chunk_size_, payload.size() - at);
        if (is_shared)
            log.append_shared(packet.payload.sub(at, count));
        else
            log.append(payload.subspan(at, count));
    }
    return encoded;
}

bool RtmpWireEncoder::append_own_header(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const {
    const auto stamp = static_cast<std::uint32_t>(time_ms);
    // An extended timestamp must be repeated in every further chunk of the message, and the shared chunks do not repeat it.
    if (stamp >= rtmp::kExtendedTimestamp && packet.payload.size() > chunk_size_) {
        append_own_message(packet, time_ms, out);
        return false;
    }
    append(out, rtmp::type0_header(chunk_stream_of(packet.kind), stamp, static_cast<std::uint32_t>(packet.payload.size()),
                                   type_of(packet.kind), rtmp::kMessageStreamId)
                    .view());
    return true;
}

void RtmpWireEncoder::append_own_message(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const {
    ByteWriter writer;
    rtmp::write_message(writer, chunk_stream_of(packet.kind), type_of(packet.kind), static_cast<std::uint32_t>(time_ms),
                        rtmp::kMessageStreamId, packet.payload.bytes(), chunk_size_);
    append(out, writer.written());
}

}  // namespace live::media
