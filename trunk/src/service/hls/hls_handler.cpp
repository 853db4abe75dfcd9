#include "service/hls/hls_handler.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include "base/bytes/hash.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/files/file.hpp"
#include "service/hls/master_playlist.hpp"
#include "service/segments/send_file.hpp"
#include "session/http/client.hpp"
#include "session/http/mime.hpp"
#include "session/http/redirect.hpp"
#include "session/http/status_for.hpp"
#include "wire/hls/playlist.hpp"
#include "wire/hls/playlist_reader.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::hls {

namespace http = session::http;

namespace {

using wire::http::Status;
constexpr std::string_view kCtx = "hls_ctx";
// BANDWIDTH is mandatory (RFC 8216, 4.3.4.2): a usual rate, in bit/s, before a stream has media.
constexpr std::uint64_t kBandwidthUnknown = 2'000'000;
// How long the master playlist waits for renditions on demand. Most players wait longer, or try again.
constexpr std::chrono::seconds kRenditionsLimit{10};

http::Reply not_found() { return http::error_reply(Status::not_found, "there is no such playlist or fragment"); }

// Waits until the output changes, or the deadline. Errc::cancelled.
Result<void> wait_for_change(StreamOutput& output, Signal& signal, io::Deadline until) {
    const auto waiters = output.waiters();
    waiters->add(signal);
    const auto woken = io::wait(signal, until);
    waiters->remove(signal);
    return !woken.ok() && woken.code() == Errc::cancelled ? woken : Result<void>();
}

http::Reply refusal(const Error& why) { return session::http::refusal_of(why); }

session::ClientRequest player_of(const http::Request& request, const StreamName& stream, const std::string& ctx) {
    auto client = session::http::client_of(request, session::ClientKind::hls_play, stream.vhost, stream.app, stream.stream);
    client.id = ctx;
    client.protocol = request.secure ? "https-hls" : "http-hls";
    client.page_url = request.message.headers.find("Referer").value_or("");
    client.extension = std::string(kPlaylistEnding);
    return client;
}

bool has_good_names(const StreamName& stream) {
    return wire::rtmp::admit_name(stream.app).ok() && wire::rtmp::admit_name(stream.stream).ok();
}

bool plays(const Session& session, const StreamName& stream) {
    const session::ClientRequest& admitted = session.request();
    return admitted.vhost == stream.vhost && admitted.app == stream.app && admitted.stream == stream.stream;
}

}  // namespace

const HlsOptions* HlsHandler::options_for(const session::http::Request& request) const {
    const HlsOptions* options = options_.find(request.vhost());
    return options != nullptr && options->enabled ? options : nullptr;
}

HlsHandler::Found HlsHandler::find_at(const std::string& path, std::string_view vhost) const {
    Found place;
    place.playlist = index_.find(path);
    if (place.playlist == nullptr)
        place.file = index_.store().find(path);
    if (place.is_empty() || vhost.empty())
        return place;
    const std::string& owner = place.playlist != nullptr ? place.playlist->output->name().vhost : place.file->stream()->vhost;
    return owner == vhost ? place : Found{nullptr, nullptr, true};
}

// Also finds names below hls_path, which may be outside the served folders.
HlsHandler::Found HlsHandler::find(const http::Request& request, Of of) const {
    if (index_.size() == 0)
        return {};
    const HlsOptions* options = options_for(request);
    const auto root = roots_.find(request);
    const std::string vhost = root ? root->vhost : "";
    const auto name = [of](const std::string& path) { return of == Of::path ? path : without_track(path).value_or(path); };
    Found place = root ? find_at(normal_path(root->folder, name(root->path)), vhost) : Found();
    if (options == nullptr || !place.is_empty())
        return place;
    Found below = find_at(normal_path(options->path, name(request.path())), vhost);
    below.is_others = below.is_empty() && (below.is_others || place.is_others);
    return below;
}

const IndexedPlaylist* HlsHandler::playlist_of_stream(const http::Request& request, const StreamName& stream) const {
    if (const IndexedPlaylist* own = find(request).playlist)
        return own;
    const IndexedPlaylist* whole = find(request, Of::stream).playlist;
    const bool is_its =
        whole != nullptr && whole->output->name().app == stream.app && whole->output->name().stream == stream.stream;
    return is_its ? whole : nullptr;
}

bool HlsHandler::takes(const http::Request& request) const {
    if (options_for(request) != nullptr && (is_playlist(request.path()) || request.target.query.find(kCtx)))
        return true;
    const Found place = find(request);
    if (!place.is_empty() || place.is_others)
        return true;
    return remote_files_ != nullptr && !request.is_sibling && options_for(request) != nullptr && is_media(request.path());
}

HlsHandler::ParsedRequest HlsHandler::parse(const http::Request& request) const {
    ParsedRequest parsed;
    const HlsOptions* options = options_for(request);
    const Found place = find(request);
    const IndexedPlaylist* playlist = place.playlist;
    parsed.is_others = place.is_others;
    if (options == nullptr && playlist != nullptr)
        options = &playlist->output->options();
    if (options != nullptr) {
        parsed.has_sessions = options->ctx;
        parsed.marks_fragments = options->ctx && (options->ts_ctx || is_guarded(request));
        parsed.is_relative = options->master_m3u8_path_relative;
        parsed.idle_limit = 2 * std::max<Duration>(options->window, std::chrono::seconds(1));
    }
    if (playlist != nullptr) {
        parsed.stream = playlist->output->name();
    } else if (options != nullptr) {
        const std::string below = request.path().substr(std::min(request.path().find_first_not_of('/'), request.path().size()));
        const auto named = [options](const std::string& path) {
            return match_name(options->m3u8_file, path).value_or(split_path(path));
        };
        parsed.stream = named(below);
        if (const auto whole = without_track(below))
            parsed.other = named(*whole);
        if (parsed.other)
            parsed.other->vhost = request.vhost();
    }
    parsed.stream.vhost = request.vhost();
    parsed.ctx = request.target.query.get(kCtx);
    if (!is_good_ctx(parsed.ctx))
        parsed.ctx.clear();
    return parsed;
}

Result<void> HlsHandler::serve(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (!request.is_get())
        return exchange.send(http::method_not_allowed("GET, HEAD, OPTIONS", "HLS is played with GET"), deadline);
    if (!is_playlist(request.path())) {
        const Found place = find(request);
        if (place.is_others)
            return exchange.send(not_found(), deadline);
        const bool is_sent = place.file != nullptr && TRY(send_file(exchange, place.file, deadline));
        return is_sent ? Result<void>() : send_left_file(exchange, deadline);
    }
    if (const auto good = check_directives(request); !good.ok())
        return exchange.send(http::error_reply(Status::bad_request, good.error().sentence()), deadline);
    return request.is_sibling ? send_own_playlist(exchange, parse(request), deadline) : serve_playlist(exchange, deadline);
}

Result<void> HlsHandler::serve_playlist(http::Exchange& exchange, io::Deadline deadline) {
    ParsedRequest parsed = parse(exchange.request());
    if (parsed.is_others)
        return send_missing(exchange, parsed, deadline);
    TRY(choose_stream(exchange.request(), parsed, deadline));
    if (!parsed.has_sessions) {
        const IndexedPlaylist* playlist = find(exchange.request()).playlist;
        const StreamName& stream = playlist == nullptr ? parsed.stream : playlist->output->name();
        if (const auto allowed = sessions_.check(player_of(exchange.request(), stream, "")); !allowed.ok())
            return exchange.send(refusal(allowed.error()), deadline);
        const auto pulled = pull(exchange.request(), parsed, deadline);
        if (!pulled.ok() && pulled.code() == Errc::cancelled)
            return pulled.error();
        if (!pulled.ok())
            return exchange.send(refusal(pulled.error()), deadline);
        if (*pulled)
            return exchange.send(http::redirect_reply(exchange.request(), (*pulled)->http, parsed.stream.vhost, (*pulled)->mark),
                                 deadline);
        return send_own_playlist(exchange, parsed, deadline);
    }
    // An invalid stream name: it can only be a static file.
    if (!has_good_names(parsed.stream))
        return files_.serve(exchange, deadline);
    Session* session = parsed.ctx.empty() ? nullptr : sessions_.find(parsed.ctx);
    // A session of another stream, or of another virtual host, does not count here.
    if (session != nullptr && !plays(*session, parsed.stream)) {
        session = nullptr;
        parsed.ctx.clear();
    }
    if (session == nullptr) {
        if (TRY(is_unpublished(exchange.request(), parsed.stream, deadline)) && !exists(exchange.request(), deadline))
            return send_missing(exchange, parsed, deadline);
        const auto where = is_generated(parsed.ctx) ? Opened::elsewhere : Opened::here;
        if (parsed.ctx.empty())
            parsed.ctx = generate_ctx(sessions_);
        return open_session(exchange, parsed, where, deadline);
    }
    if (session->is_kicked())
        return exchange.send(not_found(), deadline);
    if (const auto elsewhere = exchange.request().is_head() ? std::nullopt : sessions_.send_on(*session))
        return exchange.send(http::redirect_reply(exchange.request(), elsewhere->http, parsed.stream.vhost, elsewhere->mark),
                             deadline);
    if (!exchange.request().is_head())
        session->touch(io::now());
    return send_own_playlist(exchange, parsed, deadline);
}

// A missing playlist may be that of a track whose stream this node has not joined yet. It belongs to the session of that stream.
// Its name may also be that of another stream.
Result<void> HlsHandler::choose_stream(const http::Request& request, ParsedRequest& parsed, io::Deadline deadline) {
    if (!parsed.other || !has_good_names(*parsed.other))
        return {};
    const Session* session = parsed.ctx.empty() ? nullptr : sessions_.find(parsed.ctx);
    if (session != nullptr && (plays(*session, parsed.stream) || plays(*session, *parsed.other))) {
        if (!plays(*session, parsed.stream))
            parsed.stream = *parsed.other;
        parsed.other.reset();
        return {};
    }
    const auto player = player_of(request, *parsed.other, "");
    if (remote_files_ != nullptr && remote_files_->shares(player)) {
        const StreamName whole = *std::exchange(parsed.other, std::nullopt);
        if (TRY(is_unpublished(request, parsed.stream, deadline)) && !TRY(is_unpublished(request, whole, deadline)))
            parsed.stream = whole;
    } else if (is_generated(parsed.ctx) && sessions_.may_pull(player)) {
        std::swap(parsed.stream, *parsed.other);
    }
    return {};
}

// Without sessions: the first request for a stream of another node starts to pull it.
Result<std::optional<session::Redirect>> HlsHandler::pull(const http::Request& request, const ParsedRequest& parsed,
                                                          io::Deadline deadline) {
    auto player = player_of(request, parsed.stream, "");
    player.is_admitted = remote_files_ != nullptr && remote_files_->shares(player);
    if (player.is_admitted && TRY(is_unpublished(request, parsed.stream, deadline)))
        return std::optional<session::Redirect>();
    const IndexedPlaylist* playlist = playlist_of_stream(request, parsed.stream);
    if (request.is_head() || !has_good_names(parsed.stream) || !sessions_.may_pull(player) ||
        (playlist != nullptr && playlist->output->is_published() && playlist->output->has_segment()))
        return std::optional<session::Redirect>();
    if (auto elsewhere = TRY(sessions_.pull(player, deadline)))
        return elsewhere;
    playlist = playlist_of_stream(request, parsed.stream);
    if (remote_files_ == nullptr || playlist == nullptr || !playlist->output->is_partial())
        TRY(wait_for_first(request, parsed.stream, deadline));
    return std::optional<session::Redirect>();
}

// Reports whether no known node has the stream. An edge does not query its origins for this.
Result<bool> HlsHandler::is_unpublished(const http::Request& request, const StreamName& stream, io::Deadline deadline) const {
    const auto player = player_of(request, stream, "");
    if (remote_files_ == nullptr || !remote_files_->shares(player))
        return !sessions_.may_pull(player);
    return !TRY(remote_files_->publishes(player, deadline));
}

// Reports whether the playlist exists: in memory, or on disk from an earlier process.
bool HlsHandler::exists(const http::Request& request, io::Deadline deadline) const {
    // The master playlist exists once it has a track to list; players cannot handle an empty one.
    if (const IndexedPlaylist* playlist = find(request).playlist)
        return playlist->rendition != nullptr || !playlist->output->has_renditions() ||
               playlist->output->renditions().has_playlist();
    const auto root = roots_.find(request);
    if (!root)
        return false;
    const auto file = io::File::open_below(root->folder, root->path, deadline);
    return file.ok() && !file->facts().is_folder;
}

// The playlist does not exist. Access rules are checked first, as for existing ones.
Result<void> HlsHandler::send_missing(http::Exchange& exchange, const ParsedRequest& parsed, io::Deadline deadline) {
    const auto allowed = sessions_.check(player_of(exchange.request(), parsed.stream, parsed.ctx));
    return exchange.send(allowed.ok() ? not_found() : refusal(allowed.error()), deadline);
}

// An edge may have just started to pull the stream, and its first fragment takes its whole duration. After the limit the request
// gets the current playlist. Errc::cancelled.
Result<void> HlsHandler::wait_for_first(const http::Request& request, const StreamName& stream, io::Deadline deadline) const {
    constexpr std::chrono::seconds kLimitMax{30};
    const HlsOptions* options = options_for(request);
    const Duration limit = options == nullptr ? Duration::zero() : std::min<Duration>(2 * options->fragment + 1s, kLimitMax);
    const auto until = deadline.sooner(io::Deadline::after(limit));
    Signal signal;
    while (!until.expired()) {
        const IndexedPlaylist* playlist = playlist_of_stream(request, stream);
        // Parts are not enough: some players do not support them.
        if (playlist == nullptr || playlist->output->has_segment())
            return {};
        playlist->output->note_request();  // keeps the stream in use
        TRY(wait_for_change(*playlist->output, signal, until));
    }
    return {};
}

// Players load the master playlist once. Their first request starts the renditions, which join at a key frame; after the limit
// the request gets the current playlist. Errc::cancelled.
Result<void> HlsHandler::wait_for_renditions(const http::Request& request, io::Deadline deadline) const {
    const auto until = deadline.sooner(io::Deadline::after(kRenditionsLimit));
    Signal signal;
    for (const IndexedPlaylist* playlist = find(request).playlist; playlist != nullptr && playlist->rendition == nullptr;
         playlist = find(request).playlist) {
        if (request.is_head())
            return {};
        playlist->output->note_request();
        if (!playlist->output->renditions().awaits_some(playlist->output->source()) || until.expired())
            return {};
        TRY(wait_for_change(*playlist->output, signal, until));
    }
    return {};
}

// If another node has opened the session, the player already has the master playlist.
Result<void> HlsHandler::open_session(http::Exchange& exchange, ParsedRequest parsed, Opened where, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    auto elsewhere = admit(exchange, parsed, deadline);
    if (!elsewhere.ok() && elsewhere.code() == Errc::not_found && parsed.other) {
        parsed.stream = *parsed.other;
        elsewhere = admit(exchange, parsed, deadline);
    }
    if (!elsewhere.ok() && elsewhere.code() == Errc::cancelled)
        return elsewhere.error();
    if (!elsewhere.ok())
        return exchange.send(refusal(elsewhere.error()), deadline);
    if (const auto& to = *elsewhere)
        return exchange.send(http::redirect_reply(request, to->http, parsed.stream.vhost, to->mark), deadline);
    const Session* session = sessions_.find(parsed.ctx);
    if (session != nullptr && session->is_guest() && session->has_returned())
        where = Opened::elsewhere;
    if (sessions_.may_pull(player_of(request, parsed.stream, "")) && !request.is_head())
        TRY(wait_for_first(request, parsed.stream, deadline));
    if (where == Opened::elsewhere && !request.is_head())
        return send_own_playlist(exchange, parsed, deadline);
    TRY(wait_for_renditions(request, deadline));
    const IndexedPlaylist* playlist = find(request).playlist;
    if (auto text =
            playlist == nullptr ? std::nullopt : master_text(request, *playlist, parsed, query_of_session(request, parsed.ctx)))
        return send_playlist(exchange, *std::move(text), parsed.ctx, deadline);
    wire::hls::Variant variant;
    std::optional<wire::hls::ClosedCaptions> captions;
    std::vector<wire::hls::Rendition> subtitles;
    const std::string query = "?" + query_of_session(request, parsed.ctx);
    if (playlist != nullptr) {
        if (playlist->rendition == nullptr)
            subtitles = playlist->output->subtitles(
                [&](const Names& names) { return path_of(request, names.track(), parsed.is_relative) + query; });
        captions = captions_of(std::as_const(*playlist->output).source());
        variant = playlist->rendition == nullptr ? playlist->output->variant() : playlist->rendition->variant();
    }
    if (variant.bandwidth <= 1)
        variant.bandwidth = variant.average_bandwidth = kBandwidthUnknown;
    variant.uri = path_of(request, "", parsed.is_relative) + query;
    return send_playlist(exchange, wire::hls::write_master_playlist({variant}, {}, captions, subtitles), parsed.ctx, deadline);
}

Result<std::optional<session::Redirect>> HlsHandler::admit(http::Exchange& exchange, const ParsedRequest& parsed,
                                                           io::Deadline deadline) {
    auto client = player_of(exchange.request(), parsed.stream, parsed.ctx);
    if (!exchange.request().is_head()) {
        LOG_INFO(exchange.log(), "client identified, type={}, vhost={}, app={}, stream={}, ctx={}", session::name_of(client.kind),
                 client.vhost, client.app, client.stream, parsed.ctx);
        return sessions_.open(std::move(client), parsed.idle_limit, deadline);
    }
    TRY(sessions_.check(client));
    return std::optional<session::Redirect>();
}

// Returns the master playlist of a stream with separate tracks; none for other streams.
std::optional<std::string> HlsHandler::master_text(const http::Request& request, const IndexedPlaylist& playlist,
                                                   const ParsedRequest& parsed, std::string_view query) const {
    if (playlist.rendition != nullptr || !playlist.output->has_renditions())
        return std::nullopt;
    const std::string rest = query.empty() ? "" : "?" + std::string(query);
    return playlist.output->master_text(
        [&](const Names& names) { return path_of(request, names.track(), parsed.is_relative || !parsed.has_sessions) + rest; });
}

// Serves the stream's own URL: a media playlist, or the master playlist of its tracks.
Result<void> HlsHandler::send_own_playlist(http::Exchange& exchange, const ParsedRequest& parsed, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (TRY(send_from_publisher(exchange, parsed, deadline)))
        return {};
    TRY(wait_for_renditions(request, deadline));
    const IndexedPlaylist* playlist = find(request).playlist;
    if (playlist == nullptr || playlist->rendition != nullptr || !playlist->output->has_renditions())
        return send_media_playlist(exchange, parsed, deadline);
    const std::string query = parsed.has_sessions ? query_of_session(request, parsed.ctx) : query_for_fragments(request, parsed);
    auto text = master_text(request, *playlist, parsed, query);
    return text ? send_playlist(exchange, *std::move(text), parsed.ctx, deadline) : exchange.send(not_found(), deadline);
}

// A list that began in the middle of the stream lacks segments that the publisher's worker lists.
Result<bool> HlsHandler::send_from_publisher(http::Exchange& exchange, const ParsedRequest& parsed, io::Deadline deadline) {
    const IndexedPlaylist* playlist = playlist_of_stream(exchange.request(), parsed.stream);
    if (remote_files_ == nullptr || exchange.request().is_sibling || playlist == nullptr || !playlist->output->is_partial())
        return false;
    if (!exchange.request().is_head())
        playlist->output->note_request();
    const std::string url = playlist->output->url();
    const auto sent = TRY(remote_files_->answer(exchange, url, nullptr, deadline));
    if (sent && !exchange.request().is_head())
        count(parsed.ctx, *sent);
    return sent.has_value();
}

// The stream that the path of a fragment names; without a name for another path.
StreamName HlsHandler::stream_of_path(const http::Request& request) const {
    const std::string& path = request.path();
    const HlsOptions* options = options_for(request);
    const auto below = path.substr(std::min(path.find_first_not_of('/'), path.size()));
    StreamName stream = (options == nullptr ? std::nullopt : stream_of_media(*options, below)).value_or(StreamName());
    stream.vhost = request.vhost();
    return stream;
}

// The access rules of the virtual host apply, unless the caller has checked the player's session.
Result<bool> HlsHandler::send_from_another_worker(http::Exchange& exchange, std::string_view ctx, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (remote_files_ == nullptr || request.is_sibling || options_for(request) == nullptr)
        return false;
    const Session* session = ctx.empty() ? nullptr : sessions_.find(ctx);
    const bool may_play =
        session != nullptr ? !session->is_kicked() : sessions_.check(player_of(request, stream_of_path(request), "")).ok();
    if (!may_play)
        return false;
    const auto sent = TRY(remote_files_->answer(exchange, nullptr, deadline));
    if (sent && !request.is_head())
        count(ctx, *sent);
    return sent.has_value();
}

Result<void> HlsHandler::send_media_playlist(http::Exchange& exchange, const ParsedRequest& parsed, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (const auto waited = request.is_head() ? Result<void>() : wait_for_playlist(request, deadline); !waited.ok()) {
        if (waited.code() == Errc::cancelled)
            return waited;
        return exchange.send(http::error_reply(Status::bad_request, waited.error().sentence()), deadline);
    }
    const Found place = find(request);
    if (place.is_others)
        return exchange.send(not_found(), deadline);
    if (place.playlist == nullptr)
        return send_previous_playlist(exchange, parsed, deadline);
    const auto& [output, rendition] = *place.playlist;
    // Players that poll every few seconds tolerate a few milliseconds.
    if (!output->is_low_latency() && !exchange.must_close())
        exchange.stream().coalesce_wakes();
    const std::string_view skip = request.target.query.get("_HLS_skip");
    const auto form = skip == "YES" || skip == "v2" ? SegmentList::Form::delta : SegmentList::Form::players;
    if (!request.is_head())
        output->note_request();
    auto text =
        (rendition == nullptr ? output->together() : *rendition).playlist_text(form, query_for_fragments(request, parsed));
    if (!text)
        return send_previous_playlist(exchange, parsed, deadline);
    return send_playlist(exchange, *std::move(text), parsed.ctx, deadline);
}

// Players drop the playlist's query when they resolve relative URIs, so the virtual host is added again.
std::string HlsHandler::query_for_fragments(const http::Request& request, const ParsedRequest& parsed) {
    std::string query = parsed.marks_fragments ? "hls_ctx=" + parsed.ctx : "";
    if (const std::string vhost = request.vhost(); vhost != request.host())
        query += (query.empty() ? "vhost=" : "&vhost=") + wire::http::percent_encode(vhost);
    return query;
}

// Serves a playlist of an earlier process, or of a stream that has ended.
Result<void> HlsHandler::send_previous_playlist(http::Exchange& exchange, const ParsedRequest& parsed, io::Deadline deadline) {
    const auto place = roots_.find(exchange.request());
    if (!place)
        return exchange.send(not_found(), deadline);
    if (const auto allowed = roots_.check(exchange.request(), *place, deadline); !allowed.ok())
        return exchange.send(refusal(allowed.error()), deadline);
    const auto file = io::File::open_below(place->folder, place->path, deadline);
    if (!file.ok() || file->facts().is_folder || file->facts().size > wire::hls::kPlaylistBytesMax)
        return TRY(send_from_another_worker(exchange, parsed.ctx, deadline)) ? Result<void>()
                                                                             : exchange.send(not_found(), deadline);
    const auto bytes = TRY(file->read(0, static_cast<std::size_t>(file->facts().size), deadline));
    return send_playlist(exchange, with_query(as_text(bytes), query_for_fragments(exchange.request(), parsed)), parsed.ctx,
                         deadline);
}

// 8216bis, 6.2.5.2: _HLS_msn and _HLS_part request a playlist that is not yet available. Errc::malformed: too far
// ahead.
Result<void> HlsHandler::wait_for_playlist(const http::Request& request, io::Deadline deadline) const {
    const auto& query = request.target.query;
    const auto number = number_of(query.find("_HLS_msn"));
    const auto part = number_of(query.find("_HLS_part"));
    if (!number)
        return {};
    Signal signal;
    std::optional<io::Deadline> until;
    for (;;) {
        const IndexedPlaylist* playlist = find(request).playlist;
        if (playlist == nullptr || !playlist->output->is_low_latency())
            return {};
        StreamOutput& output = *playlist->output;
        const Rendition& rendition = playlist->rendition == nullptr ? output.together() : *playlist->rendition;
        const auto wait = output.wait_for(rendition, *number, part);
        if (wait == SegmentList::Wait::never)
            return Error(Errc::malformed, "_HLS_msn is too far ahead");
        if (wait == SegmentList::Wait::ready)
            return {};
        if (!until)
            until = deadline.sooner(io::Deadline::after(output.wait_limit()));
        if (until->expired())
            return {};
        TRY(wait_for_change(output, signal, *until));
    }
}

Result<void> HlsHandler::send_playlist(http::Exchange& exchange, std::string text, std::string_view ctx, io::Deadline deadline) {
    const bool is_counted = !ctx.empty() && !exchange.request().is_head() && !exchange.request().is_sibling;
    if (Session* session = is_counted ? sessions_.find(ctx) : nullptr)
        session->add_sent(text.size());
    return exchange.send({.content_type = std::string(http::mime_of(kPlaylistEnding)),
                          .body = std::move(text),
                          .headers = {{"Cache-Control", "no-cache"}}},
                         deadline);
}

void HlsHandler::count(std::string_view ctx, std::uint64_t bytes) {
    if (Session* session = ctx.empty() ? nullptr : sessions_.find(ctx)) {
        session->add_sent(bytes);
        session->touch(io::now());
    } else if (is_good_ctx(ctx)) {
        sessions_.note_passing(std::string(ctx), bytes);
    }
}

bool HlsHandler::is_guarded(const http::Request& request) const {
    return sessions_.guards(player_of(request, {request.vhost(), "", ""}, ""));
}

// A session is already admitted. If another worker has the session, there is a guest here. Without a session only the access
// rules are checked and no callback is called, because players request many fragments. Guarded fragments are refused then.
Result<void> HlsHandler::check_access(const http::Request& request, const segments::StreamOfFiles& stream, std::string_view ctx,
                                      io::Deadline deadline) {
    if (request.is_sibling)
        return {};
    const Session* session = ctx.empty() ? nullptr : sessions_.find(ctx);
    if (session != nullptr && plays(*session, {request.vhost(), stream.app, stream.stream}))
        return session->is_kicked() ? Error(Errc::not_found, "this player has been disconnected") : Result<void>();
    auto player = player_of(request, {request.vhost(), stream.app, stream.stream}, std::string(ctx));
    const bool is_guarded = stream.has_sessions && sessions_.guards(player);
    // Before the rules: the URL of a fragment has no credentials.
    if (is_guarded && session == nullptr && is_generated(ctx) && sessions_.is_elsewhere(ctx)) {
        TRY(sessions_.open(player, stream.idle_limit, deadline));
        if (sessions_.plays(ctx, {request.vhost(), stream.app, stream.stream}))
            return {};
    }
    TRY(sessions_.check(player));
    return is_guarded ? Error(Errc::denied, "only players that have loaded the playlist may load this file") : Result<void>();
}

// Checks the access to media of a stream that this worker does not have. The path contains the stream's name.
Result<void> HlsHandler::check_access_by_path(const http::Request& request, std::string_view ctx, io::Deadline deadline) {
    const HlsOptions* options = options_for(request);
    if (remote_files_ == nullptr || request.is_sibling || options == nullptr || !options->ctx || !is_guarded(request))
        return {};
    const StreamName name = stream_of_path(request);
    segments::StreamOfFiles stream;
    stream.vhost = name.vhost;
    stream.app = name.app;
    stream.stream = name.stream;
    stream.idle_limit = 2 * std::max<Duration>(options->window, std::chrono::seconds(1));
    return check_access(request, stream, name.stream.empty() ? "" : ctx, deadline);
}

// Returns whether the file has been sent; one that has been abandoned, or has left the memory, is not.
Result<bool> HlsHandler::send_file(http::Exchange& exchange, const segments::FileRef& file, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    const std::string ctx(request.target.query.get(kCtx));
    if (const auto allowed = check_access(request, *file->stream(), ctx, deadline); !allowed.ok()) {
        if (allowed.code() == Errc::cancelled)
            return allowed.error();
        TRY(exchange.send(refusal(allowed.error()), deadline));
        return true;
    }
    // A part announced by a preload hint is requested before it is complete.
    if (!file->is_whole() && !request.is_head()) {
        const auto limit = deadline.sooner(io::Deadline::after(file->stream()->wait_limit));
        const auto waited = segments::wait_until_whole(*file, limit);
        if (!waited.ok() && waited.code() == Errc::cancelled)
            return Error(waited.error());
    }
    if (!file->is_whole() || file->blocks().empty())
        return false;
    if (!request.is_head()) {
        count(request.is_sibling ? "" : ctx, file->bytes());
        file->stream()->requested_at = io::now();
    }
    const bool is_private = file->stream()->has_sessions && is_guarded(request);
    TRY(segments::send_file(exchange, *file, segments::headers_for_caches(is_private), deadline));
    return true;
}

// Sends a file that is not in memory: from the disk, or from another worker.
Result<void> HlsHandler::send_left_file(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    const std::string ctx(request.target.query.get(kCtx));
    const auto root = roots_.find(request);
    const auto left =
        root ? io::File::open_below(root->folder, root->path, deadline) : Result<io::File>(Error(Errc::not_found, "no folder"));
    if (is_media(request.path())) {
        // Also for a file on the disk, which `files_` judges by the session's guest.
        const auto allowed = check_access_by_path(request, ctx, deadline);
        if (!allowed.ok() && allowed.code() == Errc::cancelled)
            return allowed;
        if (!allowed.ok() && !left.ok())
            return exchange.send(refusal(allowed.error()), deadline);
    }
    if (!left.ok() && is_media(request.path()) && TRY(send_from_another_worker(exchange, ctx, deadline)))
        return {};
    if (left.ok() && !ctx.empty() && !request.is_head() && !request.is_sibling)
        count(ctx, left->facts().size);
    return files_.serve(exchange, deadline);
}

}  // namespace live::service::hls
