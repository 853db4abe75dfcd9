#include "media/wire_log/ts_wire_encoder.hpp"

#include <algorithm>
#include <utility>

#include "media/ring/timed_event.hpp"
#include "wire/ts/clock.hpp"

namespace live::media {

namespace {

constexpr std::size_t kKeptBytes = 64 * 1024;
constexpr std::size_t kPieceBytes = kKeptBytes / wire::ts::kPacketBytes * wire::ts::kPacketBytes;

// Whether transport packets begin with the program association table.
bool begin_with_tables(Bytes packets) { return packets.size() >= 3 && (packets[1] & 0x1FU) == 0 && packets[2] == 0; }

}  // namespace

TsWireEncoder::TsWireEncoder(Framing framing, const Packet& audio, const Packet& video) : framing_(framing) {
    convert(audio);
    convert(video);
    packets_.clear();
}

// A kind that cannot be carried is missing from the log.
void TsWireEncoder::convert(const Packet& packet) {
    if (packet.extra)
        return;
    if (packet.kind == MediaKind::video)
        static_cast<void>(converter_.push_video(frame_of(packet), packets_));
    else if (packet.kind == MediaKind::audio)
        static_cast<void>(converter_.push_audio(frame_of(packet), packets_));
    else if (const auto event = read_timed_event(packet))
        convert(*event, packet.dts);
}

void TsWireEncoder::convert(const TimedEvent& event, MediaTime now) {
    if (event.kind == TimedEvent::Kind::id3)
        converter_.push_id3(event.at, event.data.bytes(), packets_);
    if (event.kind == TimedEvent::Kind::splice)
        converter_.push_splice(now, section_for(event, wire::ts::ticks_of(event.at + wire::ts::Muxer::kDecodeDelay)), packets_);
}

bool TsWireEncoder::is_slow(const Packet& packet) const {
    return packet.kind == MediaKind::video && !packet.extra && WireEncoder::is_slow(packet);
}

WireEncoder::Encoded TsWireEncoder::encode(const Packet& packet, SlabLog& log) {
    if (is_slow(packet)) {
        while (!prepare(packet, packet.payload.size())) {
        }
        Encoded encoded;
        if (large_) {
            encoded.has_introduction = begin_with_tables(large_->packed.bytes());
            log.append(frame_head(framing_, large_->packed.size()).view());
            log.append_owned(std::move(large_->packed));
            log.append(frame_end(framing_));
        }
        large_.reset();
        return encoded;
    }
    packets_.clear();
    convert(packet);
    if (packets_.empty())
        return {};
    log.append(frame_head(framing_, packets_.size()).view());
    log.append(packets_);
    log.append(frame_end(framing_));
    const Encoded encoded{.has_introduction = begin_with_tables(packets_)};
    if (packets_.capacity() > kKeptBytes)
        packets_ = {};
    return encoded;
}

bool TsWireEncoder::prepare(const Packet& packet, std::size_t bytes) {
    // `large_` may belong to an earlier packet that was dropped before it was encoded.
    if (!large_ || large_->payload.data() != packet.payload.data())
        begin_large(packet);
    for (std::size_t done = 0; large_ && large_->filled < large_->packed.size(); done += kPieceBytes) {
        if (done >= bytes)
            return false;
        packets_.clear();
        converter_.continue_video(kPieceBytes / wire::ts::kPacketBytes, packets_);
        fill_large();
    }
    return true;
}

void TsWireEncoder::begin_large(const Packet& packet) {
    large_.reset();
    packets_.clear();
    // A frame that cannot be carried is missing from the log.
    static_cast<void>(converter_.begin_video(frame_of(packet), 1, packets_));
    if (packets_.empty())
        return;
    const std::size_t size = packets_.size() + converter_.packets_left() * wire::ts::kPacketBytes;
    large_.emplace(packet.payload, Slice::allocate(size));
    fill_large();
}

void TsWireEncoder::fill_large() {
    copy_bytes(packets_, large_->packed.mutable_bytes().subspan(large_->filled));
    large_->filled += packets_.size();
}

bool TsWireEncoder::append_own_header(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const { return false; }

void TsWireEncoder::append_own_message(const Packet& packet, std::int64_t, std::vector<std::uint8_t>& out) const {
    const MediaKind first = converter_.tracks().video ? MediaKind::video : MediaKind::audio;
    if (!packet.is_config() || packet.extra || packet.kind != first)
        return;
    std::vector<std::uint8_t> tables;
    converter_.repeat_tables(tables);
    append_framed(framing_, tables, out);
}

std::unique_ptr<WireEncoder> make_ts_encoder(const EncoderSetup& setup) {
    return std::make_unique<TsWireEncoder>(setup.framing, setup.audio_config, setup.video_config);
}

}  // namespace live::media
