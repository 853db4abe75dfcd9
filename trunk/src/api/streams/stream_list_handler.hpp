// StreamListHandler: the live streams for the pages of the streaming ports, with the URLs to play and publish. These ports are
// open to everybody: the answer has no data of clients, and only streams that the rules of their virtual host show to this
// client. Each worker lists the streams of all workers, one worker's after the other's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/common/rows.hpp"
#include "api/common/server_info.hpp"
#include "service/stats/stream_stats.hpp"
#include "service/workers/worker_service.hpp"
#include "session/common/stream_urls.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// Formats: "rtmp", "rtmps", "srt", "flv", "ws-flv", "ts", "ws-ts", "aac", "mp3", "hls", "ll-hls", "dash", "whep", "whip".
using StreamAddress = session::StreamUrl;

struct ListedStream {
    std::string_view vhost;  // its name in the settings
    std::string_view app;
    std::string_view name;
    bool comes_by_rtc = false;  // its publisher sends RTP
    std::string_view hls{};     // its format where a worker has a playlist: "hls" or "ll-hls"; empty: none has
};

// The settings for one request; invalid after a suspension.
class StreamListView {
public:
    virtual ~StreamListView() = default;
    // Whether the rules of the virtual host let this client play there. Makes no callback: streams with a callback are hidden.
    virtual bool shows(std::string_view vhost) const = 0;
    // Whether a virtual host has a callback that hides streams, live or not.
    virtual bool hides_some() const = 0;
    // The URLs at which this client can play the stream now.
    virtual std::vector<StreamAddress> play_addresses(const ListedStream& stream) const = 0;
    // The URLs at which it can publish live/livestream.
    virtual std::vector<StreamAddress> publish_addresses() const = 0;

    // The API's URL, or the reason why this client has none: the API is "off", listens on "loopback" only, or has no "https" for
    // a page loaded over it.
    struct ApiPlace {
        std::string url;
        std::string_view missing{};
    };
    virtual ApiPlace api() const = 0;
};

// app implements it. Must not suspend.
class StreamListSettings {
public:
    virtual ~StreamListSettings() = default;
    // http_server { stream_list }
    virtual bool is_enabled() const = 0;
    // The format of this process's playlist of the stream; empty: it has none.
    virtual std::string_view hls_format(const ListedStream& stream) const = 0;
    // nullptr when the request has no host usable in a URL.
    virtual std::unique_ptr<StreamListView> view(const session::http::Request& request) const = 0;
};

class StreamListHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/streams.json";
    // Limits of one response: streams shown, and streams examined.
    static constexpr std::size_t kCountDefault = 60;
    static constexpr std::size_t kCountMax = 100;
    static constexpr std::size_t kLooksMax = 1000;
    // The limits of one worker's answer to another.
    static constexpr std::chrono::milliseconds kAnswerLimit{1'500};
    static constexpr std::size_t kAnswerBytesMax = 1 << 20;

    // All must outlive this. nullptr: there are no workers.
    StreamListHandler(const ServerInfo& server, const service::stats::StreamStats& stream_stats,
                      const StreamListSettings& settings, service::workers::WorkerService* workers)
        : server_(server), stream_stats_(stream_stats), settings_(settings), workers_(workers) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    struct Page;

    // A page of another worker's streams, and of all workers'.
    Page others_page(std::size_t worker, const std::string& target, io::Deadline deadline) const;
    Page whole_page(const session::http::Request& request, std::uint64_t from, std::size_t count, io::Deadline deadline) const;
    Page one_stream(const session::http::Request& request, const std::string& url, io::Deadline deadline) const;
    // The viewers on all workers, by the URL of the stream. Another worker reports its first kLooksMax streams, or `url` alone.
    using Viewers = std::unordered_map<std::string, Rows>;
    Viewers viewers_of(const Page& page, const std::string& url, io::Deadline deadline) const;
    // Empty without other workers.
    std::vector<std::size_t> everybody() const;

    const ServerInfo& server_;
    const service::stats::StreamStats& stream_stats_;
    const StreamListSettings& settings_;
    service::workers::WorkerService* const workers_;
};

}  // namespace live::api
