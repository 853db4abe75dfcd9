// AudioWireEncoder: audio only, for .aac and .mp3 players: ADTS frames, or MP3 frames unchanged. Everything else is dropped.
#pragma once

#include <optional>
#include <vector>

#include "media/wire_log/container.hpp"
#include "media/wire_log/framing.hpp"
#include "media/wire_log/wire_log.hpp"
#include "wire/codec/audio/aac.hpp"

namespace live::media {

class AudioWireEncoder final : public WireEncoder {
public:
    // `codec` is aac or mp3; `config` is the newest audio configuration of the stream, with no codec if there is none.
    AudioWireEncoder(Framing framing, Codec codec, const Packet& config);

    WireTimes times() const override { return WireTimes::shared; }
    Encoded encode(const Packet& packet, SlabLog& log) override;
    bool append_own_header(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const override;
    void append_own_message(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const override;

private:
    void set_config(const Packet& config);
    void append_frame(Bytes header, Bytes frame, SlabLog& log) const;

    Framing framing_;
    Codec codec_;
    std::optional<wire::codec::AudioSpecificConfig> aac_;  // parsed: each frame gets a header made from it
};

}  // namespace live::media
