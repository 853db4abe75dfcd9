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

std::uint64_t rate_of(const RecordedStream& stream) {
    const RecordingFile& newest = stream.files.back();
    if (newest.duration <= std::chrono::seconds(1))
        return kUsualRate;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(newest.duration).count();
    return std::max<std::uint64_t>(newest.bytes * 8 / static_cast<std::uint64_t>(seconds), 1);
}

// `uri` names the media playlist; those of subtitles have more parameters.
std::string master_text(std::uint64_t rate, const std::string& uri, const std::vector<std::string>& languages) {
    std::string text = "#EXTM3U\n#EXT-X-VERSION:7\n";
    for (const std::string& language : languages)
        text += fmt::format(
            "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"subs\",NAME=\"{}\"{},DEFAULT=NO,AUTOSELECT=YES,URI=\"{}&format=text"
            "&language={}\"\n",
            language.empty() ? "text" : language, language.empty() ? "" : ",LANGUAGE=\"" + language + "\"", uri, language);
    text += fmt::format("#EXT-X-STREAM-INF:BANDWIDTH={}{}\n{}{}\n", rate, languages.empty() ? "" : ",SUBTITLES=\"subs\"", uri,
                        languages.empty() ? "" : "&format=media");
    return text;
}

Result<void> send_master(http::Exchange& exchange, std::string text, io::Deadline deadline) {
    return exchange.send({.content_type = std::string(http::mime_of(".m3u8")),
                          .body = std::move(text),
                          .headers = {{"Cache-Control", "no-cache"}}},
                         deadline);
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
    using Format = PlaybackRequest::Format;
    const auto subtitles = asked.format == Format::text ? std::optional(asked.language) : std::nullopt;
    const auto playlist =
        playlist_of(*wanted, context.library.maps(), {get, wanted->start, wanted->end, wanted->end_kind, cues, subtitles},
                    party_of(exchange.request().peer_ip), deadline);
    if (!playlist.ok())
        return refuse(playlist.error());
    const RecordedStream* const stream = context.library.index().find(url);
    if (asked.format == Format::hls && stream != nullptr && !playlist->languages().empty()) {
        const std::string uri = fmt::format("{}.m3u8?{}&start={}&duration={:.6f}", get.path, get.parameters,
                                            wire::http::percent_encode(wall_time_text(wanted->start)),
                                            std::chrono::duration<double>(wanted->end - wanted->start).count());
        return send_master(exchange, master_text(rate_of(*stream), uri, playlist->languages()), deadline);
    }
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

Result<void> send_timeshift_master(http::Exchange& exchange, const PlaybackContext& context, const std::string& url,
                                   const PlaybackRequest& asked, const std::string& name, const std::string& parameters,
                                   io::Deadline deadline) {
    const RecordedStream* const stream = context.library.index().find(url);
    if (stream == nullptr)
        return exchange.send(playback_error(Status::not_found, "there is no recording of this stream"), deadline);
    PlaybackRequest fixed = asked;
    fixed.start = std::max(*asked.start_at(wall_now()), stream->files.front().start);
    fixed.ago.reset();
    const std::uint64_t rate = rate_of(*stream);
    std::vector<std::string> languages;
    if (const auto wanted = files_of(stream, fixed, PlaylistOf::live); wanted.ok()) {
        const auto list = playlist_of(*wanted, context.library.maps(),
                                      {{}, wanted->start, wanted->end, wanted->end_kind, RecordedPlaylist::Cues::none},
                                      party_of(exchange.request().peer_ip), deadline);
        if (!list.ok() && list.code() == Errc::cancelled)
            return list.error();
        if (list.ok())
            languages = list->languages();
    }
    const std::string uri =
        wire::http::percent_encode(name) + "?start=" + wire::http::percent_encode(wall_time_text(*fixed.start)) + parameters;
    return send_master(exchange, master_text(rate, uri, languages), deadline);
}

}  // namespace live::service::recordings
