#include "bench/http/hls_load.hpp"

#include <algorithm>
#include <utility>

#include "bench/http/url_reference.hpp"
#include "io/fibers/loop.hpp"

namespace live::bench {
namespace {

// The limit of a whole response: many players read at the same time.
constexpr std::size_t kPlaylistBytesMax = 1 << 20;

std::chrono::milliseconds milliseconds_of(MediaTime time) { return std::chrono::round<std::chrono::milliseconds>(time); }

class Text final : public BodySink {
public:
    Result<void> on_body(TimePoint, Bytes piece) override {
        if (text.size() + piece.size() > kPlaylistBytesMax)
            return Error(Errc::limit, "a playlist of more than " + std::to_string(kPlaylistBytesMax) + " bytes");
        text += as_text(piece);
        return {};
    }

    std::string text;
};

class Counted final : public BodySink {
public:
    Result<void> on_body(TimePoint, Bytes piece) override {
        bytes += piece.size();
        return {};
    }

    std::uint64_t bytes = 0;
};

}  // namespace

std::chrono::nanoseconds HlsLoad::pause(LoadContext& context) const {
    const Seconds delay = context.options.delay;
    return delay < Seconds(0) ? pause_ : context.random_sleep(delay);
}

Result<void> HlsLoad::run(LoadClient& client, io::Deadline deadline) {
    if (!fetch_)
        fetch_.emplace(client);
    pause_ = {};
    if (media_url_.empty()) {
        media_url_ = client.url;
        newest_.reset();
        newest_at_ = io::now();
    }
    auto playlist = load_playlist(media_url_, deadline);
    if (playlist.ok() && !playlist->variants.empty()) {
        media_url_ = resolve_reference(fetch_->final_url(), playlist->variants.front());
        playlist = load_playlist(media_url_, deadline);
    }
    if (playlist.ok())
        TRY(load_map(playlist->media, deadline));
    auto ran = !playlist.ok() ? Result<void>(playlist.error())
               : !playlist->variants.empty()
                   ? Result<void>(Error(Errc::unsupported, "a multivariant playlist inside another one"))
               : client.context.options.vod ? load_all(client, *playlist, deadline)
                                            : load_new(client, *playlist, deadline);
    // The server's session may have expired: the next run begins with the user's URL.
    if (!ran.ok())
        media_url_.clear();
    return ran;
}

Result<wire::hls::AnyPlaylist> HlsLoad::load_playlist(const std::string& url, io::Deadline deadline) {
    Text body;
    TRY(fetch_->get(url, {}, body, deadline));
    body.text += '\n';  // it is complete, including its last line
    return wire::hls::parse_playlist(body.text);
}

// The initialisation section of fragmented MP4, loaded once: that of the newest segment.
Result<void> HlsLoad::load_map(const wire::hls::MediaPlaylist& playlist, io::Deadline deadline) {
    if (playlist.segments.empty() || playlist.segments.back().map == map_)
        return {};
    const std::string& map = playlist.segments.back().map;
    if (!map.empty())
        TRY(load_part(map, deadline));
    map_ = map;
    return {};
}

// Loads all segments after the last loaded one, without a pause: a live player fills its buffer.
Result<void> HlsLoad::load_new(LoadClient& client, const Playlist& playlist, io::Deadline deadline) {
    const auto& segments = playlist.media.segments;
    const std::uint64_t first = playlist.media.media_sequence;
    const bool is_late = !newest_ && !playlist.is_ended && segments.size() > kStartSegments;
    bool has_new = false;
    for (std::size_t i = is_late ? segments.size() - kStartSegments : 0; i < segments.size(); ++i) {
        const std::uint64_t number = first + i;
        // A restarted server counts from the beginning.
        const bool begins_again = newest_ && first + segments.size() - 1 < *newest_;
        if (newest_ && !begins_again && number <= *newest_)
            continue;
        const MediaTime duration = segments[i].duration;
        if (newest_ && !begins_again && number > *newest_ + 1) {
            client.meter.on_gap(milliseconds_of(duration * static_cast<std::int64_t>(number - *newest_ - 1)));
            ++client.context.totals.gaps;
        }
        TRY(load_segment(client, segments[i], deadline));
        newest_ = number;
        newest_at_ = io::now();
        pause_ = duration;
        has_new = true;
    }
    if (has_new)
        return {};
    const auto target = playlist.media.target_duration;
    if (playlist.is_ended) {
        newest_.reset();
    } else if (io::now() - newest_at_ > kIdleLimit + 2 * target) {
        return Error(Errc::timed_out, "no new segment in the playlist");
    }
    pause_ = target;
    return {};
}

Result<void> HlsLoad::load_all(LoadClient& client, const Playlist& playlist, io::Deadline deadline) {
    for (const wire::hls::Segment& segment : playlist.media.segments) {
        TRY(load_segment(client, segment, deadline));
        const Seconds delay = client.context.options.delay;
        const std::chrono::nanoseconds pause = delay < Seconds(0) ? segment.duration : client.context.random_sleep(delay);
        TRY(io::sleep(deadline.sooner(io::Deadline::after(pause))));
    }
    if (playlist.media.segments.empty())
        pause_ = std::max<std::chrono::nanoseconds>(playlist.media.target_duration, std::chrono::seconds(1));
    return {};
}

Result<void> HlsLoad::load_segment(LoadClient& client, const wire::hls::Segment& segment, io::Deadline deadline) {
    LoadTotals& totals = client.context.totals;
    ++totals.sub_tasks;
    auto loaded = load_part(segment.uri, deadline);
    if (!loaded.ok()) {
        totals.sub_failed += loaded.code() == Errc::cancelled ? 0 : 1;
        return Error(loaded.error()).during(segment.uri);
    }
    client.meter.on_fragment(io::now(), milliseconds_of(segment.duration));
    return {};
}

Result<void> HlsLoad::load_part(const std::string& uri, io::Deadline deadline) {
    Counted body;
    TRY(fetch_->get(resolve_reference(media_url_, uri), {}, body, deadline));
    if (body.bytes == 0)
        return Error(Errc::malformed, "an empty fragment");
    return {};
}

}  // namespace live::bench
