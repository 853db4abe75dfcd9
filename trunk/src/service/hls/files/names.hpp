// File names of a stream, from the operator's templates: paths on disk and URIs in the playlist. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/normal_path.hpp"
#include "base/text/variables.hpp"
#include "base/time.hpp"
#include "service/files/stream_name.hpp"
#include "service/hls/files/container.hpp"
#include "service/hls/options.hpp"

namespace live::service::hls {

using files::match_name;
using files::StreamName;

// The track of subtitles without a language; others are "text-en".
inline constexpr std::string_view kTextTrack = "text";
inline constexpr std::string_view kTextEnding = ".vtt";

// Names of one fragment.
struct FileName {
    std::string file;  // on the disk
    std::string uri;   // in the playlist, percent-encoded, without a session query
    std::string text;  // the expanded template, relative to the base directory
};

// Returns the stream of a fragment, part, initialization section or key below hls_path; none for other files.
std::optional<StreamName> stream_of_media(const HlsOptions& options, std::string_view name);

class Names {
public:
    // `options` must outlive this. With a track, names are those of its files: "cam.audio-1.m3u8", "cam-12.audio-1.m4s".
    Names(const HlsOptions& options, StreamName stream, Zone zone, std::string track = "");

    // The container of the next fragments, which selects their template. Initially MPEG-TS, unless the options select fMP4.
    void set_container(Container container) { container_ = container; }
    Container container() const { return container_; }

    // "live/cam.m3u8", and its path on disk.
    const std::string& playlist_url() const { return playlist_url_; }
    const std::string& playlist_file() const { return playlist_file_; }
    const std::string& track() const { return track_; }
    // Every file that the stream may write, in either container, for files::PathClaims; with a track, only the files of that
    // track.
    std::vector<std::string> claimed_paths() const;
    // Expands the fragment template; `now` is the time at which the fragment begins.
    FileName fragment(std::uint64_t number, MediaTime duration, std::chrono::system_clock::time_point now) const;
    // A part of that fragment: "cam-12.3.ts" of "cam-12.ts".
    static FileName part(const FileName& fragment, std::uint64_t part);
    // The key whose first fragment has that number. Its URI is hls_key_url plus the name; without hls_key_url it is next to the
    // fragments, where our own server finds it unless hls_key_file_path points elsewhere.
    FileName key(std::uint64_t number, std::chrono::system_clock::time_point now) const;
    // The initialization section with that number: 0 has the configured name, others have the number before the extension.
    FileName init(std::uint64_t number) const;
    // The URI in this playlist of a file below the base directory.
    std::string uri_of(const std::string& text) const { return named(text).uri; }
    // The path reported to callbacks for a file below the base directory: prefixed with that directory as the operator wrote it.
    std::string reported_path(std::string_view below) const;
    // The path of the file that `uri` refers to in one of our playlists; none if it points elsewhere.
    std::optional<std::string> file_of(std::string_view uri) const;

private:
    Variables variables(std::chrono::system_clock::time_point now) const;
    FileName named(std::string text) const;
    // Returns the name with the track inserted before the extension.
    std::string of_track(std::string text) const;

    const HlsOptions& options_;
    StreamName stream_;
    Zone zone_;
    std::string track_;
    Container container_;
    std::string playlist_url_;
    std::string playlist_file_;
};

// Inserts before the extension: "a/cam-7.ts" and ".3" is "a/cam-7.3.ts".
std::string with_infix(const std::string& name, const std::string& infix);
// Returns the stream's name for that of a track's file: "cam.m3u8" for "cam.audio-1.m3u8".
std::optional<std::string> without_track(const std::string& name);

}  // namespace live::service::hls
