#include "bench/hls_load.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "io/loop.hpp"

namespace live::bench {
namespace {

class Text final : public BodySink {
public:
    Result<void> on_body(TimePoint, Bytes piece) override {
        if (text.size() + piece.size() > Playlist::kBytesMax)
            return Error(Errc::limit, "a playlist of more than " + std::to_string(Playlist::kBytesMax) + " bytes");
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
    if (playlist.ok() && playlist->map != map_) {
        // The part in front of fragmented MP4, once.
        TRY(load_part(playlist->map, deadline));
        map_ = playlist->map;
    }
    auto ran = !playlist.ok()                ? Result<void>(playlist.error())
               : !playlist->variants.empty() ? Result<void>(Error(Errc::unsupported, "a variant that has variants itself"))
               : client.context.options.vod  ? load_all(client, *playlist, deadline)
                                             : load_new(client, *playlist, deadline);
    // A session of the server's may be over: the next run begins with the URL that the user gave.
    if (!ran.ok())
        media_url_.clear();
    return ran;
}

Result<Playlist> HlsLoad::load_playlist(const std::string& url, io::Deadline deadline) {
    Text body;
    TRY(fetch_->get(url, {}, body, deadline));
    return parse_playlist(body.text);
}

// What came after the segment that was loaded last, without a pause: a live player wants its buffer full.
Result<void> HlsLoad::load_new(LoadClient& client, const Playlist& playlist, io::Deadline deadline) {
    std::span<const Segment> segments(playlist.segments);
    if (!newest_ && !playlist.is_ended && segments.size() > kStartSegments)
        segments = segments.last(kStartSegments);
    bool has_new = false;
    for (const Segment& segment : segments) {
        // A server that was started anew counts from the beginning.
        const bool begins_again = newest_ && !playlist.segments.empty() && playlist.segments.back().sequence < *newest_;
        if (newest_ && !begins_again && segment.sequence <= *newest_)
            continue;
        if (newest_ && !begins_again && segment.sequence > *newest_ + 1) {
            client.meter.on_gap(segment.duration * static_cast<std::int64_t>(segment.sequence - *newest_ - 1));
            ++client.context.tally.gaps;
        }
        TRY(load_segment(client, segment, deadline));
        newest_ = segment.sequence;
        newest_at_ = io::now();
        pause_ = segment.duration;
        has_new = true;
    }
    if (has_new)
        return {};
    if (playlist.is_ended) {
        newest_.reset();
    } else if (io::now() - newest_at_ > kIdleLimit + 2 * playlist.target_duration) {
        return Error(Errc::timed_out, "nothing new in the playlist");
    }
    pause_ = playlist.target_duration;
    return {};
}

Result<void> HlsLoad::load_all(LoadClient& client, const Playlist& playlist, io::Deadline deadline) {
    for (const Segment& segment : playlist.segments) {
        TRY(load_segment(client, segment, deadline));
        const Seconds delay = client.context.options.delay;
        const std::chrono::nanoseconds pause = delay < Seconds(0) ? segment.duration : client.context.random_sleep(delay);
        TRY(io::sleep(deadline.sooner(io::Deadline::after(pause))));
    }
    if (playlist.segments.empty())
        pause_ = std::max<std::chrono::nanoseconds>(playlist.target_duration, std::chrono::seconds(1));
    return {};
}

Result<void> HlsLoad::load_segment(LoadClient& client, const Segment& segment, io::Deadline deadline) {
    Tally& tally = client.context.tally;
    ++tally.sub_tasks;
    auto loaded = load_part(segment.uri, deadline);
    if (!loaded.ok()) {
        tally.sub_failed += loaded.code() == Errc::cancelled ? 0 : 1;
        return Error(loaded.error()).during(segment.uri);
    }
    client.meter.on_fragment(io::now(), segment.duration);
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
