#include "engine/http1/parser.hpp"

#include <http_parser.h>

#include <utility>

namespace live::engine::http1 {

namespace {

constexpr int kBadRequest = 400;
constexpr int kContentTooLarge = 413;
constexpr int kUriTooLong = 414;
constexpr int kHeadersTooLarge = 431;
constexpr int kVersionNotSupported = 505;
constexpr int kSwitchingProtocols = 101;

}  // namespace

// What both parsers share: the library's state, its callbacks and the message being read. The library holds a pointer to this
// object in `data`, so it stays where it is made.
class ParserCore {
public:
    ParserCore(http_parser_type type, const Limits& limits, bool skip_body, RequestParser::StreamsBody streams_body = {})
        : limits_(limits), streams_body_(std::move(streams_body)), skip_body_(skip_body) {
        http_parser_init(&parser_, type);
        parser_.data = this;
    }
    ParserCore(const ParserCore&) = delete;
    ParserCore& operator=(const ParserCore&) = delete;

    Result<std::size_t> feed(Bytes input);
    Result<void> finish();

    bool complete() const { return complete_; }
    bool begun() const { return begun_; }
    bool headers_complete() const { return headers_complete_; }
    int error_status() const { return error_status_; }
    bool take_wants_continue() { return std::exchange(wants_continue_, false); }
    Request take_request();
    Response take_response();
    Response& response() { return response_; }
    std::string take_body() { return std::exchange(response_.body, {}); }
    const Request* streamed() const { return streamed_ ? &*streamed_ : nullptr; }

private:
    static ParserCore& of(http_parser* parser) { return *static_cast<ParserCore*>(parser->data); }
    static const http_parser_settings& callbacks();

    int on_begin();
    int on_target(std::string_view part);
    int on_reason(std::string_view part);
    int on_field(std::string_view part);
    int on_value(std::string_view part);
    int on_headers_complete();
    int on_body(std::string_view part);
    int on_complete();

    bool begin_stream();
    int refuse(int status, Errc code, std::string sentence);
    void add_pending_header();
    Error failure() const;
    void reset_message();

    Limits limits_;
    http_parser parser_{};
    RequestParser::StreamsBody streams_body_;
    std::optional<Error> refused_;
    std::optional<Request> streamed_;
    Response response_;  // a request uses headers and body of it
    std::string target_;
    std::string name_;
    std::string value_;
    std::size_t header_bytes_ = 0;
    int error_status_ = kBadRequest;
    bool skip_body_;
    bool begun_ = false;
    bool in_value_ = false;
    bool headers_complete_ = false;
    bool wants_continue_ = false;
    bool interim_ = false;
    bool complete_ = false;
    bool upgrade_ = false;
};

const http_parser_settings& ParserCore::callbacks() {
    static const http_parser_settings table = [] {
        http_parser_settings settings;
        http_parser_settings_init(&settings);
        settings.on_message_begin = [](http_parser* p) { return of(p).on_begin(); };
        settings.on_url = [](http_parser* p, const char* at, std::size_t size) { return of(p).on_target({at, size}); };
        settings.on_status = [](http_parser* p, const char* at, std::size_t size) { return of(p).on_reason({at, size}); };
        settings.on_header_field = [](http_parser* p, const char* at, std::size_t size) { return of(p).on_field({at, size}); };
        settings.on_header_value = [](http_parser* p, const char* at, std::size_t size) { return of(p).on_value({at, size}); };
        settings.on_headers_complete = [](http_parser* p) { return of(p).on_headers_complete(); };
        settings.on_body = [](http_parser* p, const char* at, std::size_t size) { return of(p).on_body({at, size}); };
        settings.on_message_complete = [](http_parser* p) { return of(p).on_complete(); };
        return settings;
    }();
    return table;
}

Result<std::size_t> ParserCore::feed(Bytes input) {
    CHECK(!complete_);  // The caller takes every message.
    if (input.empty())
        return std::size_t{0};  // To the library no bytes mean the end of the connection.
    if (refused_)
        return Error(*refused_);
    if (HTTP_PARSER_ERRNO(&parser_) == HPE_PAUSED)
        http_parser_pause(&parser_, 0);
    const std::string_view text = as_text(input);
    const std::size_t used = http_parser_execute(&parser_, &callbacks(), text.data(), text.size());
    const auto code = HTTP_PARSER_ERRNO(&parser_);
    if (code != HPE_OK && code != HPE_PAUSED)
        return failure();
    return used;
}

Result<void> ParserCore::finish() {
    if (complete_ || !begun_)
        return complete_ ? Result<void>() : Result<void>(Error(Errc::closed, "closed before an HTTP message"));
    if (HTTP_PARSER_ERRNO(&parser_) == HPE_PAUSED)
        http_parser_pause(&parser_, 0);
    http_parser_execute(&parser_, &callbacks(), nullptr, 0);
    if (!complete_)
        return Error(Errc::closed, "closed in the middle of an HTTP message");
    return {};
}

Error ParserCore::failure() const {
    if (refused_)
        return *refused_;
    const auto code = HTTP_PARSER_ERRNO(&parser_);
    return {code == HPE_HEADER_OVERFLOW ? Errc::limit : Errc::malformed,
            std::string("HTTP message: ") + http_errno_description(code)};
}

int ParserCore::refuse(int status, Errc code, std::string sentence) {
    error_status_ = status;
    refused_.emplace(code, std::move(sentence));
    return -1;
}

void ParserCore::reset_message() {
    response_ = Response();
    streamed_.reset();
    target_.clear();
    name_.clear();
    value_.clear();
    header_bytes_ = 0;
    in_value_ = headers_complete_ = wants_continue_ = interim_ = complete_ = upgrade_ = false;
}

int ParserCore::on_begin() {
    reset_message();
    begun_ = true;
    return 0;
}

int ParserCore::on_target(std::string_view part) {
    if (target_.size() + part.size() > limits_.target_bytes)
        return refuse(kUriTooLong, Errc::limit, "request target over " + std::to_string(limits_.target_bytes) + " bytes");
    target_ += part;
    return 0;
}

int ParserCore::on_reason(std::string_view part) {
    header_bytes_ += part.size();
    if (header_bytes_ > limits_.header_bytes)
        return refuse(kHeadersTooLarge, Errc::limit, "HTTP header over " + std::to_string(limits_.header_bytes) + " bytes");
    response_.reason += part;
    return 0;
}

void ParserCore::add_pending_header() {
    if (in_value_)
        response_.headers.add(std::exchange(name_, {}), std::exchange(value_, {}));
    in_value_ = false;
}

int ParserCore::on_field(std::string_view part) {
    if (headers_complete_)
        return 0;  // A trailer: nobody asked for one.
    add_pending_header();
    // The library lets blanks through; "Content-Length :" means one thing to us and another to the next proxy (RFC 9112, 5.1).
    if (part.find_first_of(" \t") != std::string_view::npos)
        return refuse(kBadRequest, Errc::malformed, "blank in the name of an HTTP header field");
    header_bytes_ += part.size();
    if (header_bytes_ > limits_.header_bytes)
        return refuse(kHeadersTooLarge, Errc::limit, "HTTP header over " + std::to_string(limits_.header_bytes) + " bytes");
    if (response_.headers.fields().size() == limits_.header_count)
        return refuse(kHeadersTooLarge, Errc::limit, "more than " + std::to_string(limits_.header_count) + " HTTP header fields");
    name_ += part;
    return 0;
}

int ParserCore::on_value(std::string_view part) {
    if (headers_complete_)
        return 0;
    in_value_ = true;
    header_bytes_ += part.size();
    if (header_bytes_ > limits_.header_bytes)
        return refuse(kHeadersTooLarge, Errc::limit, "HTTP header over " + std::to_string(limits_.header_bytes) + " bytes");
    value_ += part;
    return 0;
}

int ParserCore::on_headers_complete() {
    add_pending_header();
    headers_complete_ = true;
    if (parser_.http_major != 1)
        return refuse(kVersionNotSupported, Errc::unsupported, "HTTP version " + std::to_string(parser_.http_major));
    response_.keep_alive = http_should_keep_alive(&parser_) != 0;
    if (parser_.type == HTTP_RESPONSE) {
        response_.status = static_cast<int>(parser_.status_code);
        interim_ = response_.status / 100 == 1 && response_.status != kSwitchingProtocols;
        return skip_body_ ? 1 : 0;
    }
    // The library leaves all bits set when there is no length.
    wants_continue_ = response_.headers.has_token("Expect", "100-continue");
    const bool has_length = parser_.content_length != UINT64_MAX;
    const bool has_body = (has_length && parser_.content_length > 0) || (parser_.flags & F_CHUNKED) != 0;
    if (has_body && begin_stream())
        return 0;
    if (has_length && parser_.content_length > limits_.body_bytes)
        return refuse(kContentTooLarge, Errc::limit,
                      "HTTP body of " + std::to_string(parser_.content_length) + " bytes, at most " +
                          std::to_string(limits_.body_bytes) + " are read");
    return 0;
}

// The head is copied: the message goes on being read.
bool ParserCore::begin_stream() {
    if (!streams_body_)
        return false;
    streamed_.emplace();
    streamed_->method = http_method_str(static_cast<http_method>(parser_.method));
    streamed_->target = target_;
    streamed_->headers = response_.headers;
    streamed_->keep_alive = response_.keep_alive;
    streamed_->minor_version = parser_.http_minor;
    if (!streams_body_(*streamed_))
        streamed_.reset();
    return streamed_.has_value();
}

int ParserCore::on_body(std::string_view part) {
    wants_continue_ = false;
    if (response_.body.size() + part.size() > limits_.body_bytes)
        return refuse(kContentTooLarge, Errc::limit, "HTTP body over " + std::to_string(limits_.body_bytes) + " bytes");
    response_.body += part;
    return 0;
}

int ParserCore::on_complete() {
    if (interim_) {
        begun_ = false;
        reset_message();
        return 0;
    }
    wants_continue_ = false;
    upgrade_ = parser_.upgrade != 0;
    complete_ = true;
    http_parser_pause(&parser_, 1);
    return 0;
}

Request ParserCore::take_request() {
    Request request;
    request.method = http_method_str(static_cast<http_method>(parser_.method));
    request.target = std::move(target_);
    request.headers = std::move(response_.headers);
    request.body = std::move(response_.body);
    request.keep_alive = response_.keep_alive;
    request.upgrade = upgrade_;
    request.minor_version = parser_.http_minor;
    begun_ = false;
    reset_message();
    return request;
}

Response ParserCore::take_response() {
    Response response = std::move(response_);
    begun_ = false;
    reset_message();
    return response;
}

RequestParser::RequestParser(const Limits& limits, StreamsBody streams_body)
    : core_(std::make_unique<ParserCore>(HTTP_REQUEST, limits, false, std::move(streams_body))) {}
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;
RequestParser::~RequestParser() = default;

Result<std::size_t> RequestParser::feed(Bytes input) { return core_->feed(input); }

std::optional<Request> RequestParser::next() { return core_->complete() ? std::optional(core_->take_request()) : std::nullopt; }

const Request* RequestParser::streamed() const { return core_->streamed(); }
std::string RequestParser::take_body() { return core_->take_body(); }

bool RequestParser::is_idle() const { return !core_->begun(); }
bool RequestParser::take_wants_continue() { return core_->take_wants_continue(); }
int RequestParser::error_status() const { return core_->error_status(); }

ResponseParser::ResponseParser(RequestWas request, const Limits& limits)
    : core_(std::make_unique<ParserCore>(HTTP_RESPONSE, limits, request == RequestWas::head)) {}
ResponseParser::ResponseParser(ResponseParser&&) noexcept = default;
ResponseParser& ResponseParser::operator=(ResponseParser&&) noexcept = default;
ResponseParser::~ResponseParser() = default;

Result<std::size_t> ResponseParser::feed(Bytes input) { return core_->feed(input); }
Result<void> ResponseParser::finish() { return core_->finish(); }

std::optional<Response> ResponseParser::next() {
    return core_->complete() ? std::optional(core_->take_response()) : std::nullopt;
}

const Response* ResponseParser::head() const {
    const bool final = core_->headers_complete() && core_->response().status / 100 != 1;
    return final || core_->complete() ? &core_->response() : nullptr;
}

std::string ResponseParser::take_body() { return core_->take_body(); }

}  // namespace live::engine::http1
