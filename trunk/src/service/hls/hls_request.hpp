// The URLs of HLS requests: paths, session names and queries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "service/files/sessions.hpp"
#include "service/hls/files/names.hpp"
#include "session/http/handler.hpp"

namespace live::service::hls {

inline constexpr std::string_view kPlaylistEnding = ".m3u8";

inline bool is_playlist(std::string_view path) { return path.ends_with(kPlaylistEnding); }
// Reports whether the path may be in a playlist: a fragment, part, initialization section or key. MPEG-TS files need a number,
// because other names are those of live streams.
bool is_media(std::string_view path);
// Returns the stream of a playlist path, if no template is more specific: the folder is the application.
StreamName split_path(std::string_view path);
// Returns the path of the requested playlist, or of a track's playlist in the same folder.
std::string path_of(const session::http::Request& request, const std::string& track, bool is_relative);

// Reports whether the session name is valid: it appears in playlists, logs and the API.
bool is_good_ctx(std::string_view ctx);
// Returns a new session name. This process owns the sessions of that name.
std::string generate_ctx(const files::Sessions& sessions);
// Reports whether a node has generated the name: its last letter is a check letter.
bool is_generated(std::string_view ctx);

// Returns the value of a decimal number; none if it is malformed or missing.
std::optional<std::uint64_t> number_of(std::optional<std::string_view> text);
// 8216bis, 6.2.5.2: the server refuses invalid delivery directives. Errc::malformed.
Result<void> check_directives(const session::http::Request& request);
// Returns the query of a playlist URL in the session `ctx`.
std::string query_of_session(const session::http::Request& request, const std::string& ctx);
// Appends `query` to each URI of a playlist from disk, in attributes too. Playlists on disk have no session queries.
std::string with_query(std::string_view playlist, std::string_view query);

}  // namespace live::service::hls
