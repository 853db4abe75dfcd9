// RemoteFileSource: the HLS and DASH files that other workers have. Every worker makes the same files of a stream by itself. A
// file that this worker has not made, because it joined the stream later or is a moment behind, is fetched from another one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "session/common/admission.hpp"
#include "session/http/exchange.hpp"

namespace live::service::files {

class RemoteFileSource {
public:
    // Whether any worker may publish the player's stream. The streams of an edge come from its origins.
    virtual bool shares(const session::ClientRequest& player) const = 0;
    // Whether a worker, this one included, publishes such a stream. True if that is unknown. Errc::cancelled.
    virtual Result<bool> publishes(const session::ClientRequest& player, io::Deadline deadline) = 0;
    // Changes the body of a response before it is sent; empty: sends it as it is.
    using Edit = std::function<std::string(std::string_view body)>;
    // Sends the response of the worker that publishes the stream, and returns its size. Sends nothing and returns nullopt if no
    // other worker publishes the stream, or if that worker does not have the file. Errc::cancelled, and errors of the connection.
    virtual Result<std::optional<std::size_t>> answer(session::http::Exchange& exchange, const std::string& url, const Edit& edit,
                                                      io::Deadline deadline) = 0;
    // The same with the response of any other worker that has the file.
    virtual Result<std::optional<std::size_t>> answer(session::http::Exchange& exchange, const Edit& edit,
                                                      io::Deadline deadline) = 0;

protected:
    ~RemoteFileSource() = default;
};

}  // namespace live::service::files
