// StreamListHandler: what a page of the streaming ports shows: the streams that are live, where they are played, and where one
// publishes. For everybody who reaches these ports, so it says nothing about clients, and only what the rules of a stream's
// virtual host let this client see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/server_info.hpp"
#include "service/stats/stream_stats.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// A full address. Formats: "rtmp", "rtmps", "flv", "ws-flv", "ts", "ws-ts", "aac", "mp3", "hls", "ll-hls", "dash", "whep",
// "whip".
struct StreamAddress {
    std::string format;
    std::string url;

    bool operator==(const StreamAddress&) const = default;
};

struct ListedStream {
    std::string_view vhost;  // by its name in the settings
    std::string_view app;
    std::string_view name;
    bool comes_by_rtc = false;
};

// The settings as one request sees them; not good after a suspension.
class StreamListView {
public:
    virtual ~StreamListView() = default;
    // Whether the rules of the virtual host let this client play there. No callback is asked.
    virtual bool shows(std::string_view vhost) const = 0;
    // Where this client can play the stream now.
    virtual std::vector<StreamAddress> play_addresses(const ListedStream& stream) const = 0;
    // Where it can publish live/livestream.
    virtual std::vector<StreamAddress> publish_addresses() const = 0;

    // Where the API is. Why it has no address for this client: it is switched "off", listens on "loopback" only, or has no
    // "https" for a page that came over it.
    struct ApiPlace {
        std::string url;
        std::string_view missing{};
    };
    virtual ApiPlace api() const = 0;
};

// main implements it. Must not suspend.
class StreamListSettings {
public:
    virtual ~StreamListSettings() = default;
    // http_server { stream_list }
    virtual bool is_enabled() const = 0;
    // nullptr when the request names no host that an address could be made of.
    virtual std::unique_ptr<StreamListView> view(const session::http::Request& request) const = 0;
};

class StreamListHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/streams.json";
    // Of one answer: streams, and streams that are looked at.
    static constexpr std::size_t kCountDefault = 60;
    static constexpr std::size_t kCountMax = 100;
    static constexpr std::size_t kLooksMax = 1000;

    // All outlive this.
    StreamListHandler(const ServerInfo& server, const service::stats::StreamStats& stream_stats,
                      const StreamListSettings& settings)
        : server_(server), stream_stats_(stream_stats), settings_(settings) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::stats::StreamStats& stream_stats_;
    const StreamListSettings& settings_;
};

}  // namespace live::api
