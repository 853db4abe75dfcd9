// Elsewhere: of several workers, each makes the files of HLS and DASH of a stream by itself, and they are the same. What this one
// has not made yet, because it joined the stream later or is a moment behind, another one has.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "session/common/admission.hpp"
#include "session/http/exchange.hpp"

namespace live::service::files {

class Elsewhere {
public:
    // The player's stream may be published on any of the workers. Otherwise an edge's origins are asked.
    virtual bool shares(const session::ClientRequest& player) const = 0;
    // A worker publishes such a stream, this one included. True when that is unknown. Errc::cancelled.
    virtual Result<bool> publishes(const session::ClientRequest& player, io::Deadline deadline) = 0;
    // Answers the request with what the worker that publishes the stream says to it, and returns the size. None, and nothing is
    // sent, when no other worker publishes it or it does not have it either. Errc::cancelled, and errors of the connection.
    virtual Result<std::optional<std::size_t>> answer(session::http::Exchange& exchange, const std::string& url,
                                                      io::Deadline deadline) = 0;
    // The same with what any other worker has.
    virtual Result<std::optional<std::size_t>> answer(session::http::Exchange& exchange, io::Deadline deadline) = 0;

protected:
    ~Elsewhere() = default;
};

}  // namespace live::service::files
