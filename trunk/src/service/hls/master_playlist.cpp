#include "service/hls/master_playlist.hpp"

#include <algorithm>
#include <utility>

namespace live::service::hls {

namespace {

constexpr const char* kGroup = "audio";

// The publisher's name for the track, or its language, or its id; made unique among `others`.
std::string name_of(const TrackPlaylist& of, const std::vector<wire::hls::Rendition>& others) {
    std::string name = of.id.name();
    if (of.track != nullptr && !of.track->language.empty())
        name = of.track->language;
    if (of.track != nullptr && !of.track->name.empty())
        name = of.track->name;
    const bool is_taken = std::ranges::find(others, name, &wire::hls::Rendition::name) != others.end();
    return is_taken ? name + " (" + of.id.name() + ")" : name;
}

// Adds the largest bandwidth among the audio tracks, since only one of them is played with the video.
void add_audio(wire::hls::Variant& variant, const std::vector<TrackPlaylist>& tracks) {
    std::uint64_t most = 0;
    std::uint64_t average = 0;
    for (const TrackPlaylist& audio : tracks) {
        if (audio.id.kind != MediaKind::audio)
            continue;
        const wire::hls::Variant of = audio.rendition->variant();
        most = std::max(most, of.bandwidth);
        average = std::max(average, of.average_bandwidth);
        const std::string codecs = audio.rendition->format() ? audio.rendition->format()->codecs : "";
        if (!codecs.empty() && variant.codecs.find(codecs) == std::string::npos)
            variant.codecs += (variant.codecs.empty() ? "" : ",") + codecs;
        variant.audio_group = kGroup;
    }
    variant.bandwidth += most;
    variant.average_bandwidth += average;
}

wire::hls::Variant video_variant(const TrackPlaylist& video) {
    wire::hls::Variant variant = video.rendition->variant();
    if (const auto& format = video.rendition->format()) {
        variant.codecs = format->codecs;
        variant.width = format->width;
        variant.height = format->height;
        variant.frame_rate = format->frames_per_second;
    }
    return variant;
}

}  // namespace

std::optional<wire::hls::ClosedCaptions> captions_of(const media::Source& source) {
    if (!source.tracks().last_time(MediaKind::video))
        return std::nullopt;
    return media::captions_of(source.tracks()).names();
}

std::string write_master(const std::vector<TrackPlaylist>& tracks, const media::Source& source,
                         const std::vector<wire::hls::Rendition>& subtitles) {
    std::vector<wire::hls::Rendition> audio;
    std::vector<wire::hls::Variant> variants;
    for (const TrackPlaylist& of : tracks) {
        if (of.id.kind == MediaKind::audio) {
            wire::hls::Rendition& rendition = audio.emplace_back();
            rendition.name = name_of(of, audio);
            rendition.uri = of.uri;
            rendition.group = kGroup;
            rendition.language = of.track == nullptr ? "" : of.track->language;
            rendition.is_default = !of.id.extra;
            continue;
        }
        wire::hls::Variant variant = video_variant(of);
        // A rendition shows the frames of the stream, whose video is first.
        const bool is_rendition = of.track != nullptr && of.track->rendition != media::RenditionId::none;
        if (is_rendition && variant.frame_rate == 0 && !variants.empty())
            variant.frame_rate = variants.front().frame_rate;
        add_audio(variant, tracks);
        variant.uri = of.uri;
        variants.push_back(std::move(variant));
    }
    if (variants.empty()) {
        wire::hls::Variant& variant = variants.emplace_back();
        add_audio(variant, tracks);
        variant.uri = tracks.front().uri;
    }
    return wire::hls::write_master_playlist(variants, audio, captions_of(source), subtitles);
}

}  // namespace live::service::hls
