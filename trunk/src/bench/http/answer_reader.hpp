// Reads an HTTP/1.1 response whose body is passed on piece by piece, borrowed from the input and never stored: for load clients
// that download any amount. engine/http1 has the parser for whole responses; lines and fields are read with its grammar here too.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/http1/line_reader.hpp"
#include "engine/http1/message.hpp"

namespace live::bench {

class AnswerReader {
public:
    static constexpr std::size_t kLineBytesMax = 8 << 10;
    static constexpr std::size_t kHeaderBytesMax = 32 << 10;
    static constexpr std::size_t kHeaderCountMax = 100;

    // Takes bytes from the front of `input` and returns the next piece of the body; an empty one when `input` is used up or the
    // response is complete. Bytes after a complete response stay in `input`. Interim responses are skipped except for 101, which
    // is complete with its header. Errc::malformed, Errc::limit; final.
    Result<Bytes> read(Bytes& input);
    // The peer has closed: this ends a body without a length, otherwise Errc::closed.
    Result<void> finish();

    bool has_head() const { return stage_ > Stage::fields; }
    bool is_complete() const { return stage_ == Stage::complete; }
    int status() const { return status_; }
    const engine::http1::Headers& headers() const { return headers_; }
    // The connection can be reused once this response is complete.
    bool keeps_alive() const { return keeps_alive_; }

private:
    enum class Stage : std::uint8_t { status_line, fields, body, until_close, chunk_size, chunk, chunk_end, trailers, complete };

    Result<void> on_line(std::string_view line);
    Result<void> on_status_line(std::string_view line);
    Result<void> on_field(std::string_view line);
    Result<void> on_head();
    Bytes take_body(Bytes& input);

    engine::http1::LineReader line_{engine::http1::LineReader::LineEnd::lenient};
    engine::http1::Headers headers_;
    std::size_t header_bytes_ = 0;
    std::uint64_t left_ = 0;  // of the body or of the chunk
    int status_ = 0;
    std::size_t interims_ = 0;
    int minor_version_ = 1;
    bool keeps_alive_ = false;
    Stage stage_ = Stage::status_line;
};

}  // namespace live::bench
