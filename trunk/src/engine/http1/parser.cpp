#include "engine/http1/parser.hpp"

#include <algorithm>
#include <utility>

#include "engine/http1/grammar.hpp"
#include "engine/http1/line_reader.hpp"
#include "wire/http/status.hpp"

namespace live::engine::http1 {

namespace {

using wire::http::Status;

constexpr std::size_t kFirstLineExtra = kMethodBytesMax + 11;  // method, spaces and version besides the target
constexpr std::size_t kFieldExtra = 64;                        // colon and blanks besides name and value

}  // namespace

// Common to both parsers: the position in the message, and the message being read.
class ParserCore {
public:
    enum class Reads : std::uint8_t { requests, responses, responses_to_head };

    ParserCore(Reads reads, const Limits& limits, RequestParser::StreamsBody streams_body = {})
        : limits_(limits),
          streams_body_(std::move(streams_body)),
          line_(reads == Reads::requests ? LineReader::LineEnd::strict : LineReader::LineEnd::lenient),
          reads_(reads) {}

    Result<std::size_t> feed(Bytes input);
    Result<Bytes> read_piece(Bytes& input);
    Result<void> finish();

    bool is_complete() const { return stage_ == Stage::complete; }
    bool has_begun() const { return stage_ != Stage::first_line || !line_.is_empty(); }
    bool has_head() const { return stage_ > Stage::fields; }
    int error_status() const { return error_status_; }
    bool take_wants_continue() { return std::exchange(wants_continue_, false); }
    Request take_request();
    Response take_response();
    const Response& response() const { return response_; }
    std::string take_body() { return std::exchange(response_.body, {}); }
    std::size_t held_bytes() const { return response_.body.capacity(); }
    const Request* streamed() const { return streamed_ ? &*streamed_ : nullptr; }

private:
    // In the order of a message.
    enum class Stage : std::uint8_t {
        first_line,
        fields,
        body,  // of left_ bytes
        body_until_close,
        chunk_size,
        chunk,  // left_ bytes of it
        chunk_end,
        trailers,
        complete,
    };
    struct Framing {
        std::optional<std::uint64_t> length;
        bool chunked = false;
    };

    Result<std::size_t> advance(Bytes input);
    std::size_t line_bytes_max() const;
    int status_of_long_line() const;
    Result<void> on_line(std::string_view line);
    Result<void> on_first_line(std::string_view line);
    Result<void> on_field(std::string_view line);
    Result<void> count_field(std::size_t bytes);
    Result<void> on_trailer(std::string_view line);
    Result<void> on_head();
    Result<Framing> framing() const;
    Result<void> begin_request_body(const Framing& framing);
    Result<void> begin_response_body(const Framing& framing);
    void begin_length(std::uint64_t length);
    bool begin_stream();
    Result<void> on_chunk_size(std::string_view line);
    bool is_in_body() const { return stage_ == Stage::body || stage_ == Stage::body_until_close || stage_ == Stage::chunk; }
    Bytes body_part(Bytes input) const;
    void end_body_part(std::size_t bytes);
    Result<std::size_t> take_body_bytes(Bytes input);
    void reset_message();
    Error refuse(int status, Errc code, std::string sentence);

    bool is_request() const { return reads_ == Reads::requests; }

    Limits limits_;
    RequestParser::StreamsBody streams_body_;
    LineReader line_;
    std::optional<Error> refused_;
    std::optional<Request> streamed_;
    Response response_;  // a request uses its headers and body
    RequestLine request_line_;
    Version version_;
    std::uint64_t left_ = 0;
    std::size_t header_bytes_ = 0;
    std::size_t field_count_ = 0;
    std::size_t empty_lines_ = 0;
    std::size_t interim_ = 0;
    int error_status_ = Status::bad_request;
    Reads reads_;
    Stage stage_ = Stage::first_line;
    bool wants_continue_ = false;
    bool upgrade_ = false;
};

Result<std::size_t> ParserCore::feed(Bytes input) {
    CHECK(!is_complete());  // The caller must take every message.
    std::size_t used = 0;
    while (!refused_ && !is_complete() && used < input.size()) {
        const auto step = advance(input.subspan(used));
        if (!step.ok())
            refused_.emplace(step.error());
        else
            used += *step;
    }
    if (refused_)
        return Error(*refused_);
    return used;
}

Result<Bytes> ParserCore::read_piece(Bytes& input) {
    while (!refused_ && !is_complete() && !input.empty()) {
        if (is_in_body()) {
            const Bytes piece = body_part(input);
            end_body_part(piece.size());
            input = input.subspan(piece.size());
            return piece;
        }
        const auto step = advance(input);
        if (!step.ok())
            refused_.emplace(step.error());
        else
            input = input.subspan(*step);
    }
    if (refused_)
        return Error(*refused_);
    return Bytes();
}

// Consumes at least one byte.
Result<std::size_t> ParserCore::advance(Bytes input) {
    if (is_in_body())
        return take_body_bytes(input);
    const auto used = line_.feed(input, line_bytes_max());
    if (!used.ok()) {
        if (stage_ == Stage::chunk_end)
            return Error(Errc::malformed, "a chunk is longer than it says");
        if (used.code() == Errc::limit)
            error_status_ = status_of_long_line();
        return used;
    }
    if (line_.is_complete()) {
        TRY(on_line(line_.line()));
        line_.start_next();
    }
    return used;
}

std::size_t ParserCore::line_bytes_max() const {
    switch (stage_) {
        case Stage::first_line: return is_request() ? limits_.target_bytes + kFirstLineExtra : limits_.header_bytes;
        case Stage::fields:
        case Stage::trailers: return limits_.header_bytes - header_bytes_ + kFieldExtra;
        case Stage::chunk_size: return kChunkLineBytesMax;
        default: return 0;
    }
}

int ParserCore::status_of_long_line() const {
    switch (stage_) {
        case Stage::first_line: return line_.line().find(' ') <= kMethodBytesMax ? Status::uri_too_long : Status::bad_request;
        case Stage::fields:
        case Stage::trailers: return Status::request_header_fields_too_large;
        default: return Status::bad_request;
    }
}

Result<void> ParserCore::on_line(std::string_view line) {
    switch (stage_) {
        case Stage::first_line: return on_first_line(line);
        case Stage::fields: return line.empty() ? on_head() : on_field(line);
        case Stage::chunk_size: return on_chunk_size(line);
        case Stage::chunk_end: stage_ = Stage::chunk_size; return {};
        default: return on_trailer(line);
    }
}

Result<void> ParserCore::on_first_line(std::string_view line) {
    // RFC 9112, 2.2: some clients send an empty line after a body.
    if (line.empty()) {
        if (++empty_lines_ > kEmptyLinesMax)
            return refuse(Status::bad_request, Errc::malformed, "empty lines instead of an HTTP message");
        return {};
    }
    empty_lines_ = 0;
    if (is_request()) {
        auto read = parse_request_line(line);
        if (!read.ok()) {
            error_status_ = read.code() == Errc::unsupported ? Status::version_not_supported : Status::bad_request;
            return Error(read.error());
        }
        request_line_ = *std::move(read);
        version_ = request_line_.version;
        if (request_line_.target.size() > limits_.target_bytes)
            return refuse(Status::uri_too_long, Errc::limit,
                          "request target over " + std::to_string(limits_.target_bytes) + " bytes");
    } else {
        StatusLine read = TRY(parse_status_line(line));
        version_ = read.version;
        response_.status = read.status;
        response_.reason = std::move(read.reason);
    }
    stage_ = Stage::fields;
    return {};
}

// RFC 9112, 5.2: folded lines are accepted only in responses; the fold becomes a space.
Result<void> ParserCore::on_field(std::string_view line) {
    const bool goes_on = line.front() == ' ' || line.front() == '\t';
    if (goes_on && !is_request() && field_count_ > 0) {
        TRY(count_field(line.size()));
        response_.headers.extend_last(" " + std::string(without_blanks(line)));
        return {};
    }
    auto field = TRY(parse_field(line));
    TRY(count_field(field.name.size() + field.value.size()));
    response_.headers.add(std::move(field.name), std::move(field.value));
    return {};
}

Result<void> ParserCore::count_field(std::size_t bytes) {
    header_bytes_ += bytes;
    if (header_bytes_ > limits_.header_bytes)
        return refuse(Status::request_header_fields_too_large, Errc::limit,
                      "HTTP header over " + std::to_string(limits_.header_bytes) + " bytes");
    if (++field_count_ > limits_.header_count)
        return refuse(Status::request_header_fields_too_large, Errc::limit,
                      "more than " + std::to_string(limits_.header_count) + " HTTP header fields");
    return {};
}

// Trailers are unused, but must follow the header grammar, and count toward the header limits.
Result<void> ParserCore::on_trailer(std::string_view line) {
    if (line.empty()) {
        stage_ = Stage::complete;
        return {};
    }
    const auto field = TRY(parse_field(line));
    return count_field(field.name.size() + field.value.size());
}

Result<void> ParserCore::on_head() {
    const Headers& headers = response_.headers;
    const auto framing = TRY(this->framing());
    const bool stays =
        version_.minor >= 1 ? !headers.has_token("Connection", "close") : headers.has_token("Connection", "keep-alive");
    response_.keep_alive = stays;
    return is_request() ? begin_request_body(framing) : begin_response_body(framing);
}

// RFC 9112, 6: determines the body length. Ambiguous messages are refused.
Result<ParserCore::Framing> ParserCore::framing() const {
    Framing framing;
    std::size_t hosts = 0;
    for (const Headers::Field& field : response_.headers.fields()) {
        if (is_request() && same_name(field.name, "Host") && ++hosts > 1)
            return Error(Errc::malformed, "a request for two hosts");
        if (same_name(field.name, "Content-Length")) {
            if (framing.length)
                return Error(Errc::malformed, "two Content-Length fields");
            framing.length = TRY(parse_content_length(field.value));
        }
        if (same_name(field.name, "Transfer-Encoding")) {
            if (framing.chunked || !same_name(field.value, "chunked"))
                return Error(Errc::malformed, "a Transfer-Encoding other than chunked");
            framing.chunked = true;
        }
    }
    if (framing.chunked && framing.length)
        return Error(Errc::malformed, "both Content-Length and Transfer-Encoding");
    if (framing.chunked && version_.minor == 0)
        return Error(Errc::malformed, "Transfer-Encoding in HTTP/1.0");
    return framing;
}

Result<void> ParserCore::begin_request_body(const Framing& framing) {
    const Headers& headers = response_.headers;
    upgrade_ = request_line_.method == "CONNECT" || (headers.find("Upgrade") && headers.has_token("Connection", "upgrade"));
    const std::uint64_t length = framing.length.value_or(0);
    if (!framing.chunked && length == 0) {
        stage_ = Stage::complete;
        return {};
    }
    wants_continue_ = version_.minor >= 1 && headers.has_token("Expect", "100-continue");
    if (!begin_stream() && length > limits_.body_bytes)
        return refuse(
            Status::content_too_large, Errc::limit,
            "HTTP body of " + std::to_string(length) + " bytes, at most " + std::to_string(limits_.body_bytes) + " are read");
    if (framing.chunked)
        stage_ = Stage::chunk_size;
    else
        begin_length(length);
    return {};
}

Result<void> ParserCore::begin_response_body(const Framing& framing) {
    const int status = response_.status;
    if (status / 100 == 1 && status != Status::switching_protocols) {
        reset_message();  // An interim response.
        if (++interim_ > kInterimMax)
            return Error(Errc::limit, "more than " + std::to_string(kInterimMax) + " interim answers");
    } else if (reads_ == Reads::responses_to_head || status == Status::switching_protocols || status == Status::no_content ||
               status == Status::not_modified) {
        stage_ = Stage::complete;
    } else if (framing.chunked) {
        stage_ = Stage::chunk_size;
    } else if (framing.length) {
        begin_length(*framing.length);
    } else {
        response_.keep_alive = false;
        stage_ = Stage::body_until_close;
    }
    return {};
}

void ParserCore::begin_length(std::uint64_t length) {
    left_ = length;
    stage_ = length == 0 ? Stage::complete : Stage::body;
}

// The head is copied, because reading the message continues.
bool ParserCore::begin_stream() {
    if (!streams_body_)
        return false;
    streamed_.emplace();
    streamed_->method = request_line_.method;
    streamed_->target = request_line_.target;
    streamed_->headers = response_.headers;
    streamed_->keep_alive = response_.keep_alive;
    streamed_->minor_version = version_.minor;
    if (!streams_body_(*streamed_))
        streamed_.reset();
    return streamed_.has_value();
}

Result<void> ParserCore::on_chunk_size(std::string_view line) {
    // Some servers pad the size with spaces; in a request they could be interpreted in two ways.
    left_ = TRY(parse_chunk_size(is_request() ? line : without_blanks(line)));
    stage_ = left_ == 0 ? Stage::trailers : Stage::chunk;
    return {};
}

Bytes ParserCore::body_part(Bytes input) const {
    if (stage_ == Stage::body_until_close)
        return input;
    return input.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size())));
}

void ParserCore::end_body_part(std::size_t bytes) {
    if (stage_ == Stage::body_until_close)
        return;
    left_ -= bytes;
    if (left_ == 0)
        stage_ = stage_ == Stage::body ? Stage::complete : Stage::chunk_end;
}

Result<std::size_t> ParserCore::take_body_bytes(Bytes input) {
    wants_continue_ = false;
    const Bytes part = body_part(input);
    if (part.size() > limits_.body_bytes - std::min(limits_.body_bytes, response_.body.size()))
        return refuse(Status::content_too_large, Errc::limit, "HTTP body over " + std::to_string(limits_.body_bytes) + " bytes");
    response_.body += as_text(part);
    end_body_part(part.size());
    return part.size();
}

Result<void> ParserCore::finish() {
    if (stage_ == Stage::body_until_close)
        stage_ = Stage::complete;
    if (is_complete())
        return {};
    return Error(Errc::closed, has_begun() ? "closed in the middle of an HTTP message" : "closed before an HTTP message");
}

Error ParserCore::refuse(int status, Errc code, std::string sentence) {
    error_status_ = status;
    return {code, std::move(sentence)};
}

void ParserCore::reset_message() {
    response_ = Response();
    request_line_ = RequestLine();
    streamed_.reset();
    header_bytes_ = field_count_ = 0;
    wants_continue_ = upgrade_ = false;
    stage_ = Stage::first_line;
}

Request ParserCore::take_request() {
    Request request;
    request.method = std::move(request_line_.method);
    request.target = std::move(request_line_.target);
    request.headers = std::move(response_.headers);
    request.body = std::move(response_.body);
    request.keep_alive = response_.keep_alive;
    request.upgrade = upgrade_;
    request.minor_version = version_.minor;
    reset_message();
    return request;
}

Response ParserCore::take_response() {
    Response response = std::move(response_);
    interim_ = 0;
    reset_message();
    return response;
}

RequestParser::RequestParser(const Limits& limits, StreamsBody streams_body)
    : core_(std::make_unique<ParserCore>(ParserCore::Reads::requests, limits, std::move(streams_body))) {}
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;
RequestParser::~RequestParser() = default;

Result<std::size_t> RequestParser::feed(Bytes input) { return core_->feed(input); }

std::optional<Request> RequestParser::next() {
    return core_->is_complete() ? std::optional(core_->take_request()) : std::nullopt;
}

const Request* RequestParser::streamed() const { return core_->streamed(); }
std::string RequestParser::take_body() { return core_->take_body(); }

std::size_t RequestParser::held_bytes() const { return core_->held_bytes(); }

bool RequestParser::is_idle() const { return !core_->has_begun(); }
bool RequestParser::take_wants_continue() { return core_->take_wants_continue(); }
int RequestParser::error_status() const { return core_->error_status(); }

ResponseParser::ResponseParser(RequestWas request, const Limits& limits)
    : core_(std::make_unique<ParserCore>(
          request == RequestWas::head ? ParserCore::Reads::responses_to_head : ParserCore::Reads::responses, limits)) {}
ResponseParser::ResponseParser(ResponseParser&&) noexcept = default;
ResponseParser& ResponseParser::operator=(ResponseParser&&) noexcept = default;
ResponseParser::~ResponseParser() = default;

Result<std::size_t> ResponseParser::feed(Bytes input) { return core_->feed(input); }
Result<Bytes> ResponseParser::read_piece(Bytes& input) { return core_->read_piece(input); }
bool ResponseParser::is_complete() const { return core_->is_complete(); }
Result<void> ResponseParser::finish() { return core_->finish(); }

std::optional<Response> ResponseParser::next() {
    return core_->is_complete() ? std::optional(core_->take_response()) : std::nullopt;
}

const Response* ResponseParser::head() const { return core_->has_head() ? &core_->response() : nullptr; }

std::string ResponseParser::take_body() { return core_->take_body(); }

}  // namespace live::engine::http1
