// Answers a request with a file of the store, complete or in progress.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/segments/store.hpp"
#include "session/http/exchange.hpp"

namespace live::service::segments {

// Waits until there are more than `count` blocks, or the file is complete. Errc::timed_out.
Result<void> wait_for_more(File& file, std::size_t count, io::Deadline deadline);
Result<void> wait_until_whole(File& file, io::Deadline deadline);

// Sends the available bytes, whole or a range. Returns the connection's errors.
Result<void> send_file(session::http::Exchange& exchange, File& file, std::vector<std::pair<std::string, std::string>> headers,
                       io::Deadline deadline);
// Sends with chunked transfer encoding, each block as soon as it is available; waits at most `next_wait` for each. `sent` is
// called with the size of each.
Result<void> send_growing(session::http::Exchange& exchange, File& file, Duration next_wait,
                          std::vector<std::pair<std::string, std::string>> headers, const std::function<void(std::size_t)>& sent,
                          io::Deadline deadline);
// The Cache-Control value: files without access rules are public.
std::vector<std::pair<std::string, std::string>> headers_for_caches(bool is_guarded);

}  // namespace live::service::segments
