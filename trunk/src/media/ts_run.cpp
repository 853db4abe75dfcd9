#include "media/ts_run.hpp"

namespace live::media {

namespace {

constexpr std::size_t kKeptBytes = 64 * 1024;

}  // namespace

TsRunEncoder::TsRunEncoder(Framing framing, const Slice& audio, const Slice& video) : framing_(framing) {
    // A header that cannot be carried costs the run that kind, as it does later on.
    if (!audio.empty())
        static_cast<void>(converter_.push_audio({}, audio.bytes(), packets_));
    if (!video.empty())
        static_cast<void>(converter_.push_video({}, video.bytes(), packets_));
    packets_.clear();
}

RunEncoder::Encoded TsRunEncoder::encode(const Packet& packet, SlabLog& log) {
    packets_.clear();
    const Bytes body = packet.payload.bytes();
    if (packet.kind == Kind::video)
        static_cast<void>(converter_.push_video(packet.dts, body, packets_));
    else if (packet.kind == Kind::audio)
        static_cast<void>(converter_.push_audio(packet.dts, body, packets_));
    if (packets_.empty())
        return {};
    log.append(frame_head(framing_, packets_.size()).view());
    log.append(packets_);
    log.append(frame_end(framing_));
    if (packets_.capacity() > kKeptBytes)
        packets_ = {};
    return {};
}

bool TsRunEncoder::append_own_header(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const { return false; }

void TsRunEncoder::append_own_message(const Packet& packet, std::int64_t, std::vector<std::uint8_t>& out) const {
    const Kind first = converter_.tracks().video ? Kind::video : Kind::audio;
    if (!packet.config || packet.kind != first)
        return;
    std::vector<std::uint8_t> tables;
    converter_.repeat_tables(tables);
    append_framed(framing_, tables, out);
}

}  // namespace live::media
