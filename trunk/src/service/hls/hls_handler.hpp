// HlsHandler: answers GET of playlists, fragments and parts: from memory for current streams, from disk for files of an earlier
// process. A virtual host serves only its own streams. If a virtual host identifies players by hls_ctx, the first playlist is a
// master playlist that contains the session's name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options_of.hpp"
#include "service/files/remote_file_source.hpp"
#include "service/files/sessions.hpp"
#include "service/hls/file_index.hpp"
#include "service/hls/hls_request.hpp"
#include "service/hls/options.hpp"
#include "service/hls/stream_output.hpp"
#include "session/http/exchange.hpp"
#include "session/http/handler.hpp"
#include "session/http/static_handler.hpp"

namespace live::service::hls {

using files::Session;
using files::Sessions;

class HlsHandler final : public session::http::Handler {
public:
    // Referenced objects must outlive this.
    HlsHandler(const FileIndex& index, const OptionsOf<HlsOptions>& options, const session::http::FileRoots& roots,
               Sessions& sessions)
        : index_(index), options_(options), roots_(roots), sessions_(sessions), files_(roots) {}

    // Finds the files of other processes; optional.
    void set_remote_files(files::RemoteFileSource& remote_files) { remote_files_ = &remote_files; }

    bool takes(const session::http::Request& request) const override;
    Result<void> serve(session::http::Exchange& exchange, io::Deadline deadline) override;

private:
    // A parsed request, and the settings of its virtual host. It borrows nothing.
    struct ParsedRequest {
        bool is_others = false;  // see Found
        bool has_sessions = false;
        bool marks_fragments = false;
        bool is_relative = false;
        Duration idle_limit{};
        StreamName stream;
        std::optional<StreamName> other;  // the other stream that the path may mean: see choose_stream
        std::string ctx;                  // sent by the player, or generated
    };

    // The playlist or file at the address of a request; valid until the next suspension.
    struct Found {
        const IndexedPlaylist* playlist = nullptr;
        segments::FileRef file;
        bool is_others = false;  // the path belongs to a stream of another virtual host than the requested one

        bool is_empty() const { return playlist == nullptr && file == nullptr; }
    };

    // nullptr if the virtual host has no HLS. Valid until the next suspension.
    const HlsOptions* options_for(const session::http::Request& request) const;
    Found find_at(const std::string& path, std::string_view vhost) const;
    // `stream`: the stream's playlist if the path is that of a track.
    enum class Of : bool { path, stream };
    Found find(const session::http::Request& request, Of of = Of::path) const;
    // The requested playlist, or the stream's own if a track's playlist does not exist yet; otherwise nullptr.
    const IndexedPlaylist* playlist_of_stream(const session::http::Request& request, const StreamName& stream) const;
    ParsedRequest parse(const session::http::Request& request) const;
    Result<void> serve_playlist(session::http::Exchange& exchange, io::Deadline deadline);
    Result<void> choose_stream(const session::http::Request& request, ParsedRequest& parsed, io::Deadline deadline);
    Result<std::optional<session::Redirect>> pull(const session::http::Request& request, const ParsedRequest& parsed,
                                                  io::Deadline deadline);
    Result<bool> is_unpublished(const session::http::Request& request, const StreamName& stream, io::Deadline deadline) const;
    bool exists(const session::http::Request& request, io::Deadline deadline) const;
    Result<void> send_missing(session::http::Exchange& exchange, const ParsedRequest& parsed, io::Deadline deadline);
    Result<void> wait_for_first(const session::http::Request& request, const StreamName& stream, io::Deadline deadline) const;
    // Waits until the master playlist lists the renditions that are made on demand.
    Result<void> wait_for_renditions(const session::http::Request& request, io::Deadline deadline) const;
    enum class Opened : bool { here, elsewhere };
    Result<void> open_session(session::http::Exchange& exchange, ParsedRequest parsed, Opened where, io::Deadline deadline);
    Result<std::optional<session::Redirect>> admit(session::http::Exchange& exchange, const ParsedRequest& parsed,
                                                   io::Deadline deadline);
    std::optional<std::string> master_text(const session::http::Request& request, const IndexedPlaylist& playlist,
                                           const ParsedRequest& parsed, std::string_view query) const;
    Result<void> send_own_playlist(session::http::Exchange& exchange, const ParsedRequest& parsed, io::Deadline deadline);
    Result<void> send_media_playlist(session::http::Exchange& exchange, const ParsedRequest& parsed, io::Deadline deadline);
    Result<void> send_previous_playlist(session::http::Exchange& exchange, const ParsedRequest& parsed, io::Deadline deadline);
    Result<void> wait_for_playlist(const session::http::Request& request, io::Deadline deadline) const;
    static std::string query_for_fragments(const session::http::Request& request, const ParsedRequest& parsed);
    Result<void> send_playlist(session::http::Exchange& exchange, std::string text, std::string_view ctx, io::Deadline deadline);
    Result<void> check_access(const session::http::Request& request, const segments::StreamOfFiles& stream, std::string_view ctx,
                              io::Deadline deadline);
    Result<void> check_access_by_path(const session::http::Request& request, std::string_view ctx, io::Deadline deadline);
    bool is_guarded(const session::http::Request& request) const;
    StreamName stream_of_path(const session::http::Request& request) const;
    Result<bool> send_file(session::http::Exchange& exchange, const segments::FileRef& file, io::Deadline deadline);
    Result<void> send_left_file(session::http::Exchange& exchange, io::Deadline deadline);
    // Serves a file of another worker. False: that has none.
    Result<bool> send_from_publisher(session::http::Exchange& exchange, const ParsedRequest& parsed, io::Deadline deadline);
    Result<bool> send_from_another_worker(session::http::Exchange& exchange, std::string_view ctx, io::Deadline deadline);
    void count(std::string_view ctx, std::uint64_t bytes);

    const FileIndex& index_;
    const OptionsOf<HlsOptions>& options_;
    const session::http::FileRoots& roots_;
    Sessions& sessions_;
    session::http::StaticHandler files_;
    files::RemoteFileSource* remote_files_ = nullptr;
};

}  // namespace live::service::hls
