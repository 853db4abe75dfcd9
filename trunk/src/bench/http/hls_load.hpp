// Plays an HLS playlist like a player: the variant of a multivariant playlist once, then it polls the playlist and loads new
// segments. One run is one poll of the playlist.
#pragma once

#include <optional>
#include <string>

#include "bench/http/http_fetch.hpp"
#include "bench/load/load_client.hpp"
#include "wire/hls/playlist_reader.hpp"

namespace live::bench {

class HlsLoad final : public LoadTask {
public:
    // A live player starts this many segments before the end (RFC 8216, 6.3.3).
    static constexpr std::size_t kStartSegments = 3;

    // Errors of HttpFetch::get and wire::hls::parse_playlist; Errc::timed_out when nothing new appears for kIdleLimit.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;
    bool is_continued() const override { return true; }
    std::chrono::nanoseconds pause(LoadContext& context) const override;

private:
    using Playlist = wire::hls::AnyPlaylist;

    Result<Playlist> load_playlist(const std::string& url, io::Deadline deadline);
    Result<void> load_map(const wire::hls::MediaPlaylist& playlist, io::Deadline deadline);
    Result<void> load_new(LoadClient& client, const Playlist& playlist, io::Deadline deadline);
    Result<void> load_all(LoadClient& client, const Playlist& playlist, io::Deadline deadline);
    Result<void> load_segment(LoadClient& client, const wire::hls::Segment& segment, io::Deadline deadline);
    Result<void> load_part(const std::string& uri, io::Deadline deadline);

    std::optional<HttpFetch> fetch_;
    std::string media_url_;  // of the media playlist, once known
    std::string map_;        // the loaded initialisation section of fragmented MP4
    std::optional<std::uint64_t> newest_;
    TimePoint newest_at_{};
    std::chrono::nanoseconds pause_{};  // after this run
};

}  // namespace live::bench
