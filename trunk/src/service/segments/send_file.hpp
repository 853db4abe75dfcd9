// Answers a request with a file of the store: a whole one, or one that is still being made.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "io/deadline.hpp"
#include "service/segments/store.hpp"
#include "session/http/exchange.hpp"

namespace live::service::segments {

// Until there are more than `count` blocks, or none come any more. Errc::timed_out.
Result<void> wait_for_more(File& file, std::size_t count, io::Deadline deadline);
Result<void> wait_until_whole(File& file, io::Deadline deadline);

// What there is of it, whole or a range. Errors are the connection's.
Result<void> send_file(session::http::Exchange& exchange, File& file, std::vector<std::pair<std::string, std::string>> headers,
                       io::Deadline deadline);
// In HTTP chunks, each as soon as it is there, which has to be so for the first; `next_wait` is what one is waited for at most.
// `sent` is told of each.
Result<void> send_growing(session::http::Exchange& exchange, File& file, Duration next_wait,
                          const std::function<void(std::size_t)>& sent, io::Deadline deadline);

}  // namespace live::service::segments
