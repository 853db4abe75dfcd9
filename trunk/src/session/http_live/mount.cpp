#include "session/http_live/mount.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "session/http_live/options.hpp"

namespace live::session::http_live {

namespace {

constexpr std::string_view kVhost = "[vhost]";
constexpr std::string_view kApp = "[app]";
constexpr std::string_view kStream = "[stream]";

// ".flv, .ts or .mp3"
std::string endings() {
    std::string text;
    for (std::size_t i = 0; i < kLiveFormats.size(); ++i)
        text += std::string(i == 0 ? "" : i + 1 == kLiveFormats.size() ? " or " : ", ") + std::string(kLiveFormats[i].ending);
    return text;
}

std::vector<std::string_view> split(std::string_view path) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t slash = path.find('/');
        parts.push_back(path.substr(0, slash));
        if (slash == std::string_view::npos)
            return parts;
        path.remove_prefix(slash + 1);
    }
}

std::string join(std::span<const std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts)
        text += (text.empty() ? "" : "/") + std::string(part);
    return text;
}

}  // namespace

Result<Mount> Mount::parse(std::string_view text) {
    Mount mount;
    const std::string whole(text);
    if (text.starts_with(kVhost)) {
        mount.of_vhost_ = true;
        text.remove_prefix(kVhost.size());
    }
    const auto format =
        std::ranges::find_if(kLiveFormats, [text](const LiveFormat& known) { return text.ends_with(known.ending); });
    if (!text.starts_with('/') || format == kLiveFormats.end())
        return Error(Errc::malformed, "mount " + whole + " must be [vhost]/... or /... and end in " + endings());
    mount.format_ = format;
    bool has_stream = false;
    for (const std::string_view part : split(text.substr(1))) {
        Segment segment;
        segment.before = part;
        for (const auto& [name, captures] : {std::pair{kApp, Segment::Captures::app}, {kStream, Segment::Captures::stream}}) {
            const std::size_t at = part.find(name);
            if (at == std::string_view::npos)
                continue;
            if (segment.captures != Segment::Captures::nothing || part.find(name, at + 1) != std::string_view::npos)
                return Error(Errc::malformed, "mount " + whole + " has two placeholders between two slashes");
            segment = {std::string(part.substr(0, at)), std::string(part.substr(at + name.size())), captures};
            has_stream = has_stream || captures == Segment::Captures::stream;
        }
        mount.segments_.push_back(std::move(segment));
    }
    if (!has_stream)
        return Error(Errc::malformed, "mount " + whole + " has no [stream]");
    return mount;
}

std::optional<MountedStream> Mount::match(std::string_view path) const {
    if (!path.starts_with('/'))
        return std::nullopt;
    const std::vector<std::string_view> parts = split(path.substr(1));
    if (parts.size() < segments_.size())
        return std::nullopt;
    MountedStream found;
    const std::size_t extra = parts.size() - segments_.size();
    found.same_depth = extra == 0;
    std::size_t at = 0;
    bool has_app = false;
    for (const Segment& segment : segments_) {
        const bool is_app = segment.captures == Segment::Captures::app;
        const std::size_t count = 1 + (is_app && !has_app ? extra : 0);
        has_app = has_app || is_app;
        const std::string taken = join(std::span(parts).subspan(at, count));
        at += count;
        if (segment.captures == Segment::Captures::nothing) {
            if (taken != segment.before)
                return std::nullopt;
            continue;
        }
        if (taken.size() <= segment.before.size() + segment.after.size() || !taken.starts_with(segment.before) ||
            !taken.ends_with(segment.after))
            return std::nullopt;
        (is_app ? found.app : found.stream) =
            taken.substr(segment.before.size(), taken.size() - segment.before.size() - segment.after.size());
    }
    if (at != parts.size())
        return std::nullopt;
    if (!has_app)
        found.app = kDefaultApp;
    return found;
}

std::optional<std::string> Mount::path_of(std::string_view app, std::string_view stream) const {
    std::string path;
    bool has_app = app == kDefaultApp;
    for (const Segment& segment : segments_) {
        const bool is_app = segment.captures == Segment::Captures::app;
        has_app = has_app || is_app;
        const std::string_view captured = is_app ? app : segment.captures == Segment::Captures::stream ? stream : "";
        path += "/" + segment.before + std::string(captured) + segment.after;
    }
    return has_app ? std::optional(path) : std::nullopt;
}

config::Findings check_remux_options(const RemuxOptions& options, const config::CheckContext& around) {
    const auto mount = Mount::parse(options.mount);
    return mount.ok() || !options.enabled
               ? config::Findings()
               : config::Findings::broken(fmt::format("vhost {}: http_remux: {}", around.vhost, mount.error().sentence()));
}

}  // namespace live::session::http_live
