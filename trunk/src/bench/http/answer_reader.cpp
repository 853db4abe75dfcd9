#include "bench/http/answer_reader.hpp"

#include <algorithm>

#include "engine/http1/grammar.hpp"

namespace live::bench {

namespace http1 = engine::http1;

Result<Bytes> AnswerReader::read(Bytes& input) {
    while (!input.empty() && stage_ != Stage::complete) {
        if (stage_ == Stage::body || stage_ == Stage::chunk || stage_ == Stage::until_close) {
            const Bytes piece = take_body(input);
            if (!piece.empty())
                return piece;
            continue;
        }
        input = input.subspan(TRY(line_.feed(input, kLineBytesMax)));
        if (!line_.is_complete())
            continue;
        TRY(on_line(line_.line()));
        line_.start_next();
    }
    return Bytes();
}

Result<void> AnswerReader::finish() {
    if (stage_ == Stage::until_close)
        stage_ = Stage::complete;
    if (stage_ != Stage::complete)
        return Error(Errc::closed, has_head() ? "the server closed within the body" : "the server closed before its answer");
    return {};
}

Bytes AnswerReader::take_body(Bytes& input) {
    if (stage_ == Stage::until_close)
        return std::exchange(input, Bytes());
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
    const Bytes piece = input.first(count);
    input = input.subspan(count);
    left_ -= count;
    if (left_ == 0)
        stage_ = stage_ == Stage::chunk ? Stage::chunk_end : Stage::complete;
    return piece;
}

Result<void> AnswerReader::on_line(std::string_view line) {
    switch (stage_) {
        case Stage::status_line: return on_status_line(line);
        case Stage::fields: return line.empty() ? on_head() : on_field(line);
        case Stage::chunk_size:
            left_ = TRY(http1::parse_chunk_size(line));
            stage_ = left_ > 0 ? Stage::chunk : Stage::trailers;
            return {};
        case Stage::chunk_end:
            if (!line.empty())
                return Error(Errc::malformed, "a chunk is longer than it says");
            stage_ = Stage::chunk_size;
            return {};
        case Stage::trailers:
            if (line.empty())
                stage_ = Stage::complete;
            else
                TRY(on_field(line));
            return {};
        case Stage::body:
        case Stage::until_close:
        case Stage::chunk:
        case Stage::complete: break;
    }
    return {};
}

Result<void> AnswerReader::on_status_line(std::string_view line) {
    const auto parsed = TRY(http1::parse_status_line(line));
    status_ = parsed.status;
    minor_version_ = parsed.version.minor;
    stage_ = Stage::fields;
    return {};
}

Result<void> AnswerReader::on_field(std::string_view line) {
    header_bytes_ += line.size();
    if (headers_.fields().size() >= kHeaderCountMax || header_bytes_ > kHeaderBytesMax)
        return Error(Errc::limit, "an answer with too many header fields");
    auto field = TRY(http1::parse_field(line));
    headers_.add(std::move(field.name), std::move(field.value));
    return {};
}

// RFC 9112, 6.3: where the body ends.
Result<void> AnswerReader::on_head() {
    if (status_ == 101) {
        stage_ = Stage::complete;
        return {};
    }
    if (status_ < 200) {
        if (++interims_ > http1::kInterimMax)
            return Error(Errc::limit, "too many interim answers");
        headers_ = {};
        header_bytes_ = 0;
        stage_ = Stage::status_line;
        return {};
    }
    keeps_alive_ =
        minor_version_ > 0 ? !headers_.has_token("Connection", "close") : headers_.has_token("Connection", "keep-alive");
    if (status_ == 204 || status_ == 304) {
        stage_ = Stage::complete;
    } else if (headers_.has_token("Transfer-Encoding", "chunked")) {
        stage_ = Stage::chunk_size;
    } else if (const auto length = headers_.find("Content-Length")) {
        left_ = TRY(http1::parse_content_length(*length));
        stage_ = left_ > 0 ? Stage::body : Stage::complete;
    } else {
        keeps_alive_ = false;
        stage_ = Stage::until_close;
    }
    return {};
}

}  // namespace live::bench
