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
constexpr std::string_view kPlaylistEnding = ".m3u8";
// BANDWIDTH is mandatory (RFC 8216, 4.3.4.2): a usual rate, in bit/s, before a stream has media.
constexpr std::uint64_t kBandwidthUnknown = 2'000'000;

bool is_playlist(std::string_view path) { return path.ends_with(kPlaylistEnding); }

// Reports whether the path may be in a playlist: a fragment, part, initialization section or key. MPEG-TS files need a number,
// because other names are those of live streams.
bool is_media(std::string_view path) {
    constexpr std::array<std::string_view, 3> kEndings = {".m4s", ".mp4", ".key"};
    if (std::ranges::any_of(kEndings, [path](std::string_view ending) { return path.ends_with(ending); }))
        return true;
    if (!path.ends_with(".ts"))
        return false;
    const std::string_view stem = path.substr(0, path.rfind('.'));
    const std::size_t number = stem.find_last_not_of("0123456789.");
    return number != std::string_view::npos && number + 1 < stem.size() && stem[number] == '-';
}

http::Reply not_found() { return http::error_reply(Status::not_found, "there is no such playlist or fragment"); }

http::Reply refusal(const Error& why) { return http::error_reply(session::http::status_for(why.code()), why.sentence()); }

// Valid session names only: the name appears in playlists, logs and the API.
bool is_good_ctx(std::string_view ctx) {
    const auto is_good = [](char letter) {
        return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               letter == '-' || letter == '_';
    };
    return !ctx.empty() && ctx.size() <= Sessions::kNameBytesMax && std::ranges::all_of(ctx, is_good);
}

// The last letter of a generated name is a check letter. A node recognizes the names that other nodes have generated, or itself
// before a restart.
char last_of(std::string_view name) {
    constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyz";
    return kLetters[fnv1a(as_bytes(name)) % kLetters.size()];
}

// Returns the name of a session that exists on this node.
std::string generate_ctx(const Sessions& sessions) {
    std::string name;
    do {
        name = random_id();
        name.back() = last_of(std::string_view(name).substr(0, name.size() - 1));
    } while (sessions.is_elsewhere(name));
    return name;
}

bool is_generated(std::string_view ctx) {
    constexpr std::size_t kBytes = 8;
    return ctx.size() == kBytes && ctx.back() == last_of(ctx.substr(0, kBytes - 1));
}

std::optional<std::uint64_t> number_of(std::optional<std::string_view> text) {
    std::uint64_t number = 0;
    if (!text)
        return std::nullopt;
    const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
    return read.ec == std::errc() && read.ptr == text->data() + text->size() ? std::optional(number) : std::nullopt;
}

// 8216bis, 6.2.5.2: the server refuses invalid delivery directives. Errc::malformed.
Result<void> check_directives(const http::Request& request) {
    const auto& query = request.target.query;
    for (const std::string_view name : {"_HLS_msn", "_HLS_part"})
        if (const auto text = query.find(name); text && !number_of(text))
            return Error(Errc::malformed, std::string(name) + " is not a decimal number");
    if (query.find("_HLS_part") && !query.find("_HLS_msn"))
        return Error(Errc::malformed, "_HLS_part without _HLS_msn");
    return {};
}

// The query without the parameters that this server added.
std::string own_query(std::string_view query) {
    std::string text;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view one = query.substr(0, end);
        if (!one.empty() && !one.starts_with("hls_ctx=") && !one.starts_with("_HLS_"))
            text += "&" + std::string(one);
        query.remove_prefix(std::min(end + 1, query.size()));
    }
    return text;
}

// The path of the requested playlist, or of one of its stream's track playlists in the same folder.
std::string path_of(const http::Request& request, const std::string& track, bool is_relative) {
    const std::string whole = track.empty() ? request.path() : with_infix(request.path(), "." + track);
    const std::string path = wire::http::percent_encode_path(whole);
    return is_relative ? path.substr(path.rfind('/') + 1) : path;
}

std::string query_of_session(const http::Request& request, const std::string& ctx) {
    return "hls_ctx=" + ctx + own_query(request.target.raw_query);
}

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

// Without a more specific template, the folder is the application.
StreamName split_path(std::string_view path) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const std::size_t slash = path.rfind('/');
    StreamName name;
    if (slash == std::string_view::npos)
        return name;
    name.app = path.substr(0, slash);
    name.stream = path.substr(slash + 1, path.size() - slash - 1 - kPlaylistEnding.size());
    return name;
}

struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// Reports whether the URI is that of a file of this server. Keys may be at an address of the operator.
std::optional<Span> uri_in(std::string_view line) {
    constexpr std::string_view kAttribute = "URI=\"";
    if (!line.starts_with('#'))
        return line.empty() ? std::nullopt : std::optional<Span>({0, line.size()});
    const std::size_t attribute = line.find(kAttribute);
    if (attribute == std::string_view::npos)
        return std::nullopt;
    const Span uri{attribute + kAttribute.size(), line.find('"', attribute + kAttribute.size())};
    if (uri.end == std::string_view::npos)
        return std::nullopt;
    const std::string_view text = line.substr(uri.begin, uri.end - uri.begin);
    const bool is_operators =
        line.starts_with("#EXT-X-KEY") && (text.starts_with('/') || text.find("://") != std::string_view::npos);
    return is_operators ? std::nullopt : std::optional(uri);
}

}  // namespace

std::string with_query(std::string_view playlist, std::string_view added) {
    std::string text;
    while (!playlist.empty()) {
        const std::size_t end = std::min(playlist.find('\n'), playlist.size());
        std::string line(playlist.substr(0, end));
        playlist.remove_prefix(std::min(end + 1, playlist.size()));
        if (const auto uri = added.empty() ? std::nullopt : uri_in(line)) {
            const std::size_t query = std::min(line.find('?', uri->begin), uri->end);
            const std::string own = query < uri->end ? "&" + line.substr(query + 1, uri->end - query - 1) : "";
            line = line.substr(0, query) + "?" + std::string(added) + own + line.substr(uri->end);
        }
        text += line + "\n";
    }
    return text;
}

const HlsOptions* HlsHandler::options_for(const session::http::Request& request) const {
    const HlsOptions* options = options_.find(request.vhost());
    return options != nullptr && options->enabled ? options : nullptr;
}

HlsHandler::Place HlsHandler::place_at(const std::string& path, std::string_view vhost) const {
    Place place;
    place.playlist = index_.find(path);
    if (place.playlist == nullptr)
        place.file = index_.store().find(path);
    if (place.is_empty() || vhost.empty())
        return place;
    const std::string& owner = place.playlist != nullptr ? place.playlist->output->name().vhost : place.file->stream()->vhost;
    return owner == vhost ? place : Place{nullptr, nullptr, true};
}

// Names below hls_path count too, wherever that directory is.
HlsHandler::Place HlsHandler::find(const http::Request& request, Of of) const {
    const HlsOptions* options = options_for(request);
    const auto root = roots_.find(request);
    const std::string vhost = root ? root->vhost : "";
    const auto name = [of](const std::string& path) { return of == Of::path ? path : without_track(path).value_or(path); };
    Place place = root ? place_at(normal_path(root->folder, name(root->path)), vhost) : Place();
    if (options == nullptr || !place.is_empty())
        return place;
    Place below = place_at(normal_path(options->path, name(request.path())), vhost);
    below.is_others = below.is_empty() && (below.is_others || place.is_others);
    return below;
}

const IndexedPlaylist* HlsHandler::playlist_of_stream(const http::Request& request, const StreamName& stream) const {
    if (const IndexedPlaylist* own = find(request).playlist)
        return own;
    const IndexedPlaylist* whole = find(request, Of::whole).playlist;
    const bool is_its =
        whole != nullptr && whole->output->name().app == stream.app && whole->output->name().stream == stream.stream;
    return is_its ? whole : nullptr;
}

bool HlsHandler::takes(const http::Request& request) const {
    if (options_for(request) != nullptr && (is_playlist(request.path()) || request.target.query.find(kCtx)))
        return true;
    const Place place = find(request);
    if (!place.is_empty() || place.is_others)
        return true;
    return elsewhere_ != nullptr && !request.is_sibling && options_for(request) != nullptr && is_media(request.path());
}

HlsHandler::Asked HlsHandler::asked_for(const http::Request& request) const {
    Asked asked;
    const HlsOptions* options = options_for(request);
    const Place place = find(request);
    const IndexedPlaylist* playlist = place.playlist;
    asked.is_others = place.is_others;
    if (options == nullptr && playlist != nullptr)
        options = &playlist->output->options();
    if (options != nullptr) {
        asked.has_sessions = options->ctx;
        asked.marks_fragments = options->ctx && (options->ts_ctx || is_guarded(request));
        asked.is_relative = options->master_m3u8_path_relative;
        asked.idle_limit = 2 * std::max<Duration>(options->window, std::chrono::seconds(1));
    }
    if (playlist != nullptr) {
        asked.stream = playlist->output->name();
    } else if (options != nullptr) {
        const std::string below = request.path().substr(std::min(request.path().find_first_not_of('/'), request.path().size()));
        const auto named = [options](const std::string& path) {
            return match_name(options->m3u8_file, path).value_or(split_path(path));
        };
        asked.stream = named(below);
        if (const auto whole = without_track(below))
            asked.other = named(*whole);
        if (asked.other)
            asked.other->vhost = request.vhost();
    }
    asked.stream.vhost = request.vhost();
    asked.ctx = request.target.query.get(kCtx);
    if (!is_good_ctx(asked.ctx))
        asked.ctx.clear();
    return asked;
}

Result<void> HlsHandler::serve(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (!request.is_get())
        return exchange.send(http::method_not_allowed("GET, HEAD, OPTIONS", "HLS is played with GET"), deadline);
    if (!is_playlist(request.path()))
        return serve_file(exchange, deadline);
    if (const auto good = check_directives(request); !good.ok())
        return exchange.send(http::error_reply(Status::bad_request, good.error().sentence()), deadline);
    return request.is_sibling ? send_own_playlist(exchange, asked_for(request), deadline) : serve_playlist(exchange, deadline);
}

Result<void> HlsHandler::serve_playlist(http::Exchange& exchange, io::Deadline deadline) {
    Asked asked = asked_for(exchange.request());
    if (asked.is_others)
        return send_missing(exchange, asked, deadline);
    TRY(choose_stream(exchange.request(), asked, deadline));
    if (!asked.has_sessions) {
        const IndexedPlaylist* playlist = find(exchange.request()).playlist;
        const StreamName& stream = playlist == nullptr ? asked.stream : playlist->output->name();
        if (const auto allowed = sessions_.check(player_of(exchange.request(), stream, "")); !allowed.ok())
            return exchange.send(refusal(allowed.error()), deadline);
        const auto pulled = pull(exchange.request(), asked, deadline);
        if (!pulled.ok() && pulled.code() == Errc::cancelled)
            return pulled.error();
        if (!pulled.ok())
            return exchange.send(refusal(pulled.error()), deadline);
        if (*pulled)
            return exchange.send(http::redirect_reply(exchange.request(), (*pulled)->http, asked.stream.vhost, (*pulled)->mark),
                                 deadline);
        return send_own_playlist(exchange, asked, deadline);
    }
    // An invalid stream name: it can only be a static file.
    if (!has_good_names(asked.stream))
        return files_.serve(exchange, deadline);
    Session* session = asked.ctx.empty() ? nullptr : sessions_.find(asked.ctx);
    // A session of another stream, or of another virtual host, does not count here.
    if (session != nullptr && !plays(*session, asked.stream)) {
        session = nullptr;
        asked.ctx.clear();
    }
    if (session == nullptr) {
        if (TRY(is_nowhere(exchange.request(), asked.stream, deadline)) && !is_there(exchange.request(), deadline))
            return send_missing(exchange, asked, deadline);
        const auto where = is_generated(asked.ctx) ? Named::elsewhere : Named::here;
        if (asked.ctx.empty())
            asked.ctx = generate_ctx(sessions_);
        return open_session(exchange, asked, where, deadline);
    }
    if (session->is_kicked())
        return exchange.send(not_found(), deadline);
    if (const auto elsewhere = exchange.request().is_head() ? std::nullopt : sessions_.send_on(*session))
        return exchange.send(http::redirect_reply(exchange.request(), elsewhere->http, asked.stream.vhost, elsewhere->mark),
                             deadline);
    if (!exchange.request().is_head())
        session->touch(io::now());
    return send_own_playlist(exchange, asked, deadline);
}

// A missing playlist may be that of a track whose stream this node has not joined yet. It belongs to the session of that stream.
// Its name may also be that of another stream.
Result<void> HlsHandler::choose_stream(const http::Request& request, Asked& asked, io::Deadline deadline) {
    if (!asked.other || !has_good_names(*asked.other))
        return {};
    const Session* session = asked.ctx.empty() ? nullptr : sessions_.find(asked.ctx);
    if (session != nullptr && (plays(*session, asked.stream) || plays(*session, *asked.other))) {
        if (!plays(*session, asked.stream))
            asked.stream = *asked.other;
        asked.other.reset();
        return {};
    }
    const auto player = player_of(request, *asked.other, "");
    if (elsewhere_ != nullptr && elsewhere_->shares(player)) {
        const StreamName whole = *std::exchange(asked.other, std::nullopt);
        if (TRY(is_nowhere(request, asked.stream, deadline)) && !TRY(is_nowhere(request, whole, deadline)))
            asked.stream = whole;
    } else if (is_generated(asked.ctx) && sessions_.may_pull(player)) {
        std::swap(asked.stream, *asked.other);
    }
    return {};
}

// Without sessions: the first request for a stream of another node starts to pull it.
Result<std::optional<session::Redirect>> HlsHandler::pull(const http::Request& request, const Asked& asked,
                                                          io::Deadline deadline) {
    auto player = player_of(request, asked.stream, "");
    player.is_admitted = elsewhere_ != nullptr && elsewhere_->shares(player);
    if (player.is_admitted && TRY(is_nowhere(request, asked.stream, deadline)))
        return std::optional<session::Redirect>();
    const IndexedPlaylist* playlist = playlist_of_stream(request, asked.stream);
    if (request.is_head() || !has_good_names(asked.stream) || !sessions_.may_pull(player) ||
        (playlist != nullptr && playlist->output->is_published() && playlist->output->has_segment()))
        return std::optional<session::Redirect>();
    if (auto elsewhere = TRY(sessions_.pull(player, deadline)))
        return elsewhere;
    playlist = playlist_of_stream(request, asked.stream);
    if (elsewhere_ == nullptr || playlist == nullptr || !playlist->output->is_partial())
        TRY(wait_for_first(request, asked.stream, deadline));
    return std::optional<session::Redirect>();
}

// No known node has the stream. An edge does not query its origins here.
Result<bool> HlsHandler::is_nowhere(const http::Request& request, const StreamName& stream, io::Deadline deadline) const {
    const auto player = player_of(request, stream, "");
    if (elsewhere_ == nullptr || !elsewhere_->shares(player))
        return !sessions_.may_pull(player);
    return !TRY(elsewhere_->publishes(player, deadline));
}

// In memory while the stream is published, or on disk from an earlier process.
bool HlsHandler::is_there(const http::Request& request, io::Deadline deadline) const {
    // The master playlist exists once it has a track to list; players cannot handle an empty one.
    if (const IndexedPlaylist* playlist = find(request).playlist)
        return playlist->rendition != nullptr || !playlist->output->has_renditions() || playlist->output->has_playlist();
    const auto root = roots_.find(request);
    if (!root)
        return false;
    const auto file = io::File::open_below(root->folder, root->path, deadline);
    return file.ok() && !file->facts().is_folder;
}

// The playlist does not exist. Access rules are checked first, as for existing ones.
Result<void> HlsHandler::send_missing(http::Exchange& exchange, const Asked& asked, io::Deadline deadline) {
    const auto allowed = sessions_.check(player_of(exchange.request(), asked.stream, asked.ctx));
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
        playlist->output->note_asked();  // keeps the stream in use
        const auto waiters = playlist->output->waiters();
        waiters->add(signal);
        const auto woken = io::wait(signal, until);
        waiters->remove(signal);
        if (!woken.ok() && woken.code() == Errc::cancelled)
            return woken;
    }
    return {};
}

// Another node has opened a session with a name that it has generated: the player already has the master playlist.
Result<void> HlsHandler::open_session(http::Exchange& exchange, Asked asked, Named where, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    auto elsewhere = admit(exchange, asked, deadline);
    if (!elsewhere.ok() && elsewhere.code() == Errc::not_found && asked.other) {
        asked.stream = *asked.other;
        elsewhere = admit(exchange, asked, deadline);
    }
    if (!elsewhere.ok() && elsewhere.code() == Errc::cancelled)
        return elsewhere.error();
    if (!elsewhere.ok())
        return exchange.send(refusal(elsewhere.error()), deadline);
    if (const auto& to = *elsewhere)
        return exchange.send(http::redirect_reply(request, to->http, asked.stream.vhost, to->mark), deadline);
    const Session* session = sessions_.find(asked.ctx);
    if (session != nullptr && session->is_guest() && session->has_returned())
        where = Named::elsewhere;
    if (sessions_.may_pull(player_of(request, asked.stream, "")) && !request.is_head())
        TRY(wait_for_first(request, asked.stream, deadline));
    if (where == Named::elsewhere && !request.is_head())
        return send_own_playlist(exchange, asked, deadline);
    const IndexedPlaylist* playlist = find(request).playlist;
    if (auto text =
            playlist == nullptr ? std::nullopt : master_text(request, *playlist, asked, query_of_session(request, asked.ctx)))
        return send_playlist(exchange, *std::move(text), asked.ctx, deadline);
    wire::hls::Variant variant;
    if (playlist != nullptr)
        variant = playlist->rendition == nullptr ? playlist->output->variant() : playlist->rendition->variant();
    if (variant.bandwidth <= 1)
        variant.bandwidth = variant.average_bandwidth = kBandwidthUnknown;
    variant.uri = path_of(request, "", asked.is_relative) + "?" + query_of_session(request, asked.ctx);
    return send_playlist(exchange, wire::hls::write_master_playlist({variant}), asked.ctx, deadline);
}

Result<std::optional<session::Redirect>> HlsHandler::admit(http::Exchange& exchange, const Asked& asked, io::Deadline deadline) {
    auto client = player_of(exchange.request(), asked.stream, asked.ctx);
    if (!exchange.request().is_head()) {
        LOG_INFO(exchange.log(), "client identified, type={}, vhost={}, app={}, stream={}, ctx={}", session::name_of(client.kind),
                 client.vhost, client.app, client.stream, asked.ctx);
        return sessions_.open(std::move(client), asked.idle_limit, deadline);
    }
    TRY(sessions_.check(client));
    return std::optional<session::Redirect>();
}

// The master playlist of a stream with separate tracks; none for other streams.
std::optional<std::string> HlsHandler::master_text(const http::Request& request, const IndexedPlaylist& playlist,
                                                   const Asked& asked, std::string_view query) const {
    if (playlist.rendition != nullptr || !playlist.output->has_renditions())
        return std::nullopt;
    const std::string rest = query.empty() ? "" : "?" + std::string(query);
    return playlist.output->master_text(
        [&](const Names& names) { return path_of(request, names.track(), asked.is_relative || !asked.has_sessions) + rest; });
}

// Serves the stream's own URL: a media playlist, or the master playlist of its tracks.
Result<void> HlsHandler::send_own_playlist(http::Exchange& exchange, const Asked& asked, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (TRY(send_from_publisher(exchange, asked, deadline)))
        return {};
    const IndexedPlaylist* playlist = find(request).playlist;
    if (playlist == nullptr || playlist->rendition != nullptr || !playlist->output->has_renditions())
        return send_media_playlist(exchange, asked, deadline);
    const std::string query = asked.has_sessions ? query_of_session(request, asked.ctx) : query_for_fragments(request, asked);
    auto text = master_text(request, *playlist, asked, query);
    return text ? send_playlist(exchange, *std::move(text), asked.ctx, deadline) : exchange.send(not_found(), deadline);
}

// A list that began in the middle of the stream lacks segments that the publisher's worker lists.
Result<bool> HlsHandler::send_from_publisher(http::Exchange& exchange, const Asked& asked, io::Deadline deadline) {
    const IndexedPlaylist* playlist = playlist_of_stream(exchange.request(), asked.stream);
    if (elsewhere_ == nullptr || exchange.request().is_sibling || playlist == nullptr || !playlist->output->is_partial())
        return false;
    if (!exchange.request().is_head())
        playlist->output->note_asked();
    const std::string url = playlist->output->url();
    const auto sent = TRY(elsewhere_->answer(exchange, url, deadline));
    if (sent && !exchange.request().is_head())
        count(asked.ctx, *sent);
    return sent.has_value();
}

// Access rules are those of the virtual host; a session is admitted.
Result<bool> HlsHandler::send_from_anybody(http::Exchange& exchange, std::string_view ctx, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (elsewhere_ == nullptr || request.is_sibling || options_for(request) == nullptr)
        return false;
    const Session* session = ctx.empty() ? nullptr : sessions_.find(ctx);
    const bool is_kicked = session != nullptr && session->is_kicked();
    if (is_kicked || !sessions_.check(player_of(request, {request.vhost(), "", ""}, "")).ok())
        return false;
    const auto sent = TRY(elsewhere_->answer(exchange, deadline));
    if (sent && !request.is_head())
        count(ctx, *sent);
    return sent.has_value();
}

Result<void> HlsHandler::send_media_playlist(http::Exchange& exchange, const Asked& asked, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (const auto waited = request.is_head() ? Result<void>() : wait_for_playlist(request, deadline); !waited.ok()) {
        if (waited.code() == Errc::cancelled)
            return waited;
        return exchange.send(http::error_reply(Status::bad_request, waited.error().sentence()), deadline);
    }
    const Place place = find(request);
    if (place.is_others)
        return exchange.send(not_found(), deadline);
    if (place.playlist == nullptr)
        return send_left_behind(exchange, asked, deadline);
    const auto& [output, rendition] = *place.playlist;
    // Players that poll every few seconds tolerate a few milliseconds.
    if (!output->is_low_latency() && !exchange.must_close())
        exchange.stream().coalesce_wakes();
    const std::string_view skip = request.target.query.get("_HLS_skip");
    const auto form = skip == "YES" || skip == "v2" ? SegmentList::Form::delta : SegmentList::Form::players;
    if (!request.is_head())
        output->note_asked();
    auto text = (rendition == nullptr ? output->together() : *rendition).playlist_text(form, query_for_fragments(request, asked));
    if (!text)
        return send_left_behind(exchange, asked, deadline);
    return send_playlist(exchange, *std::move(text), asked.ctx, deadline);
}

// Players drop the playlist's query when they resolve relative URIs, so the virtual host is added again.
std::string HlsHandler::query_for_fragments(const http::Request& request, const Asked& asked) {
    std::string query = asked.marks_fragments ? "hls_ctx=" + asked.ctx : "";
    if (const std::string vhost = request.vhost(); vhost != request.host())
        query += (query.empty() ? "vhost=" : "&vhost=") + wire::http::percent_encode(vhost);
    return query;
}

// Serves a playlist of an earlier process, or of a stream that has ended.
Result<void> HlsHandler::send_left_behind(http::Exchange& exchange, const Asked& asked, io::Deadline deadline) {
    const auto place = roots_.find(exchange.request());
    if (!place)
        return exchange.send(not_found(), deadline);
    if (const auto allowed = roots_.check(exchange.request(), *place); !allowed.ok())
        return exchange.send(refusal(allowed.error()), deadline);
    const auto file = io::File::open_below(place->folder, place->path, deadline);
    if (!file.ok() || file->facts().is_folder || file->facts().size > wire::hls::kPlaylistBytesMax)
        return TRY(send_from_anybody(exchange, asked.ctx, deadline)) ? Result<void>() : exchange.send(not_found(), deadline);
    const auto bytes = TRY(file->read(0, static_cast<std::size_t>(file->facts().size), deadline));
    return send_playlist(exchange, with_query(as_text(bytes), query_for_fragments(exchange.request(), asked)), asked.ctx,
                         deadline);
}

// 8216bis, 6.2.5.2: _HLS_msn and _HLS_part request a playlist that is not yet available. Errc::malformed when it is too far
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
        const auto waiters = output.waiters();
        waiters->add(signal);
        const auto woken = io::wait(signal, *until);
        waiters->remove(signal);
        if (!woken.ok())
            return woken.code() == Errc::cancelled ? woken : Result<void>();
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

// A session is already admitted. Without a session only the access rules are checked and no callback is called, because players
// request many fragments. Guarded fragments are refused then. If another worker has the session, there is a guest here.
Result<void> HlsHandler::may_have(const http::Request& request, const segments::StreamOfFiles& stream, std::string_view ctx,
                                  io::Deadline deadline) {
    if (request.is_sibling)
        return {};
    const Session* session = ctx.empty() ? nullptr : sessions_.find(ctx);
    if (session != nullptr && plays(*session, {request.vhost(), stream.app, stream.stream}))
        return session->is_kicked() ? Error(Errc::not_found, "this player has been sent away") : Result<void>();
    auto player = player_of(request, {request.vhost(), stream.app, stream.stream}, std::string(ctx));
    TRY(sessions_.check(player));
    if (!stream.has_sessions || !sessions_.guards(player))
        return {};
    if (is_generated(ctx) && session == nullptr && sessions_.is_elsewhere(ctx)) {
        TRY(sessions_.open(std::move(player), stream.idle_limit, deadline));
        if (sessions_.plays(ctx, {request.vhost(), stream.app, stream.stream}))
            return {};
    }
    return Error(Errc::denied, "this is for players that have got the playlist here");
}

// Returns the stream of a media path. This worker does not have the stream.
Result<void> HlsHandler::may_have_unknown(const http::Request& request, std::string_view ctx, io::Deadline deadline) {
    const HlsOptions* options = options_for(request);
    if (elsewhere_ == nullptr || request.is_sibling || options == nullptr || !options->ctx || !is_guarded(request))
        return {};
    const auto name =
        stream_of_media(*options, request.path().substr(std::min(request.path().find_first_not_of('/'), request.path().size())));
    segments::StreamOfFiles stream;
    stream.vhost = request.vhost();
    stream.app = name ? name->app : "";
    stream.stream = name ? name->stream : "";
    stream.idle_limit = 2 * std::max<Duration>(options->window, std::chrono::seconds(1));
    return may_have(request, stream, name ? ctx : "", deadline);
}

Result<bool> HlsHandler::send_file(http::Exchange& exchange, const segments::FileRef& file, std::string_view ctx,
                                   io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (const auto allowed = may_have(request, *file->stream(), ctx, deadline); !allowed.ok()) {
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
        file->stream()->asked_at = io::now();
    }
    const bool is_private = file->stream()->has_sessions && is_guarded(request);
    TRY(segments::send_file(exchange, *file, segments::headers_for_caches(is_private), deadline));
    return true;
}

Result<void> HlsHandler::serve_file(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    const Place place = find(request);
    if (place.is_others)
        return exchange.send(not_found(), deadline);
    const std::string ctx(request.target.query.get(kCtx));
    if (place.file != nullptr && TRY(send_file(exchange, place.file, ctx, deadline)))
        return {};
    const auto root = roots_.find(request);
    const auto left =
        root ? io::File::open_below(root->folder, root->path, deadline) : Result<io::File>(Error(Errc::not_found, "no folder"));
    if (is_media(request.path())) {
        // Also for a file on the disk, which `files_` judges by the session's guest.
        const auto allowed = may_have_unknown(request, ctx, deadline);
        if (!allowed.ok() && allowed.code() == Errc::cancelled)
            return allowed;
        if (!allowed.ok() && !left.ok())
            return exchange.send(refusal(allowed.error()), deadline);
    }
    if (!left.ok() && is_media(request.path()) && TRY(send_from_anybody(exchange, ctx, deadline)))
        return {};
    if (left.ok() && !ctx.empty() && !request.is_head() && !request.is_sibling)
        count(ctx, left->facts().size);
    return files_.serve(exchange, deadline);
}

}  // namespace live::service::hls
