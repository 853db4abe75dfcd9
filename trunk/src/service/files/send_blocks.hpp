// Sends a file held in memory as blocks over HTTP: whole or a range of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/block.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/files/memory_file.hpp"
#include "session/http/exchange.hpp"

namespace live::service::files {

// Written at once: each piece must be sent within kStallLimit.
inline constexpr std::size_t kPieceBytes = 512 << 10;
inline constexpr std::chrono::seconds kStallLimit{60};

// A kernel memory file with the same bytes from `offset` on (SentCopy); nullptr: none.
struct CopyOfBlocks {
    io::MemoryFileRef file;
    std::uint64_t offset = 0;
};

// The content type follows from the path's extension; `headers` are added. Returns the connection's errors.
Result<void> send_blocks(session::http::Exchange& exchange, const std::vector<Block>& blocks,
                         std::vector<std::pair<std::string, std::string>> headers, CopyOfBlocks copy, io::Deadline deadline);

}  // namespace live::service::files
