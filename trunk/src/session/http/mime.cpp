#include "session/http/mime.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/text/ascii.hpp"

namespace live::session::http {

namespace {

struct Row {
    std::string_view ending;
    std::string_view type;
};

// The media types are those expected by players for servers of this family.
constexpr std::array kRows = {
    Row{".ts", "video/MP2T"},
    Row{".m3u8", "application/vnd.apple.mpegurl"},
    Row{".flv", "video/x-flv"},
    Row{".mp4", "video/mp4"},
    Row{".mp4v", "video/mp4"},
    Row{".m4v", "video/x-m4v"},
    Row{".m4s", "video/iso.segment"},
    Row{".mpd", "application/dash+xml"},
    Row{".aac", "audio/x-aac"},
    Row{".mp3", "audio/mpeg"},
    Row{".m4a", "audio/x-m4a"},
    Row{".ogg", "audio/ogg"},
    Row{".3gp", "video/3gpp"},
    Row{".3gpp", "video/3gpp"},
    Row{".webm", "video/webm"},
    Row{".html", "text/html"},
    Row{".htm", "text/html"},
    Row{".js", "text/javascript"},
    Row{".mjs", "text/javascript"},
    Row{".css", "text/css"},
    Row{".json", "application/json"},
    Row{".map", "application/json"},
    Row{".webmanifest", "application/manifest+json"},
    Row{".xml", "text/xml"},
    Row{".rss", "text/xml"},
    Row{".vtt", "text/vtt"},
    Row{".txt", "text/plain"},
    Row{".wasm", "application/wasm"},
    Row{".png", "image/png"},
    Row{".jpg", "image/jpeg"},
    Row{".jpeg", "image/jpeg"},
    Row{".gif", "image/gif"},
    Row{".ico", "image/x-icon"},
    Row{".svg", "image/svg+xml"},
    Row{".webp", "image/webp"},
    Row{".woff2", "font/woff2"},
    Row{".swf", "application/x-shockwave-flash"},
    Row{".zip", "application/zip"},
    Row{".rar", "application/x-rar-compressed"},
    Row{".doc", "application/msword"},
    Row{".pdf", "application/pdf"},
};

std::string ending_of(std::string_view path) {
    const auto slash = path.rfind('/');
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash))
        return {};
    return ascii::lowered(path.substr(dot));
}

}  // namespace

std::string_view mime_of(std::string_view path) {
    const auto row = std::ranges::find(kRows, ending_of(path), &Row::ending);
    return row == kRows.end() ? "application/octet-stream" : row->type;
}

bool is_changing(std::string_view path) {
    static constexpr std::array<std::string_view, 8> kEndings = {".html", ".htm",  ".js",   ".mjs",
                                                                 ".css",  ".json", ".m3u8", ".mpd"};
    return std::ranges::find(kEndings, ending_of(path)) != kEndings.end();
}

}  // namespace live::session::http
