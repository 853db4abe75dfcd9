#include "media/ts_wire_encoder.hpp"

namespace live::media {

namespace {

constexpr std::size_t kKeptBytes = 64 * 1024;

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
    if (packet.kind == Kind::video)
        static_cast<void>(converter_.push_video(frame_of(packet), packets_));
    else if (packet.kind == Kind::audio)
        static_cast<void>(converter_.push_audio(frame_of(packet), packets_));
}

WireEncoder::Encoded TsWireEncoder::encode(const Packet& packet, SlabLog& log) {
    packets_.clear();
    convert(packet);
    if (packets_.empty())
        return {};
    log.append(frame_head(framing_, packets_.size()).view());
    log.append(packets_);
    log.append(frame_end(framing_));
    if (packets_.capacity() > kKeptBytes)
        packets_ = {};
    return {};
}

bool TsWireEncoder::append_own_header(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const { return false; }

void TsWireEncoder::append_own_message(const Packet& packet, std::int64_t, std::vector<std::uint8_t>& out) const {
    const Kind first = converter_.tracks().video ? Kind::video : Kind::audio;
    if (!packet.is_config() || packet.extra || packet.kind != first)
        return;
    std::vector<std::uint8_t> tables;
    converter_.repeat_tables(tables);
    append_framed(framing_, tables, out);
}

}  // namespace live::media
