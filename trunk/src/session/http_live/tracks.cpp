#include "session/http_live/tracks.hpp"

#include <algorithm>
#include <string>

#include "session/http_live/live_format.hpp"

namespace live::session::http_live {

namespace {

using media::Codec;

std::optional<Codec> codec_in(const media::Packet& packet) {
    return packet.codec != Codec::none ? std::optional(packet.codec) : std::nullopt;
}

// Returns the codec of the newest audio still in the ring, otherwise of the newest sequence header. None when a GOP has just
// begun without any, and the codec has no header.
std::optional<Codec> codec_of(const media::Source& source) {
    const media::Ring& ring = source.ring();
    const media::Sequence end = ring.next() - std::min(kLookBack, ring.next() - ring.first());
    for (media::Sequence at = ring.next(); at > end; --at)
        if (const media::Packet& packet = ring.at(at - 1); packet.kind == MediaKind::audio && !packet.extra)
            if (const auto codec = codec_in(packet))
                return codec;
    return codec_in(source.tracks().config(MediaKind::audio));
}

}  // namespace

std::optional<TimePoint> sure_at(const media::Source& source) {
    const media::Ring& ring = source.ring();
    for (media::Sequence at = ring.first(); at < ring.next() && at < ring.first() + kLookBack; ++at)
        if (const media::Packet& packet = ring.at(at); packet.kind != MediaKind::data && !packet.is_config())
            return packet.arrived + kSureAfter;
    return std::nullopt;
}

std::optional<Tracks> decide_tracks(const media::Source& source, media::Container container, const RemuxOptions& options,
                                    TimePoint now) {
    if (live_format(container).audio) {
        MediaKindSet audio;
        audio.add(MediaKind::audio);
        return codec_of(source) ? std::optional(Tracks{audio, audio}) : std::nullopt;
    }
    const bool audio = source.tracks().last_time(MediaKind::audio).has_value();
    const bool video = source.tracks().last_time(MediaKind::video).has_value();
    const auto& packets = source.counters().packets;
    if (!(audio && video) && packets[index_of(MediaKind::audio)] + packets[index_of(MediaKind::video)] < kSurePackets)
        if (const auto sure = sure_at(source); !sure || now < *sure)
            return std::nullopt;
    Tracks tracks;
    if (options.guess_has_av) {
        // A kind whose frames come late is announced: a player that gets too few tracks never shows the rest.
        tracks.announced = source.tracks().expected_kinds();
    } else {
        if (options.has_audio)
            tracks.announced.add(MediaKind::audio);
        if (options.has_video)
            tracks.announced.add(MediaKind::video);
    }
    tracks.sent = options.drop_if_not_match ? tracks.announced : MediaKindSet::all();
    tracks.sent.add(MediaKind::data);
    return tracks;
}

Result<void> check_codec(const media::Source& source, media::Container container) {
    const auto codec = codec_of(source);
    const auto& audio = live_format(container).audio;
    if (audio && codec && *codec != audio->codec)
        return Error(Errc::unsupported, "the stream's audio is not " + std::string(audio->name));
    return {};
}

}  // namespace live::session::http_live
