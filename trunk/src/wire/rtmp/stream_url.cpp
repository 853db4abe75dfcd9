#include "wire/rtmp/stream_url.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/text/ascii.hpp"
#include "base/text/printable.hpp"
#include "wire/rtmp/stream_query.hpp"

namespace live::wire::rtmp {

namespace {

constexpr std::string_view kOldVhostMark = "...vhost...";
constexpr std::string_view kDefaultInstance = "/_definst_";

// The text before and after the first '?' or '#'.
struct Split {
    std::string_view name;
    std::string_view query;
};

Split split_query(std::string_view text) {
    const auto mark = text.find_first_of("?#");
    if (mark == std::string_view::npos)
        return {text, {}};
    return {text.substr(0, mark), text.substr(mark + 1)};
}

void erase_all(std::string& text, std::string_view letters) {
    std::erase_if(text, [letters](char letter) { return letters.find(letter) != std::string_view::npos; });
}

// "live...vhost...v" is how clients that cannot send '?' and '=' specify a virtual host.
std::string with_old_vhost_mark_replaced(std::string_view text) {
    std::string copy(text);
    if (const auto mark = copy.find(kOldVhostMark); mark != std::string::npos)
        copy.replace(mark, kOldVhostMark.size(), copy.find_first_of("?#") < mark ? "&vhost=" : "?vhost=");
    return copy;
}

std::uint16_t default_port(std::string_view schema) {
    if (schema == "rtmp")
        return 1935;
    return schema == "https" || schema == "rtmps" ? 443 : 80;
}

Result<std::uint16_t> parse_port(std::string_view digits) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || end != digits.data() + digits.size() || port == 0)
        return Error(Errc::malformed, "the port of the URL is not a number from 1 to 65535");
    return port;
}

// "host", "host:port", "[v6]:port"; user info before '@' is not used and is dropped.
Result<void> parse_authority(std::string_view authority, StreamUrl& url) {
    if (const auto at = authority.rfind('@'); at != std::string_view::npos)
        authority.remove_prefix(at + 1);
    std::string_view rest;
    if (authority.starts_with('[')) {
        const auto close = authority.find(']');
        if (close == std::string_view::npos)
            return Error(Errc::malformed, "the host of the URL opens a bracket and does not close it");
        url.host = authority.substr(1, close - 1);
        rest = authority.substr(close + 1);
    } else {
        const auto colon = std::min(authority.find(':'), authority.size());
        url.host = authority.substr(0, colon);
        rest = authority.substr(colon);
    }
    erase_all(url.host, " \t\r\n");
    if (url.host.empty())
        return Error(Errc::malformed, "the URL has no host");
    if (!rest.empty() && !rest.starts_with(':'))
        return Error(Errc::malformed, "the URL has text between host and port");
    url.port = rest.size() <= 1 ? default_port(url.schema) : TRY(parse_port(rest.substr(1)));
    return {};
}

void choose_vhost(std::string_view query, StreamUrl& url) {
    auto named = named_vhost(query);
    url.vhost = named && *named != kDefaultVhost ? *std::move(named) : url.host;
    if (query.empty() || query == "vhost=__defaultVhost__")
        url.param.clear();
    else
        url.param = "?" + std::string(query);
}

void choose_names(std::string_view path, std::string_view stream, StreamUrl& url) {
    std::string app(path);
    std::string name(stream);
    erase_all(app, "\t\r\n");
    erase_all(name, "\t\r\n");
    for (auto at = app.find(kDefaultInstance); at != std::string::npos; at = app.find(kDefaultInstance, at)) {
        const auto end = at + kDefaultInstance.size();
        if (end == app.size() || app[end] == '/')
            app.erase(at, kDefaultInstance.size());
        else
            at = end;  // "/_definst_x" is an ordinary name.
    }
    url.app = ascii::trimmed(app, " /");
    url.stream = ascii::trimmed(name, " /");
    if (url.stream.empty()) {
        if (const auto slash = url.app.rfind('/'); slash != std::string::npos) {
            url.stream = url.app.substr(slash + 1);
            url.app.resize(url.app.find_last_not_of('/', slash) + 1);
        }
    }
    if (url.app.empty())
        url.app = kDefaultApp;
}

// go2rtc: tcUrl is the whole URL of the stream, `app` is right, and the name in `play` repeats the query.
void leave_out_stream(std::string_view app, StreamUrl& url) {
    StreamUrl named;
    choose_names(app, url.stream, named);
    if (url.app != named.app + "/" + url.stream)
        return;
    url.app = std::move(named.app);
    const std::size_t size = url.param.size() / 2;
    if (url.param.size() % 2 == 0 && size > 1 && url.param.substr(1, size - 1) == url.param.substr(size + 1))
        url.param.resize(size);
}

constexpr std::string_view kVhostMarks = "_-./@=+:,~";
constexpr std::string_view kNameMarks = "_-./@=+:,~ &'\"";

// `marks` are those of ASCII. No others are in a name, neither separators of URLs ('?', '#', '%', '\\'), nor brackets of XML, nor
// '|', which separates fields of the cluster's registry.
bool has_only(std::string_view name, std::string_view marks) {
    return std::ranges::all_of(name, [marks](char letter) {
        return static_cast<unsigned char>(letter) >= 0x80 || ascii::is_alphanumeric(letter) ||
               marks.find(letter) != std::string_view::npos;
    });
}

// For an error sentence: truncated, with characters that could confuse a log or a terminal replaced.
std::string shown(std::string_view name) {
    constexpr std::size_t kShownMax = 64;
    std::string text(name.substr(0, kShownMax));
    std::ranges::replace_if(text, [](char letter) { return letter < ' ' || letter > '~' || letter == '\''; }, '?');
    return "'" + text + (name.size() > kShownMax ? "...'" : "'");
}

Result<void> admit_with(std::string_view name, std::string_view marks, std::string_view listed) {
    if (name.empty())
        return Error(Errc::denied, "the name is empty");
    if (name.size() > kNameBytesMax)
        return Error(Errc::denied, "the name " + shown(name) + " is longer than " + std::to_string(kNameBytesMax) + " bytes");
    if (!has_only(name, marks) || !is_printable_utf8(name))
        return Error(Errc::denied,
                     "the name " + shown(name) + " has a character other than letters, digits" + std::string(listed));
    if (name.find("..") != std::string_view::npos)
        return Error(Errc::denied, "the name " + shown(name) + " contains '..'");
    for (std::string_view rest = name;;) {
        const auto slash = std::min(rest.find('/'), rest.size());
        const std::string_view segment = rest.substr(0, slash);
        if (segment.empty() || segment == ".")
            return Error(Errc::denied, "the name " + shown(name) + " has an empty part between slashes");
        if (segment.front() == ' ' || segment.back() == ' ')
            return Error(Errc::denied, "the name " + shown(name) + " has a space at an end");
        if (slash == rest.size())
            return {};
        rest.remove_prefix(slash + 1);
    }
}

}  // namespace

Result<StreamUrl> parse_stream_url(std::string_view tc_url, std::string_view stream_name) {
    if (tc_url.size() > kUrlBytesMax || stream_name.size() > kUrlBytesMax)
        return Error(Errc::limit, "the URL is over " + std::to_string(kUrlBytesMax) + " bytes");
    StreamUrl url;
    const auto schema_end = tc_url.find("://");
    if (schema_end == std::string_view::npos || schema_end == 0)
        return Error(Errc::malformed, "the URL does not begin with a schema such as rtmp://");
    url.schema = ascii::lowered(tc_url.substr(0, schema_end));
    const std::string_view rest = tc_url.substr(schema_end + 3);
    const auto authority_end = std::min(rest.find_first_of("/?#"), rest.size());
    TRY(parse_authority(rest.substr(0, authority_end), url));

    const std::string path = with_old_vhost_mark_replaced(rest.substr(authority_end));
    const std::string name = with_old_vhost_mark_replaced(stream_name);
    const Split app = split_query(path);
    const Split stream = split_query(name);
    std::string query(ascii::trimmed(app.query, "/"));
    if (!query.empty() && !stream.query.empty())
        query += '&';
    query += stream.query;
    choose_vhost(query, url);
    choose_names(app.name, stream.name, url);
    return url;
}

Result<StreamUrl> parse_stream_url(std::string_view tc_url, std::string_view stream_name, std::string_view app) {
    StreamUrl url = TRY(parse_stream_url(tc_url, stream_name));
    if (app.size() > kUrlBytesMax)
        return Error(Errc::limit, "the app is over " + std::to_string(kUrlBytesMax) + " bytes");
    const std::string whole = with_old_vhost_mark_replaced(app);
    const Split split = split_query(whole);
    if (!url.stream.empty()) {
        leave_out_stream(split.name, url);
        return url;
    }
    StreamUrl named = url;
    choose_names(split.name, {}, named);
    if (named.stream.empty())
        return url;
    if (url.param.empty())
        choose_vhost(split.query, named);
    return named;
}

Result<StreamUrl> parse_stream_url(std::string_view url) {
    const auto schema_end = url.find("://");
    if (schema_end == std::string_view::npos)
        return Error(Errc::malformed, "the URL does not begin with a schema such as rtmp://");
    const auto slash = url.rfind('/');
    if (slash < schema_end + 3)
        return parse_stream_url(url, {});
    return parse_stream_url(url.substr(0, slash), url.substr(slash + 1));
}

Result<void> admit_name(std::string_view name) { return admit_with(name, kNameMarks, ", spaces, quotes and _-./@=+:,~&"); }

Result<void> admit_vhost(std::string_view name) { return admit_with(name, kVhostMarks, " and _-./@=+:,~"); }

Result<void> admit(const StreamUrl& url) {
    using Admit = Result<void> (*)(std::string_view);
    const std::tuple<const char*, const std::string&, Admit> parts[] = {{"virtual host refused", url.vhost, admit_vhost},
                                                                        {"application refused", url.app, admit_name},
                                                                        {"stream refused", url.stream, admit_name}};
    for (const auto& [what, name, admits] : parts) {
        auto admitted = admits(name);
        if (!admitted.ok())
            return std::move(admitted).error().during(what);
    }
    return {};
}

}  // namespace live::wire::rtmp
