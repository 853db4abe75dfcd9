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

namespace {

// Of the newest sequence header, else of the newest sound that is still there; none when a GOP has just begun without any.
std::optional<wire::flv::AudioCodec> codec_of(const media::Source& source) {
    const auto read = [](const Slice& body) {
        const auto tag = wire::flv::parse_audio_tag(body.bytes());
        return tag.ok() ? std::optional(tag->codec) : std::nullopt;
    };
    if (const Slice& config = source.config(Kind::audio); !config.empty())
        return read(config);
    const media::Ring& ring = source.ring();
    for (media::Sequence at = ring.next(); at > ring.first(); --at)
        if (const media::Packet& packet = ring.at(at - 1); packet.kind == Kind::audio)
            return read(packet.payload);
    return std::nullopt;
}

}  // namespace

Result<void> check_codec(const media::Source& source, media::Container container) {
    using wire::flv::AudioCodec;
    const auto codec = codec_of(source);
    if (container == media::Container::aac && codec && *codec != AudioCodec::aac)
        return Error(Errc::unsupported, "the stream's sound is not AAC");
    if (container == media::Container::mp3 && codec && *codec != AudioCodec::mp3)
        return Error(Errc::unsupported, "the stream's sound is not MP3");
    return {};
}

}  // namespace live::session::flv
