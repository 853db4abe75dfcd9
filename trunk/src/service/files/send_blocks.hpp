// A file that is held in memory as blocks, over HTTP: whole or a range of it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/block.hpp"
#include "base/result.hpp"
#include "io/deadline.hpp"
#include "io/memory_file.hpp"
#include "session/http/exchange.hpp"

namespace live::service::files {

// Written at once: so much has to go out in kStallLimit.
inline constexpr std::size_t kPieceBytes = 512 << 10;
inline constexpr std::chrono::seconds kStallLimit{60};

// The content type is that of the path's ending; `headers` are added. `copy`, which may be nullptr, has the same bytes
// (SentCopy). Errors are the connection's.
Result<void> send_blocks(session::http::Exchange& exchange, const std::vector<Block>& blocks,
                         std::vector<std::pair<std::string, std::string>> headers, io::MemoryFileRef copy, io::Deadline deadline);

}  // namespace live::service::files
