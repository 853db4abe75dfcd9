#include "session/flv/tracks.hpp"

#include "wire/flv/audio_tag.hpp"

namespace live::session::flv {

namespace {

using media::Kind;
using media::KindSet;

// A kind counts when there is any message of it; but when only one kind has had real frames, then only that one.
KindSet guess(const media::Source& source) {
    KindSet any;
    KindSet frames;
    for (const Kind kind : {Kind::audio, Kind::video}) {
        if (source.last_time(kind))
            frames.add(kind);
        if (source.last_time(kind) || !source.config(kind).empty())
            any.add(kind);
    }
    return frames.has(Kind::audio) != frames.has(Kind::video) ? frames : any;
}

}  // namespace

std::optional<Tracks> decide_tracks(const media::Source& source, media::Container container, const RemuxOptions& options) {
    const bool audio = source.last_time(Kind::audio).has_value();
    const bool video = source.last_time(Kind::video).has_value();
    if (container == media::Container::aac || container == media::Container::mp3) {
        KindSet sound;
        sound.add(Kind::audio);
        return audio ? std::optional(Tracks{sound, sound}) : std::nullopt;
    }
    const auto& packets = source.counters().packets;
    if (!(audio && video) && packets[index_of(Kind::audio)] + packets[index_of(Kind::video)] < kSurePackets)
        return std::nullopt;
    Tracks tracks;
    if (options.guess_has_av) {
        tracks.announced = guess(source);
    } else {
        if (options.has_audio)
            tracks.announced.add(Kind::audio);
        if (options.has_video)
            tracks.announced.add(Kind::video);
    }
    tracks.sent = options.drop_if_not_match ? tracks.announced : KindSet::all();
    tracks.sent.add(Kind::data);
    return tracks;
}

Result<void> check_codec(const media::Source& source, media::Container container) {
    if (container != media::Container::aac && container != media::Container::mp3)
        return {};
    const auto wanted = container == media::Container::aac ? wire::flv::AudioCodec::aac : wire::flv::AudioCodec::mp3;
    const media::Ring& ring = source.ring();
    for (media::Sequence at = ring.next(); at > ring.first(); --at) {
        const media::Packet& packet = ring.at(at - 1);
        if (packet.kind != Kind::audio)
            continue;
        if (const auto tag = wire::flv::parse_audio_tag(packet.payload.bytes()); tag.ok() && tag->codec == wanted)
            return {};
        break;
    }
    return Error(Errc::unsupported,
                 container == media::Container::aac ? "the stream's sound is not AAC" : "the stream's sound is not MP3");
}

}  // namespace live::session::flv
