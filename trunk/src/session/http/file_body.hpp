// The body of an answer that is a file: sent in pieces, whatever its size. A piece goes from the page cache through the buffer
// that all fibers share to the socket; only what has to be waited for, from the disk or over TLS, has memory of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/deadline.hpp"
#include "io/file.hpp"
#include "session/http/exchange.hpp"

namespace live::session::http {

// What is read at once when memory of its own is needed.
inline constexpr std::size_t kFilePieceBytes = 128 * 1024;
// A client that takes nothing, or not one piece, for this long is given up.
inline constexpr std::chrono::seconds kFileStallLimit{60};
// Other fibers run after this many bytes.
inline constexpr std::size_t kFileTurnBytes = 1 << 20;

// `begin` (the head, and what goes in front of the file's bytes), then `count` bytes of the file from `first` on. Errc::closed
// when the client has gone or the file has become shorter, Errc::timed_out, Errc::cancelled, Errc::system.
Result<void> send_file_bytes(Exchange& exchange, std::string begin, const io::File& file, std::uint64_t first,
                             std::uint64_t count, io::Deadline deadline);

}  // namespace live::session::http
