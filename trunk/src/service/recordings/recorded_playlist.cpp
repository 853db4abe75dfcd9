#include "service/recordings/recorded_playlist.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "wire/http/target.hpp"
#include "wire/webvtt/webvtt.hpp"

namespace live::service::recordings {

namespace mp4 = wire::mp4;

namespace {

// Players that join a growing playlist expect it to change after this time at most.
constexpr MediaTime kTargetMin = std::chrono::seconds(4);

bool is_same_format(const std::vector<mp4::FragmentedTrack>& a, const std::vector<mp4::FragmentedTrack>& b) {
    return std::ranges::equal(a, b, [](const mp4::FragmentedTrack& one, const mp4::FragmentedTrack& other) {
        return one.id == other.id && one.timescale == other.timescale && one.sample_entries == other.sample_entries;
    });
}

double in_seconds(MediaTime time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void RecordedPlaylist::add(const RecordingFile& file, const mp4::SegmentMap& map) {
    std::vector<mp4::MappedSegment> chosen;
    const auto consider = [&](const mp4::MappedSegment& segment) {
        if (file.start + segment.end() > start_ && file.start + segment.start < end_ &&
            segments_.size() + chosen.size() < kSegmentsMax)
            chosen.push_back(segment);
    };
    std::ranges::for_each(map.segments(), consider);
    if (map.rest() && (!file.is_open || end_kind_ == End::complete))
        consider(*map.rest());
    if (chosen.empty())
        return;
    if (files_.empty())
        delay_ = map.delay();
    // Frames of all files are shown at the time of the clock, and never before those of the previous file.
    const WallTime zero = segments_.empty() ? file.start + chosen.front().start : time_of(segments_.front());
    const MediaTime wanted = file.start - zero;
    const MediaTime shift = std::max(newest_ - (wanted + chosen.front().start), MediaTime());
    const bool is_late = wanted + chosen.front().start - newest_ > RecordingIndex::kGapMax;
    files_.push_back({.start = file.start,
                      .at = wanted + shift + delay_ - map.delay(),
                      .is_new_format = files_.empty() || !is_same_format(tracks_, map.header().tracks),
                      .follows_gap = !files_.empty() && is_late});
    tracks_ = map.header().tracks;
    add_languages(file, map);
    for (const mp4::MappedSegment& segment : chosen)
        segments_.push_back({files_.size() - 1, segment});
    newest_ = wanted + shift + chosen.back().end();
    for (const mp4::MappedSplice& splice : map.splices())
        if (const WallTime at = file.start + splice.at; at >= start_ && at < end_)
            breaks_.add(
                {.kind = media::TimedEvent::Kind::splice, .at = at.time_since_epoch(), .data = Slice::copy_of(splice.section)},
                {});
    breaks_.set_dates([](MediaTime at) { return std::optional(std::chrono::floor<std::chrono::milliseconds>(WallTime(at))); });
}

void RecordedPlaylist::add_languages(const RecordingFile& file, const mp4::SegmentMap& map) {
    for (const mp4::MappedCue& cue : map.cues()) {
        const WallTime at = file.start + cue.at - map.delay();
        const std::string language = hls::language_of(cue.language);
        const bool is_new = std::ranges::find(languages_, language) == languages_.end();
        if (is_new && at < end_ && at + cue.duration > start_ && languages_.size() < kLanguagesMax)
            languages_.push_back(language);
    }
}

std::string RecordedPlaylist::parameters_of(const File& file) const {
    return get_.parameters + "&start=" + wire::http::percent_encode(wall_time_text(file.start));
}

std::string RecordedPlaylist::cue_text(std::size_t segment) const {
    const auto date_of = [this](std::size_t i) { return std::chrono::floor<std::chrono::milliseconds>(time_of(segments_[i])); };
    if (cues_ == Cues::none || text_)
        return "";
    const auto previous = segment > 0 ? std::optional<UtcTime>(date_of(segment - 1)) : std::nullopt;
    const auto cue = breaks_.cue_before(date_of(segment), previous);
    return cue ? wire::hls::cue_tag_text(*cue) : "";
}

std::string RecordedPlaylist::head() const {
    MediaTime target = end_kind_ == End::growing ? kTargetMin : MediaTime(std::chrono::seconds(1));
    for (const Segment& segment : segments_)
        target = std::max(target, segment.media.duration);
    std::string text = fmt::format(
        "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:{}\n#EXT-X-PLAYLIST-TYPE:{}\n#EXT-X-MEDIA-SEQUENCE:0\n"
        "#EXT-X-INDEPENDENT-SEGMENTS\n",
        std::chrono::ceil<std::chrono::seconds>(target).count(), end_kind_ == End::growing ? "EVENT" : "VOD");
    const MediaTime skipped = segments_.empty() ? MediaTime() : start_ - time_of(segments_.front());
    if (skipped > MediaTime() || end_kind_ == End::growing)
        text += fmt::format("#EXT-X-START:TIME-OFFSET={:.3f},PRECISE=YES\n", in_seconds(std::max(skipped, MediaTime())));
    if (text_)
        return text;
    wire::hls::MediaPlaylist markers;
    breaks_.describe(markers, false);
    for (const wire::hls::DateRange& range : markers.date_ranges)
        wire::hls::write_date_range(range, text);
    return text;
}

std::string RecordedPlaylist::lines(std::size_t first, std::size_t count) const {
    fmt::memory_buffer text;
    const auto out = fmt::appender(text);
    const std::string kind = text_ ? "cues&language=" + *text_ : "segment";
    const std::string_view ending = text_ ? ".vtt" : ".m4s";
    std::string parameters;
    for (std::size_t i = first; i < std::min(first + count, segments_.size()); ++i) {
        const Segment& segment = segments_[i];
        const File& file = files_[segment.file];
        const bool is_first_of_file = i == 0 || segments_[i - 1].file != segment.file;
        if (is_first_of_file || parameters.empty())
            parameters = parameters_of(file);
        if (is_first_of_file && i > 0 && (file.is_new_format || file.follows_gap))
            fmt::format_to(out, "#EXT-X-DISCONTINUITY\n");
        // Some players go by the endings of paths.
        if (is_first_of_file && file.is_new_format && !text_)
            fmt::format_to(out, "#EXT-X-MAP:URI=\"{}.mp4?{}&format=init\"\n", get_.path, parameters);
        fmt::format_to(out, "#EXT-X-PROGRAM-DATE-TIME:{}\n{}#EXTINF:{:.6f},\n{}{}?{}&format={}&offset={}&bytes={}&at={}\n",
                       wall_time_text(time_of(segment)), cue_text(i), in_seconds(segment.media.duration), get_.path, ending,
                       parameters, kind, segment.media.offset, segment.media.bytes, file.at.count());
    }
    if (first + count >= segments_.size() && end_kind_ == End::complete)
        fmt::format_to(out, "#EXT-X-ENDLIST\n");
    return fmt::to_string(text);
}

std::optional<std::string> text_segment(const mp4::SegmentMap& map, std::uint64_t offset, MediaTime at,
                                        const std::string& language) {
    auto segment = std::ranges::find(map.segments(), offset, &mp4::MappedSegment::offset);
    const bool is_rest = segment == map.segments().end();
    if (is_rest && (!map.rest() || map.rest()->offset != offset))
        return std::nullopt;
    const mp4::MappedSegment& media = is_rest ? *map.rest() : *segment;
    const MediaTime start = media.start + map.delay() + at;
    std::vector<wire::webvtt::Cue> cues;
    for (const mp4::MappedCue& cue : map.cues()) {
        const MediaTime begin = cue.at + at;
        const MediaTime end = begin + cue.duration;
        if (begin >= start + media.duration || end <= std::max(start, MediaTime()) || hls::language_of(cue.language) != language)
            continue;
        if (std::string text = wire::webvtt::lines_of(cue.text); !text.empty())
            cues.push_back({std::max(begin, MediaTime()), end, std::move(text)});
    }
    std::ranges::stable_sort(cues, {}, &wire::webvtt::Cue::start);
    // The map has whole milliseconds.
    const MediaTime zero = std::chrono::floor<std::chrono::milliseconds>(std::max(start, MediaTime()));
    return wire::webvtt::write_segment(zero, mp4::event_ticks(zero), cues);
}

}  // namespace live::service::recordings
