#include "media/wire_log/audio_wire_encoder.hpp"

#include "wire/codec/audio/adts.hpp"

namespace live::media {

AudioWireEncoder::AudioWireEncoder(Framing framing, Codec codec, const Packet& config) : framing_(framing), codec_(codec) {
    if (config.codec == codec)
        set_config(config);
}

void AudioWireEncoder::set_config(const Packet& config) {
    auto aac = wire::codec::parse_aac_config(config.frame());
    aac_ = aac.ok() ? std::optional(*std::move(aac)) : std::nullopt;
}

WireEncoder::Encoded AudioWireEncoder::encode(const Packet& packet, SlabLog& log) {
    if (packet.kind != MediaKind::audio || packet.extra || packet.codec != codec_)
        return {};
    const Bytes frame = packet.frame();
    if (packet.is_config() && codec_ == Codec::aac) {
        set_config(packet);
    } else if (packet.content == Content::frame && !frame.empty()) {
        if (codec_ == Codec::mp3) {
            append_frame({}, frame, log);
        } else if (aac_) {
            if (const auto header = wire::codec::adts_header(*aac_, frame.size()); header.ok())
                append_frame(*header, frame, log);
        }
    }
    return {};
}

void AudioWireEncoder::append_frame(Bytes header, Bytes frame, SlabLog& log) const {
    log.append(frame_head(framing_, header.size() + frame.size()).view());
    log.append(header);
    log.append(frame);
    log.append(frame_end(framing_));
}

bool AudioWireEncoder::append_own_header(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const { return false; }

void AudioWireEncoder::append_own_message(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const {}

std::unique_ptr<WireEncoder> make_aac_encoder(const EncoderSetup& setup) {
    return std::make_unique<AudioWireEncoder>(setup.framing, Codec::aac, setup.audio_config);
}

std::unique_ptr<WireEncoder> make_mp3_encoder(const EncoderSetup& setup) {
    return std::make_unique<AudioWireEncoder>(setup.framing, Codec::mp3, setup.audio_config);
}

}  // namespace live::media
