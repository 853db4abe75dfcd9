#include "service/hls/files/names.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "wire/http/target.hpp"

namespace live::service::hls {

namespace fs = std::filesystem;

namespace {

std::string folder_of(const std::string& name) { return fs::path(name).parent_path().string(); }

// The URI of "a/cam-7.ts" in the playlist "a/cam.m3u8": "cam-7.ts".
std::string relative_to(const std::string& name, const std::string& playlist) {
    const fs::path folder = fs::path(playlist).parent_path().lexically_normal();
    const fs::path relative = fs::path(name).lexically_normal().lexically_relative(folder.empty() ? "." : folder);
    return relative.empty() ? name : relative.generic_string();
}

}  // namespace

std::string with_infix(const std::string& name, const std::string& infix) {
    const std::size_t slash = name.rfind('/');
    std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || (slash != std::string::npos && dot < slash))
        dot = name.size();
    return name.substr(0, dot) + infix + name.substr(dot);
}

namespace {

// "text", or "text-" and a language tag.
bool is_text_track(std::string_view track) {
    constexpr std::string_view kLetters = "-0123456789abcdefghijklmnopqrstuvwxyz";
    if (!track.starts_with(kTextTrack))
        return false;
    track.remove_prefix(kTextTrack.size());
    return track.empty() ||
           (track.size() > 1 && track.front() == '-' && track.find_first_not_of(kLetters) == std::string_view::npos);
}

std::string with_ending(const std::string& name, std::string_view ending) {
    return name.substr(0, std::min(name.rfind('.'), name.size())) + std::string(ending);
}

}  // namespace

std::optional<std::string> without_track(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot == 0)
        return std::nullopt;
    const std::size_t begin = name.rfind('.', dot - 1);
    if (begin == std::string::npos || begin == 0 || name[begin - 1] == '/')
        return std::nullopt;
    std::string_view track = std::string_view(name).substr(begin + 1, dot - begin - 1);
    const std::string whole = name.substr(0, begin) + name.substr(dot);
    if (is_text_track(track))
        return whole;
    if (!track.starts_with("audio") && !track.starts_with("video"))
        return std::nullopt;
    track.remove_prefix(std::string_view("audio").size());
    const bool is_numbered = track.size() > 1 && track.front() == '-' && track[1] != '0' &&
                             track.find_first_not_of("0123456789", 1) == std::string_view::npos;
    return track.empty() || is_numbered ? std::optional(whole) : std::nullopt;
}

namespace {

// Returns the name without `mark` and the digits before the extension: "cam-7.ts" for "cam-7.2.ts" and '.'.
std::string without_number(const std::string& name, char mark) {
    const std::size_t dot = name.rfind('.');
    const std::size_t before = dot == std::string::npos || dot == 0 ? dot : name.find_last_not_of("0123456789", dot - 1);
    const bool has_number = before != std::string::npos && before + 1 < dot && name[before] == mark;
    return has_number ? name.substr(0, before) + name.substr(dot) : name;
}

}  // namespace

std::optional<StreamName> stream_of_media(const HlsOptions& options, std::string_view name) {
    // Also names of parts, "cam-7.2.ts", and of tracks, "cam-7.audio.2.m4s".
    std::string plain(name.ends_with(kTextEnding) ? with_ending(std::string(name), ".ts") : name);
    for (int i = 0; i < 2; ++i)
        plain = without_number(without_track(plain).value_or(plain), '.');
    for (const std::string* form : {&options.ts_file, &options.fmp4_file, &options.init_file, &options.key_file})
        if (auto stream = files::match_name(*form, plain))
            return stream;
    return files::match_name(options.init_file, without_number(plain, '-'));
}

Names::Names(const HlsOptions& options, StreamName stream, Zone zone, std::string track)
    : options_(options),
      stream_(std::move(stream)),
      zone_(zone),
      track_(std::move(track)),
      container_(options.use_fmp4 == Fmp4::on ? Container::fmp4 : Container::ts) {
    playlist_url_ = of_track(replace_variables(options_.m3u8_file, variables({})));
    playlist_file_ = normal_path(options_.path, playlist_url_);
}

std::string Names::of_track(std::string text) const { return track_.empty() ? text : with_infix(text, "." + track_); }

Variables Names::variables(std::chrono::system_clock::time_point now) const {
    Variables all = time_variables(now, zone_);
    all.insert(all.end(), {{"vhost", stream_.vhost}, {"app", stream_.app}, {"stream", stream_.stream}});
    return all;
}

std::vector<std::string> Names::claimed_paths() const {
    const Variables names = {{"vhost", stream_.vhost}, {"app", stream_.app}, {"stream", stream_.stream}};
    std::vector<const std::string*> forms = {&options_.m3u8_file};
    if (options_.use_fmp4 != Fmp4::on && track_.empty())
        forms.push_back(&options_.ts_file);
    if (options_.use_fmp4 != Fmp4::off)
        forms.insert(forms.end(), {&options_.fmp4_file, &options_.init_file});
    std::vector<std::string> paths;
    for (const std::string* form : forms)
        paths.push_back(normal_path(options_.path, of_track(replace_variables(*form, names))));
    if (options_.keys && track_.empty())
        paths.push_back(normal_path(options_.key_file_path, replace_variables(options_.key_file, names)));
    return paths;
}

FileName Names::named(std::string text) const {
    FileName name;
    name.file = normal_path(options_.path, text);
    name.uri = wire::http::percent_encode_path(relative_to(text, playlist_url_));
    if (!options_.entry_prefix.empty()) {
        const std::string folder = folder_of(playlist_url_);
        name.uri = options_.entry_prefix + (options_.entry_prefix.ends_with('/') ? "" : "/") +
                   (folder.empty() ? "" : wire::http::percent_encode_path(folder) + "/") + name.uri;
    }
    name.text = std::move(text);
    return name;
}

FileName Names::fragment(std::uint64_t number, MediaTime duration, std::chrono::system_clock::time_point now) const {
    Variables all = variables(now);
    all.emplace_back("seq", std::to_string(number));
    all.emplace_back("duration", std::to_string(std::chrono::round<std::chrono::milliseconds>(duration).count()));
    if (options_.ts_floor && options_.fragment.count() > 0) {
        const auto since = std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch());
        all.emplace_back("timestamp", std::to_string(since / options_.fragment));
    }
    const std::string text =
        of_track(replace_variables(container_ == Container::fmp4 ? options_.fmp4_file : options_.ts_file, all));
    return named(container_ == Container::webvtt ? with_ending(text, kTextEnding) : text);
}

FileName Names::part(const FileName& fragment, std::uint64_t part) {
    const std::string number = fmt::format(".{}", part);
    return {with_infix(fragment.file, number), with_infix(fragment.uri, number), with_infix(fragment.text, number)};
}

FileName Names::key(std::uint64_t number, std::chrono::system_clock::time_point now) const {
    Variables all = variables(now);
    all.emplace_back("seq", std::to_string(number));
    const std::string text = replace_variables(options_.key_file, all);
    return {normal_path(options_.key_file_path, text),
            options_.key_url.empty() ? named(text).uri : options_.key_url + wire::http::percent_encode_path(text), text};
}

FileName Names::init(std::uint64_t number) const {
    const std::string text = of_track(replace_variables(options_.init_file, variables({})));
    return named(number == 0 ? text : with_infix(text, fmt::format("-{}", number)));
}

std::string Names::reported_path(std::string_view below) const {
    return options_.path + (options_.path.ends_with('/') ? "" : "/") + std::string(below);
}

std::optional<std::string> Names::file_of(std::string_view uri) const {
    std::string text(uri.substr(0, uri.find('?')));
    const std::string folder = folder_of(playlist_url_);
    if (!options_.entry_prefix.empty()) {
        if (!text.starts_with(options_.entry_prefix))
            return std::nullopt;
        text.erase(0, options_.entry_prefix.size());
    }
    // Playlists of earlier releases have names without encoding, and these contain no '%'.
    if (auto decoded = wire::http::percent_decode(text); decoded.ok())
        text = *std::move(decoded);
    if (options_.entry_prefix.empty() && !folder.empty())
        text = folder + "/" + text;
    const std::string base = normal_path(options_.path, "");
    const std::string file = normal_path(options_.path, text);
    const bool is_inside = base == "." ? !file.starts_with("..") : file.starts_with(base.ends_with('/') ? base : base + "/");
    return is_inside ? std::optional(file) : std::nullopt;
}

}  // namespace live::service::hls
