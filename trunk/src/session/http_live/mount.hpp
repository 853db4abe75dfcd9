// Mount: the URL template of a virtual host's HTTP live streams ("[vhost]/[app]/[stream].flv") and how paths match it. Text only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "session/http_live/live_format.hpp"

namespace live::session::http_live {

struct MountedStream {
    std::string app;
    std::string stream;
    // Whether the path has as many folders as the template. If it has more, they may belong to the application's name; this is
    // certain only if such a stream is published.
    bool same_depth = true;
};

class Mount {
public:
    // Errc::malformed unless it has [stream], at most one placeholder between two slashes, and a known extension.
    static Result<Mount> parse(std::string_view text);

    // A template that begins with [vhost] matches that virtual host only.
    bool is_of_vhost() const { return of_vhost_; }
    const LiveFormat& format() const { return *format_; }
    // Returns the stream that the path names; nullopt if it does not match. Without [app] in the template, the application is
    // kDefaultApp.
    static constexpr std::string_view kDefaultApp = "live";
    std::optional<MountedStream> match(std::string_view path) const;
    // Returns the path of the stream; nullopt if the template has no [app] and `app` is not kDefaultApp.
    std::optional<std::string> path_of(std::string_view app, std::string_view stream) const;

private:
    struct Segment {
        enum class Captures : std::uint8_t { nothing, app, stream };
        std::string before;
        std::string after;
        Captures captures = Captures::nothing;
    };

    std::vector<Segment> segments_;
    const LiveFormat* format_ = kLiveFormats.data();
    bool of_vhost_ = false;
};

}  // namespace live::session::http_live
