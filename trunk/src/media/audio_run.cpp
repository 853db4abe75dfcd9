#include "media/audio_run.hpp"

#include "wire/codec/adts.hpp"
#include "wire/flv/audio_tag.hpp"

namespace live::media {

namespace flv = wire::flv;

namespace {

std::optional<wire::codec::AudioSpecificConfig> read_config(const flv::AudioTag& tag) {
    auto config = wire::codec::parse_aac_config(tag.body);
    return config.ok() ? std::optional(*std::move(config)) : std::nullopt;
}

}  // namespace

AudioRunEncoder::AudioRunEncoder(Framing framing, flv::AudioCodec codec, const Slice& config) : framing_(framing), codec_(codec) {
    if (const auto tag = flv::parse_audio_tag(config.bytes()); codec == flv::AudioCodec::aac && tag.ok() && tag->codec == codec)
        aac_ = read_config(*tag);
}

RunEncoder::Encoded AudioRunEncoder::encode(const Packet& packet, SlabLog& log) {
    if (packet.kind != Kind::audio)
        return {};
    const auto tag = flv::parse_audio_tag(packet.payload.bytes());
    if (!tag.ok() || tag->codec != codec_)
        return {};
    if (tag->kind == flv::PacketKind::sequence_header && codec_ == flv::AudioCodec::aac) {
        aac_ = read_config(*tag);
    } else if (tag->kind == flv::PacketKind::frames && !tag->body.empty()) {
        if (codec_ == flv::AudioCodec::mp3) {
            append_frame({}, tag->body, log);
        } else if (aac_) {
            if (const auto header = wire::codec::adts_header(*aac_, tag->body.size()); header.ok())
                append_frame(*header, tag->body, log);
        }
    }
    return {};
}

void AudioRunEncoder::append_frame(Bytes header, Bytes frame, SlabLog& log) const {
    log.append(frame_head(framing_, header.size() + frame.size()).view());
    log.append(header);
    log.append(frame);
    log.append(frame_end(framing_));
}

bool AudioRunEncoder::append_own_header(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const { return false; }

void AudioRunEncoder::append_own_message(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const {}

}  // namespace live::media
