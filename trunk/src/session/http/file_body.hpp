// Response bodies that are files: sent in pieces, whatever their size. Bytes in the page cache go to a TCP socket by sendfile and
// to TLS through the buffer shared by all fibers; only pieces that wait for the disk have a buffer of their own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/fibers/deadline.hpp"
#include "io/files/file.hpp"
#include "session/http/exchange.hpp"

namespace live::session::http {

// Read size when a separate buffer is needed.
inline constexpr std::size_t kFilePieceBytes = 128 * 1024;
// For one sendfile, and one check of the page cache.
inline constexpr std::size_t kFileWindowBytes = 2 << 20;
// A client that takes no data, or less than one piece, in this time is disconnected.
inline constexpr std::chrono::seconds kFileStallLimit{60};
// Yields after this many bytes.
inline constexpr std::size_t kFileTurnBytes = 2 << 20;

// Sends `head`, and anything before the file's bytes in it, then bytes that a ServedFile has in memory.
Result<void> send_content(Exchange& exchange, const std::string& head, Bytes content, io::Deadline deadline);
// Sends `head`, then `count` bytes of the file from `first` on. Errc::closed when the client is gone or the file has become
// shorter, Errc::timed_out, Errc::cancelled, Errc::system.
Result<void> send_file_bytes(Exchange& exchange, const std::string& head, const io::File& file, std::uint64_t first,
                             std::uint64_t count, io::Deadline deadline);

// Bytes, and after them a part of a file.
struct FilePiece {
    std::string_view head;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};
// Sends several parts of one file, in order. The same errors.
Result<void> send_file_pieces(Exchange& exchange, const io::File& file, std::span<const FilePiece> pieces, io::Deadline deadline);

}  // namespace live::session::http
