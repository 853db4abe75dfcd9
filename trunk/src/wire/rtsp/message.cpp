#include "wire/rtsp/message.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text/ascii.hpp"
#include "wire/rtsp/text.hpp"

namespace live::wire::rtsp {

namespace {

constexpr std::string_view kVersionText = "RTSP/1.0";
constexpr int kStatusMin = 100;
constexpr int kStatusMax = 999;

struct Reason {
    int status;
    std::string_view text;
};
constexpr std::array kReasons{
    Reason{200, "OK"},
    Reason{301, "Moved Permanently"},
    Reason{302, "Moved Temporarily"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{406, "Not Acceptable"},
    Reason{413, "Request Entity Too Large"},
    Reason{415, "Unsupported Media Type"},
    Reason{454, "Session Not Found"},
    Reason{455, "Method Not Valid in This State"},
    Reason{459, "Aggregate Operation Not Allowed"},
    Reason{460, "Only Aggregate Operation Allowed"},
    Reason{461, "Unsupported Transport"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{503, "Service Unavailable"},
    Reason{505, "RTSP Version Not Supported"},
    Reason{551, "Option Not Supported"},
};

std::string_view take_line(std::string_view& rest) {
    std::string_view line = take_until(rest, '\n');
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    return line;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char letter) {
        return ascii::is_alphanumeric(letter) || std::string_view("!#$%&'*+-.^_`|~").find(letter) != std::string_view::npos;
    });
}

bool has_control(std::string_view text) {
    return std::ranges::any_of(text, [](char letter) { return ascii::is_control(letter) && letter != '\t'; });
}

Result<void> check_version(std::string_view version) {
    if (version.starts_with("RTSP/1."))
        return {};
    return Error(version.starts_with("RTSP/") ? Errc::unsupported : Errc::malformed, "RTSP: not a message of version 1.0");
}

Result<void> read_request_line(std::string_view line, Message& message) {
    const std::string_view method = take_until(line, ' ');
    if (!is_token(method) || method.size() > kMethodBytesMax)
        return Error(Errc::malformed, "RTSP: a request without a method");
    const std::string_view url = take_until(line, ' ');
    TRY(check_version(line));
    if (url.empty())
        return Error(Errc::malformed, "RTSP: a request without a URL");
    if (url.size() > kUrlBytesMax)
        return Error(Errc::limit, "RTSP: a URL of " + std::to_string(url.size()) + " bytes");
    message.method = method;
    message.url = url;
    return {};
}

// Some cameras leave out the reason.
Result<void> read_status_line(std::string_view line, Message& message) {
    TRY(check_version(take_until(line, ' ')));
    const std::string_view digits = take_until(line, ' ');
    message.status = number_of<int>(digits).value_or(0);
    if (message.status < kStatusMin || message.status > kStatusMax)
        return Error(Errc::malformed, "RTSP: a response without a status");
    message.reason = line;
    return {};
}

}  // namespace

std::optional<std::string_view> Message::find(std::string_view name) const {
    for (const auto& [known, value] : headers)
        if (ascii::are_same(known, name))
            return value;
    return std::nullopt;
}

Result<Message> parse_head(std::string_view head) {
    if (head.size() > kHeadBytesMax)
        return Error(Errc::limit, "RTSP: a head of " + std::to_string(head.size()) + " bytes");
    Message message;
    const std::string_view first = take_line(head);
    if (has_control(first))
        return Error(Errc::malformed, "RTSP: a control character in the first line");
    if (first.starts_with("RTSP/"))
        TRY(read_status_line(first, message));
    else
        TRY(read_request_line(first, message));
    while (!head.empty()) {
        const std::string_view line = take_line(head);
        if (line.empty())
            continue;
        if (message.headers.size() == kHeadersMax)
            return Error(Errc::limit, "RTSP: more than " + std::to_string(kHeadersMax) + " headers");
        const std::size_t colon = line.find(':');
        const std::string_view name = line.substr(0, colon);
        if (colon == std::string_view::npos || !is_token(name) || has_control(line))
            return Error(Errc::malformed, "RTSP: a header that is not \"name: value\"");
        message.headers.emplace_back(name, ascii::trimmed(line.substr(colon + 1), kBlanks));
    }
    return message;
}

Result<std::size_t> body_bytes_of(const Message& message) {
    std::optional<std::string_view> length;
    for (const auto& [name, value] : message.headers) {
        if (!ascii::are_same(name, "Content-Length"))
            continue;
        if (length && *length != value)
            return Error(Errc::malformed, "RTSP: two lengths of one body");
        length = value;
    }
    if (!length)
        return std::size_t{0};
    std::size_t bytes = 0;
    const auto [end, failure] = std::from_chars(length->data(), length->data() + length->size(), bytes);
    if (failure == std::errc::result_out_of_range || (failure == std::errc() && bytes > kBodyBytesMax))
        return Error(Errc::limit, "RTSP: a body of more than " + std::to_string(kBodyBytesMax) + " bytes");
    if (failure != std::errc() || end != length->data() + length->size())
        return Error(Errc::malformed, "RTSP: a Content-Length that is no number");
    return bytes;
}

std::string write(const Message& message) {
    std::string text;
    if (message.is_request())
        text.append(message.method).append(" ").append(message.url).append(" ").append(kVersionText);
    else
        text.append(kVersionText).append(" ").append(std::to_string(message.status)).append(" ").append(message.reason);
    text += "\r\n";
    for (const auto& [name, value] : message.headers)
        text.append(name).append(": ").append(value).append("\r\n");
    if (!message.body.empty())
        text.append("Content-Length: ").append(std::to_string(message.body.size())).append("\r\n");
    return text.append("\r\n").append(message.body);
}

std::string_view reason_of(int status) {
    const auto* const found = std::ranges::find(kReasons, status, &Reason::status);
    return found == kReasons.end() ? "Error" : found->text;
}

}  // namespace live::wire::rtsp
