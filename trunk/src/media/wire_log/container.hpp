// Container: one format of wire logs, which makes the encoder of a log. Nothing else in media lists the formats: a new container
// is a constant of this type beside its encoder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "media/ring/packet.hpp"
#include "media/wire_log/framing.hpp"
#include "media/wire_log/track_list.hpp"
#include "media/wire_log/wire_log.hpp"

namespace live::media {

// The properties of a log that its encoder may need. The configurations are the newest ones of the stream, without content before
// the first one.
struct EncoderSetup {
    Framing framing = Framing::none;
    MediaKindSet kinds = MediaKindSet::all();
    const Packet& audio_config;
    const Packet& video_config;
    std::uint32_t rtmp_chunk_size = 0;
    // The time of day, since 1970, at the zero of the source's timeline; zero where it is unknown.
    MediaTime unix_at_zero{};
    TrackList list{};
    std::span<const Packet> extra_configs{};  // of tracks that are not the default ones
};

struct Container {
    std::unique_ptr<WireEncoder> (*make_encoder)(const EncoderSetup&);

    bool operator==(const Container&) const = default;

    static const Container rtmp, flv, ts, aac, mp3;
};

std::unique_ptr<WireEncoder> make_rtmp_encoder(const EncoderSetup& setup);
std::unique_ptr<WireEncoder> make_flv_encoder(const EncoderSetup& setup);
std::unique_ptr<WireEncoder> make_ts_encoder(const EncoderSetup& setup);
std::unique_ptr<WireEncoder> make_aac_encoder(const EncoderSetup& setup);
std::unique_ptr<WireEncoder> make_mp3_encoder(const EncoderSetup& setup);

inline constexpr Container Container::rtmp{make_rtmp_encoder};
inline constexpr Container Container::flv{make_flv_encoder};
inline constexpr Container Container::ts{make_ts_encoder};
inline constexpr Container Container::aac{make_aac_encoder};
inline constexpr Container Container::mp3{make_mp3_encoder};

}  // namespace live::media
