#include "engine/http1/writer.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/text/ascii.hpp"

namespace live::engine::http1 {

namespace {

// Control characters are not allowed in fields and start lines and become spaces.
void append_clean(std::string& out, std::string_view text) {
    const std::size_t begin = out.size();
    out += text;
    for (std::size_t at = ascii::find_control(out, begin); at < out.size(); at = ascii::find_control(out, at))
        out[at] = ' ';
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
    append_clean(out, name);
    out += ": ";
    append_clean(out, value);
    out += "\r\n";
}

std::string_view connection_value(ResponseBuilder::Connection connection) {
    switch (connection) {
        case ResponseBuilder::Connection::keep_alive: return "keep-alive";
        case ResponseBuilder::Connection::upgrade: return "Upgrade";
        default: return "close";
    }
}

}  // namespace

std::string_view reason_of(int status) {
    switch (status) {
        case 100: return "Continue";
        case 101: return "Switching Protocols";
        case 200: return "OK";
        case 201: return "Created";
        case 204: return "No Content";
        case 206: return "Partial Content";
        case 301: return "Moved Permanently";
        case 302: return "Found";
        case 304: return "Not Modified";
        case 307: return "Temporary Redirect";
        case 308: return "Permanent Redirect";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 411: return "Length Required";
        case 412: return "Precondition Failed";
        case 413: return "Content Too Large";
        case 414: return "URI Too Long";
        case 415: return "Unsupported Media Type";
        case 416: return "Range Not Satisfiable";
        case 417: return "Expectation Failed";
        case 422: return "Unprocessable Content";
        case 426: return "Upgrade Required";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 502: return "Bad Gateway";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        case 505: return "HTTP Version Not Supported";
        default: return "Status";
    }
}

ResponseBuilder::ResponseBuilder(int status, Connection connection) {
    constexpr std::size_t kUsualBytes = 256;
    text_.reserve(kUsualBytes);
    text_ += "HTTP/1.1 ";
    text_ += std::to_string(status);
    text_ += ' ';
    text_ += reason_of(status);
    text_ += "\r\n";
    append_field(text_, "Connection", connection_value(connection));
}

ResponseBuilder& ResponseBuilder::header(std::string_view name, std::string_view value) {
    append_field(text_, name, value);
    return *this;
}

std::string ResponseBuilder::with_body(std::string_view content_type, std::string_view body) {
    header("Content-Type", content_type);
    header("Content-Length", std::to_string(body.size()));
    return without_body().append(body);
}

std::string ResponseBuilder::without_body() {
    text_ += "\r\n";
    return std::move(text_);
}

namespace {

std::string begin_request(std::string_view method, std::string_view target, std::string_view host, const Headers& headers,
                          ResponseBuilder::Connection connection) {
    std::string out;
    append_clean(out, method);
    out += ' ';
    append_clean(out, target);
    out += " HTTP/1.1\r\n";
    append_field(out, "Host", host);
    append_field(out, "Connection", connection_value(connection));
    for (const Headers::Field& field : headers.fields())
        append_field(out, field.name, field.value);
    return out;
}

}  // namespace

std::string write_request(std::string_view method, std::string_view target, std::string_view host, const Headers& headers,
                          std::string_view body, ResponseBuilder::Connection connection) {
    std::string out = begin_request(method, target, host, headers, connection);
    if (!body.empty() || method == "POST" || method == "PUT")
        append_field(out, "Content-Length", std::to_string(body.size()));
    out += "\r\n";
    return out.append(body);
}

std::string write_request_head(std::string_view method, std::string_view target, std::string_view host, const Headers& headers,
                               std::uint64_t body_bytes, ResponseBuilder::Connection connection) {
    std::string out = begin_request(method, target, host, headers, connection);
    append_field(out, "Content-Length", std::to_string(body_bytes));
    return out += "\r\n";
}

}  // namespace live::engine::http1
