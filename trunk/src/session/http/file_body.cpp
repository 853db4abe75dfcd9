#include "session/http/file_body.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "io/fibers/loop.hpp"

namespace live::session::http {

namespace {

Error shorter() { return {Errc::closed, "the file has become shorter while it was sent"}; }

std::size_t piece(std::uint64_t left, std::size_t most) { return static_cast<std::size_t>(std::min<std::uint64_t>(left, most)); }

// Small files go out together with their head, if they are cached. Returns the number of file bytes appended.
std::size_t append_small_file(std::string& begin, Exchange& exchange, const io::File& file, std::uint64_t first,
                              std::uint64_t count) {
    constexpr std::size_t kSmall = 32 * 1024;
    if (count == 0 || count > std::min(kSmall, exchange.scratch().size()))
        return 0;
    const MutBytes buffer = exchange.scratch().first(static_cast<std::size_t>(count));
    const auto got = file.try_read(first, buffer);
    if (!got.ok())
        return 0;
    begin += as_text(buffer.first(*got));
    return *got;
}

// Sends bytes from the page cache to the socket without a separate buffer: bytes that the socket does not accept are read
// again. Returns nullopt if it would have to wait for the disk.
Result<std::optional<std::size_t>> send_cached(Exchange& exchange, const io::File& file, std::uint64_t first, std::uint64_t count,
                                               io::Deadline deadline) {
    const MutBytes buffer = exchange.scratch().first(piece(count, exchange.scratch().size()));
    const auto got = file.try_read(first, buffer);
    if (!got.ok() && got.code() == Errc::need_more)
        return std::optional<std::size_t>();
    if (!got.ok() || *got == 0)
        return got.ok() ? shorter() : Error(got.error());
    const std::array parts{io::as_part(buffer.first(*got))};
    const std::size_t sent = TRY(exchange.stream().try_write(parts));
    if (sent < *got && TRY(exchange.stream().wait_ready(io::Interest::writable, nullptr, deadline)).timed_out)
        return Error(Errc::timed_out, "the client does not read the file");
    return std::optional(sent);
}

Result<std::size_t> send_owned(Exchange& exchange, const io::File& file, std::uint64_t first, std::uint64_t count,
                               io::Deadline deadline) {
    std::vector<std::uint8_t> bytes(piece(count, kFilePieceBytes));
    const auto cached = file.try_read(first, bytes);
    if (cached.ok())
        bytes.resize(*cached);
    else
        bytes = TRY(file.read(first, bytes.size(), deadline));
    if (bytes.empty())
        return shorter();
    TRY(exchange.stream().write_all(std::array{io::as_part(bytes)}, deadline));
    return bytes.size();
}

}  // namespace

Result<void> send_file_bytes(Exchange& exchange, std::string begin, const io::File& file, std::uint64_t first,
                             std::uint64_t count, io::Deadline deadline) {
    const std::size_t together = append_small_file(begin, exchange, file, first, count);
    exchange.traffic().sent_bytes += begin.size();
    TRY(exchange.stream().write_all(std::array{io::as_part(as_bytes(begin))},
                                    deadline.sooner(io::Deadline::after(kFileStallLimit))));
    begin = {};
    std::size_t in_turn = 0;
    for (std::uint64_t done = together; done < count;) {
        const auto limit = deadline.sooner(io::Deadline::after(kFileStallLimit));
        std::optional<std::size_t> sent;
        if (exchange.tcp() != nullptr)
            sent = TRY(send_cached(exchange, file, first + done, count - done, limit));
        if (!sent)
            sent = TRY(send_owned(exchange, file, first + done, count - done, limit));
        done += *sent;
        exchange.traffic().sent_bytes += *sent;
        in_turn += *sent;
        if (in_turn >= kFileTurnBytes) {
            in_turn = 0;
            TRY(io::yield(deadline));
        }
    }
    return {};
}

}  // namespace live::session::http
