// The names of a stream's files, from the operator's templates: where they are on the disk, and what the playlist calls them.
// Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "base/variables.hpp"
#include "service/files/normal_path.hpp"
#include "service/hls/container.hpp"
#include "service/hls/options.hpp"

namespace live::service::hls {

using files::normal_path;

struct StreamName {
    std::string vhost;
    std::string app;
    std::string stream;

    bool operator==(const StreamName&) const = default;
};

// One fragment's names.
struct FileName {
    std::string file;  // on the disk
    std::string uri;   // in the playlist, without anything about a session
    std::string text;  // below the base directory: what the template became
};

class Names {
public:
    // `options` outlives this. With a track the names are those of its files: "cam.audio-1.m3u8", "cam-12.audio-1.m4s".
    Names(const HlsOptions& options, StreamName stream, Zone zone, std::string track = "");

    // What the next fragments are, and so by which template they are called. MPEG-TS at first, unless the options say otherwise.
    void set_container(Container container) { container_ = container; }
    Container container() const { return container_; }

    // "live/cam.m3u8", and where it is.
    const std::string& playlist_url() const { return playlist_url_; }
    const std::string& playlist_file() const { return playlist_file_; }
    const std::string& track() const { return track_; }
    // Every file that the stream may write, in either container, for files::PathClaims; with a track, those of the track.
    std::vector<std::string> claimed_paths() const;
    // By the template for fragments; `now` is when it begins.
    FileName fragment(std::uint64_t number, MediaTime duration, std::chrono::system_clock::time_point now) const;
    // Of that fragment: "cam-12.3.ts" of "cam-12.ts".
    static FileName part(const FileName& fragment, std::uint64_t part);
    // The key that begins with that fragment. Its URI is hls_key_url and the name; without hls_key_url it is
    // beside the fragments, where our own server finds it unless hls_key_file_path is elsewhere.
    FileName key(std::uint64_t number, std::chrono::system_clock::time_point now) const;
    // The initialisation section with that number: 0 has the configured name, the others a number in front of its ending.
    FileName init(std::uint64_t number) const;
    // How this playlist calls a file below the base directory.
    std::string uri_of(const std::string& text) const { return named(text).uri; }
    // A file below the base directory as callbacks tell it: behind that directory as the operator wrote it.
    std::string told(std::string_view below) const;
    // Where the file is that a playlist of ours calls `uri`; none when it leads elsewhere.
    std::optional<std::string> file_of(std::string_view uri) const;

private:
    Variables variables(std::chrono::system_clock::time_point now) const;
    FileName named(std::string text) const;
    // With the track in front of its ending.
    std::string of_track(std::string text) const;

    const HlsOptions& options_;
    StreamName stream_;
    Zone zone_;
    std::string track_;
    Container container_;
    std::string playlist_url_;
    std::string playlist_file_;
};

// In front of the ending: "a/cam-7.ts" and ".3" is "a/cam-7.3.ts".
std::string with_infix(const std::string& name, const std::string& infix);

// The stream that a name was made of by a template with [vhost], [app] and [stream]; none when it was not.
std::optional<StreamName> match_name(std::string_view form, std::string_view name);

}  // namespace live::service::hls
