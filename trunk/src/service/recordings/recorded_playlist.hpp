// RecordedPlaylist: an HLS playlist over recordings (RFC 8216): the segments of their files, on one timeline, whatever the gaps
// between them. The media is not copied: each URI names a part of a file (PlaybackRequest::Format::segment). Dry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text/wall_time_text.hpp"
#include "base/time.hpp"
#include "service/hls/timed/date_ranges.hpp"
#include "service/hls/timed/subtitles.hpp"
#include "service/recordings/recording_index.hpp"
#include "wire/mp4/read/segment_map.hpp"

namespace live::service::recordings {

// The address of /get: its path, and the parameters that all requests have ("path=live%2Fcam").
struct GetAddress {
    std::string path;
    std::string parameters;
};

class RecordedPlaylist {
public:
    // `growing`: players load it again for what is recorded next.
    enum class End : bool { complete, growing };
    // `tags`: the tags of older players too, as with hls_cue_tags.
    enum class Cues : bool { none, tags };
    // More are left out at the end.
    static constexpr std::size_t kSegmentsMax = 200'000;
    static constexpr std::size_t kBreaksMax = 1'024;

    // Further languages of subtitles are left out.
    static constexpr std::size_t kLanguagesMax = service::hls::Subtitles::kLanguagesMax;

    // `get` is where segments are requested. With `text`, they are the subtitles in this language.
    RecordedPlaylist(GetAddress get, WallTime start, WallTime end, End end_kind, Cues cues,
                     std::optional<std::string> text = std::nullopt)
        : get_(std::move(get)), start_(start), end_(end), end_kind_(end_kind), cues_(cues), text_(std::move(text)) {}

    // Adds the segments of the next file that overlap the span.
    void add(const RecordingFile& file, const wire::mp4::SegmentMap& map);

    // The languages of the subtitles in the span, in order of appearance.
    const std::vector<std::string>& languages() const { return languages_; }
    std::size_t segments() const { return segments_.size(); }
    // The tags before the segments; and segments, with the last tag after the last one.
    std::string head() const;
    std::string lines(std::size_t first, std::size_t count) const;

private:
    struct File {
        WallTime start{};
        MediaTime at{};  // of its media time zero, on the playlist's timeline
        bool is_new_format = false;
        bool follows_gap = false;
    };
    struct Segment {
        std::size_t file = 0;
        wire::mp4::MappedSegment media;
    };

    WallTime time_of(const Segment& segment) const { return files_[segment.file].start + segment.media.start; }
    void add_languages(const RecordingFile& file, const wire::mp4::SegmentMap& map);
    std::string parameters_of(const File& file) const;
    std::string cue_text(std::size_t segment) const;

    const GetAddress get_;
    const WallTime start_;
    const WallTime end_;
    const End end_kind_;
    const Cues cues_;
    const std::optional<std::string> text_;
    std::vector<std::string> languages_;
    std::vector<File> files_;
    std::vector<Segment> segments_;
    std::vector<wire::mp4::FragmentedTrack> tracks_;  // of the newest file
    MediaTime delay_{};                               // of the first file
    service::hls::DateRanges breaks_{kBreaksMax};
    MediaTime newest_{};  // the end of the newest segment, on the playlist's timeline
};

// The WebVTT segment beside the segment of media at `offset`, in a playlist where media time zero of the file is at `at`: all
// lines that are shown meanwhile. nullopt if no segment begins there.
std::optional<std::string> text_segment(const wire::mp4::SegmentMap& map, std::uint64_t offset, MediaTime at,
                                        const std::string& language);

}  // namespace live::service::recordings
