#include "session/flv/tracks.hpp"

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

std::optional<Tracks> decide_tracks(const media::Source& source, const RemuxOptions& options) {
    const bool audio = source.last_time(Kind::audio).has_value();
    const bool video = source.last_time(Kind::video).has_value();
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

}  // namespace live::session::flv
