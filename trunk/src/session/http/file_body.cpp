#include "session/http/file_body.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "io/fibers/loop.hpp"
#include "io/tls/tls_stream.hpp"

namespace live::session::http {

namespace {

Error shorter() { return {Errc::closed, "the file has become shorter while it was sent"}; }

std::size_t piece(std::uint64_t left, std::size_t most) { return static_cast<std::size_t>(std::min<std::uint64_t>(left, most)); }

// Sends parts of a file with their heads.
class FileSender {
public:
    FileSender(Exchange& exchange, const io::File& file, std::span<const FilePiece> pieces)
        : exchange_(exchange),
          file_(file),
          pieces_(pieces),
          is_ascending_(std::ranges::is_sorted(pieces, {}, &FilePiece::first)) {
        advance();
    }

    Result<void> run(io::Deadline deadline) {
        std::size_t in_turn = 0;
        while (!is_over()) {
            const auto limit = deadline.sooner(io::Deadline::after(kFileStallLimit));
            const std::size_t sent = TRY(send_some(limit));
            exchange_.traffic().sent_bytes += sent;
            in_turn += sent;
            advance();
            const bool must_wait = sent == 0 || (exchange_.stream().holds_output() && !is_over());
            if (must_wait && TRY(exchange_.stream().wait_ready(io::Interest::writable, nullptr, limit)).timed_out)
                return Error(Errc::timed_out, "the client does not read the file");
            if (in_turn >= kFileTurnBytes) {
                in_turn = 0;
                TRY(io::yield(deadline));
            }
        }
        return {};
    }

private:
    bool is_over() const { return head_.empty() && at_ == end_ && pieces_.empty(); }

    // Begins the next piece behind the end of one.
    void advance() {
        while (head_.empty() && at_ == end_ && !pieces_.empty()) {
            head_ = pieces_.front().head;
            at_ = pieces_.front().first;
            end_ = at_ + pieces_.front().count;
            cached_until_ = is_ascending_ ? cached_until_ : 0;
            reach_ = is_ascending_ ? pieces_.back().first + pieces_.back().count : end_;
            pieces_ = pieces_.subspan(1);
        }
    }

    // Returns the number of bytes that the socket has accepted.
    Result<std::size_t> send_some(io::Deadline limit) {
        if (exchange_.tcp() != nullptr && (at_ == end_ || is_cached()))
            return head_.empty() ? send_by_kernel() : send_head();
        if (const auto sent = TRY(send_copied()))
            return *sent;
        return send_owned(limit);
    }

    // Checks a window at a time.
    bool is_cached() {
        if (at_ >= cached_until_)
            cached_until_ = at_ + file_.cached_bytes(at_, piece(std::max(reach_, end_) - at_, kFileWindowBytes));
        return at_ < cached_until_;
    }

    Result<std::size_t> send_head() {
        const Bytes head = as_bytes(head_);
        // The kernel waits for the file's first bytes; behind an empty file nothing follows.
        const std::size_t sent = at_ < end_ ? TRY(exchange_.tcp()->try_write_ahead(head))
                                            : TRY(exchange_.tcp()->try_write(std::array{io::as_part(head)}));
        head_.remove_prefix(sent);
        return sent;
    }

    Result<std::size_t> send_by_kernel() {
        const auto sent = exchange_.tcp()->try_send_file(file_.native_handle(), at_,
                                                         static_cast<std::size_t>(std::min(end_, cached_until_) - at_));
        if (!sent.ok())
            return sent.code() == Errc::not_found ? shorter() : Error(sent.error());
        at_ += *sent;
        return sent;
    }

    // Through the buffer of all fibers: bytes that the socket does not accept are read again. Returns nullopt if it would have to
    // wait for the disk.
    Result<std::optional<std::size_t>> send_copied() {
        const std::size_t most = std::min(exchange_.scratch().size(), io::TlsStream::kTakenMax);
        const MutBytes buffer = exchange_.scratch().first(piece(end_ - at_, most));
        const auto got = buffer.empty() ? Result<std::size_t>(0) : file_.try_read(at_, buffer);
        if (!got.ok())
            return got.code() == Errc::need_more ? Result<std::optional<std::size_t>>(std::nullopt) : Error(got.error());
        if (*got == 0 && !buffer.empty())
            return shorter();
        const std::array parts{io::as_part(as_bytes(head_)), io::as_part(buffer.first(*got))};
        const std::size_t sent = TRY(exchange_.stream().try_write(parts));
        take(sent);
        return std::optional(sent);
    }

    Result<std::size_t> send_owned(io::Deadline limit) {
        const auto bytes = TRY(file_.read(at_, piece(end_ - at_, kFilePieceBytes), limit));
        if (bytes.empty())
            return shorter();
        const std::size_t sent = head_.size() + bytes.size();
        TRY(exchange_.stream().write_all(std::array{io::as_part(as_bytes(head_)), io::as_part(bytes)}, limit));
        take(sent);
        return sent;
    }

    void take(std::size_t sent) {
        const std::size_t of_head = std::min(sent, head_.size());
        head_.remove_prefix(of_head);
        at_ += sent - of_head;
    }

    Exchange& exchange_;
    const io::File& file_;
    std::span<const FilePiece> pieces_;  // after the one that is sent
    const bool is_ascending_;
    std::string_view head_;
    std::uint64_t at_ = 0;  // the next byte of the file
    std::uint64_t end_ = 0;
    std::uint64_t reach_ = 0;         // the end of the pieces that follow in the file
    std::uint64_t cached_until_ = 0;  // the page cache has the bytes from at_ to here
};

}  // namespace

Result<void> send_content(Exchange& exchange, const std::string& head, Bytes content, io::Deadline deadline) {
    exchange.traffic().sent_bytes += head.size() + content.size();
    return exchange.stream().write_all(std::array{io::as_part(as_bytes(head)), io::as_part(content)},
                                       deadline.sooner(io::Deadline::after(kFileStallLimit)));
}

Result<void> send_file_bytes(Exchange& exchange, const std::string& head, const io::File& file, std::uint64_t first,
                             std::uint64_t count, io::Deadline deadline) {
    return send_file_pieces(exchange, file, std::array{FilePiece{head, first, count}}, deadline);
}

Result<void> send_file_pieces(Exchange& exchange, const io::File& file, std::span<const FilePiece> pieces,
                              io::Deadline deadline) {
    return FileSender(exchange, file, pieces).run(deadline);
}

}  // namespace live::session::http
