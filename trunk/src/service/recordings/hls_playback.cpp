#include "service/recordings/hls_playback.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "io/fibers/loop.hpp"
#include "service/recordings/playback_session.hpp"
#include "service/recordings/recorded_playlist.hpp"
#include "session/http/mime.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"

namespace live::service::recordings {

namespace http = session::http;

namespace {

using wire::http::Status;

constexpr MediaTime kForever = PlaybackRequest::kDurationMax;
// BANDWIDTH is mandatory (RFC 8216, 4.3.4.2): a usual rate, in bit/s, before a stream has media.
constexpr std::uint64_t kUsualRate = 2'000'000;

struct Wanted {
    WallTime start{};
    WallTime end{};
    RecordedPlaylist::End end_kind = RecordedPlaylist::End::complete;
    std::vector<RecordingFile> files;
};

Result<Wanted> files_of(const RecordedStream* stream, const PlaybackRequest& asked, PlaylistOf kind) {
    const Error missing(Errc::not_found, "there is no recording of this time");
    if (stream == nullptr)
        return missing;
    const WallTime now = wall_now();
    const auto from = asked.start_at(now);
    const auto spans = spans_of(*stream, from, std::nullopt);
    if (spans.empty())
        return missing;
    Wanted wanted;
    wanted.start = from.value_or(spans.front().start);
    wanted.end = spans.front().start + spans.front().duration;
    if (kind == PlaylistOf::live)
        wanted.end = wanted.start + kForever;
    if (asked.duration)
        wanted.end = wanted.start + *asked.duration;
    wanted.files = files_from(*stream, wanted.start, wanted.end - wanted.start);
    std::erase_if(wanted.files, [](const RecordingFile& file) { return file.format != FileFormat::fmp4; });
    if (wanted.files.empty())
        return missing;
    const RecordingFile& newest = stream->files.back();
    if (kind == PlaylistOf::live && (newest.is_open || now - newest.end() < kLiveMax))
        wanted.end_kind = RecordedPlaylist::End::growing;
    return wanted;
}

Result<RecordedPlaylist> playlist_of(const Wanted& wanted, SegmentMaps& maps, RecordedPlaylist playlist,
                                     std::optional<io::Party> party, io::Deadline deadline) {
    for (const RecordingFile& file : wanted.files) {
        const auto map = maps.find(file, party, deadline);
        if (!map.ok() && (map.code() == Errc::cancelled || map.code() == Errc::timed_out || map.code() == Errc::limit))
            return map.error();
        // A damaged or deleted file costs its own media only.
        if (map.ok())
            playlist.add(file, **map);
    }
    if (playlist.segments() == 0 && wanted.end_kind == RecordedPlaylist::End::complete)
        return Error(Errc::not_found, "there is no recording of this time");
    return playlist;
}

Result<void> send_part(http::Exchange& exchange, std::string text, io::Deadline deadline) {
    if (exchange.body_end() == http::BodyEnd::chunks)
        text = fmt::format("{:x}\r\n{}\r\n", text.size(), text);
    exchange.traffic().sent_bytes += text.size();
    return exchange.stream().write_all(std::array{io::as_part(as_bytes(text))},
                                       deadline.sooner(io::Deadline::after(PlaybackSession::kStallLimit)));
}

}  // namespace

Result<void> send_recorded_playlist(http::Exchange& exchange, const PlaybackContext& context, const std::string& url,
                                    const GetAddress& get, const PlaybackRequest& asked, PlaylistOf kind, io::Deadline deadline) {
    const auto refuse = [&](const Error& error) {
        if (error.code() == Errc::cancelled)
            return Result<void>(error);
        const int status = error.code() == Errc::not_found ? Status::not_found : Status::service_unavailable;
        return exchange.send(playback_error(status, error.sentence()), deadline);
    };
    const auto wanted = files_of(context.library.index().find(url), asked, kind);
    if (!wanted.ok())
        return refuse(wanted.error());
    const hls::HlsOptions* const live = context.hls.find(exchange.request().vhost());
    const auto cues = live != nullptr && live->cue_tags ? RecordedPlaylist::Cues::tags : RecordedPlaylist::Cues::none;
    const auto playlist = playlist_of(*wanted, context.library.maps(), {get, wanted->start, wanted->end, wanted->end_kind, cues},
                                      party_of(exchange.request().peer_ip), deadline);
    if (!playlist.ok())
        return refuse(playlist.error());
    http::Head head;
    head.content_type = std::string(http::mime_of(".m3u8"));
    head.headers.emplace_back("Cache-Control", "no-cache");
    TRY(exchange.send_head(head, deadline));
    if (exchange.request().is_head())
        return {};
    TRY(send_part(exchange, playlist->head(), deadline));
    for (std::size_t at = 0; at < std::max<std::size_t>(playlist->segments(), 1); at += kSegmentsPerTurn) {
        if (std::string text = playlist->lines(at, kSegmentsPerTurn); !text.empty())
            TRY(send_part(exchange, std::move(text), deadline));
        TRY(io::yield(deadline));
    }
    return exchange.body_end() == http::BodyEnd::chunks ? exchange.finish_chunks(deadline) : Result<void>();
}

std::string timeshift_master(const RecordedStream& stream, const std::string& name, WallTime start,
                             const std::string& parameters) {
    std::uint64_t rate = kUsualRate;
    if (const RecordingFile& newest = stream.files.back(); newest.duration > std::chrono::seconds(1))
        rate = newest.bytes * 8 / static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(newest.duration).count());
    return fmt::format("#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-STREAM-INF:BANDWIDTH={}\n{}?start={}{}\n",
                       std::max<std::uint64_t>(rate, 1), wire::http::percent_encode(name),
                       wire::http::percent_encode(wall_time_text(start)), parameters);
}

}  // namespace live::service::recordings
