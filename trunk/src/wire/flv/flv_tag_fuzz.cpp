// Arbitrary bytes as audio and video tag bodies. Parsed bodies must lie inside the input; writable tags must read back the same,
// and so must separated tracks.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/flv/audio_tag.hpp"
#include "wire/flv/multitrack.hpp"
#include "wire/flv/video_tag.hpp"

namespace {

using namespace live;
using namespace live::wire::flv;

void check_inside(Bytes part, Bytes whole) {
    CHECK(part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size()));
}

void check_video(Bytes input) {
    const auto tag = parse_video_tag(input);
    const auto tracks = parse_video_tracks(input);
    if (!tag.ok()) {
        CHECK(!tracks.ok());
        return;
    }
    check_inside(tag->body, input);
    if (tracks.ok())
        for (const VideoTag& track : *tracks)
            check_inside(track.body, input);
    if (!tag->enhanced || (tag->kind != PacketKind::command && !fourcc_of(tag->codec)) || tag->kind == PacketKind::other)
        return;
    ByteWriter out;
    write_video_tag(out, *tag);
    const auto again = parse_video_tag(out.written());
    CHECK(again.ok() && again->codec == tag->codec && again->kind == tag->kind && again->key == tag->key);
    CHECK(again->composition == tag->composition && again->body.size() == tag->body.size());
}

void check_audio(Bytes input) {
    const auto tag = parse_audio_tag(input);
    const auto tracks = parse_audio_tracks(input);
    if (!tag.ok()) {
        CHECK(!tracks.ok());
        return;
    }
    check_inside(tag->body, input);
    if (tracks.ok())
        for (const AudioTag& track : *tracks)
            check_inside(track.body, input);
    if (!tag->enhanced || !fourcc_of(tag->codec))
        return;
    ByteWriter out;
    write_audio_tag(out, *tag);
    const auto again = parse_audio_tag(out.written());
    CHECK(again.ok() && again->codec == tag->codec && again->kind == tag->kind && again->body.size() == tag->body.size());
}

// Separated parts must parse as the same tracks.
template <class Tag>
void check_parts(MediaKind kind, Bytes input, const Result<std::vector<Tag>>& tracks, Result<Tag> (*parse)(Bytes)) {
    const auto parts = read_tracks(kind, input);
    if (!parts.ok())
        return;
    CHECK(!tracks.ok() || tracks->size() == parts->parts.size());
    for (std::size_t i = 0; i < parts->parts.size(); ++i) {
        ByteWriter out;
        write_track(out, *parts, parts->parts[i]);
        const auto again = parse(out.written());
        if (!tracks.ok())
            continue;
        const Tag& track = (*tracks)[i];
        CHECK(again.ok() && !again->has_more && again->codec == track.codec && again->kind == track.kind);
        CHECK(again->track_id == track.track_id && again->timestamp_offset == track.timestamp_offset);
        CHECK(again->fourcc == track.fourcc && again->body.size() == track.body.size());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    check_video(Bytes(data, size));
    check_audio(Bytes(data, size));
    check_parts(MediaKind::video, Bytes(data, size), parse_video_tracks(Bytes(data, size)), parse_video_tag);
    check_parts(MediaKind::audio, Bytes(data, size), parse_audio_tracks(Bytes(data, size)), parse_audio_tag);
    return 0;
}
