// DashHandler: answers GET of MPDs, headers and segments of streams held in memory. A segment in progress is sent with chunked
// transfer encoding, each chunk as soon as it is available; a request for the next segment waits for it. A virtual host serves
// only its own streams.
#pragma once

#include <chrono>
#include <optional>

#include "base/options_of.hpp"
#include "service/dash/options.hpp"
#include "service/dash/viewers.hpp"
#include "service/files/remote_file_source.hpp"
#include "service/segments/store.hpp"
#include "session/http/exchange.hpp"
#include "session/http/handler.hpp"
#include "session/http/static_handler.hpp"

namespace live::service::dash {

class DashHandler final : public session::http::Handler {
public:
    // Time limit for the first chunk and for each following one.
    static constexpr std::chrono::seconds kWaitMax{30};

    // Referenced objects must outlive this.
    DashHandler(segments::Store& store, const OptionsOf<DashOptions>& options, const session::http::FileRoots& roots,
                files::Sessions& sessions)
        : store_(store), options_(options), roots_(roots), viewers_(sessions), files_(roots) {}

    const Viewers& viewers() const { return viewers_; }
    // Finds the files of other processes; optional.
    void set_remote_files(files::RemoteFileSource& remote_files) { remote_files_ = &remote_files; }

    bool takes(const session::http::Request& request) const override;
    Result<void> serve(session::http::Exchange& exchange, io::Deadline deadline) override;

private:
    struct Found {
        segments::FileRef file;
        bool is_others = false;  // belongs to another virtual host than the requested one
    };
    Found find(const session::http::Request& request) const;
    Result<bool> is_unpublished(const session::http::Request& request, const segments::StreamOfFiles& stream,
                                io::Deadline deadline);
    // Reports whether the player requests the server's time.
    bool is_time(const session::http::Request& request) const;
    bool may_be_elsewhere(const session::http::Request& request) const;
    // Serves a file of another worker. False: that has none.
    Result<bool> send_from_another_worker(session::http::Exchange& exchange, io::Deadline deadline);
    Result<void> serve_unknown(session::http::Exchange& exchange, io::Deadline deadline);
    Result<bool> send_from_publisher(session::http::Exchange& exchange, const segments::StreamOfFilesRef& stream,
                                     io::Deadline deadline);
    // Adds the session to the URLs in the MPD of another worker.
    files::RemoteFileSource::Edit edit_for(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    // The query of segments: the virtual host if the request names it, since players drop the MPD's query, and the session of a
    // guarded stream. May be empty.
    std::string query_of_segments(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    Result<void> send_left_mpd(session::http::Exchange& exchange, const session::http::FilePlace& place, const std::string& query,
                               io::Deadline deadline);
    Result<void> send_mpd(session::http::Exchange& exchange, segments::File& file, io::Deadline deadline);
    Result<void> send_growing(session::http::Exchange& exchange, segments::File& file, io::Deadline deadline);

    // The stream whose MPD has the path of the request, if its virtual host has DASH.
    std::optional<segments::StreamOfFiles> stream_of_mpd(const session::http::Request& request) const;
    // The stream whose segment has that path. Without a name if its template has none.
    segments::StreamOfFiles stream_of_segment(const session::http::Request& request) const;
    std::optional<segments::StreamOfFiles> stream_of_mpd_at(const session::http::Request& request, const std::string& path) const;
    Result<void> serve_previous_mpd(session::http::Exchange& exchange, const segments::StreamOfFiles& stream,
                                    io::Deadline deadline);
    // The stream that is pulled from another server for an MPD request; none if it is on this node, or cannot be pulled.
    std::optional<segments::StreamOfFiles> pulled_stream(const session::http::Request& request) const;
    // The MPD exists after the stream's first segment. After the limit the request gets the current MPD.
    Result<void> wait_for_mpd(const session::http::Request& request, io::Deadline deadline);

    segments::Store& store_;
    const OptionsOf<DashOptions>& options_;
    const session::http::FileRoots& roots_;
    Viewers viewers_;
    session::http::StaticHandler files_;
    files::RemoteFileSource* remote_files_ = nullptr;
};

}  // namespace live::service::dash
