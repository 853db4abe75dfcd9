// OriginConnection: the byte stream to an origin and the protocol on it. It connects, sends and receives; the decisions are the
// Puller's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/signal.hpp"
#include "io/net/stream.hpp"
#include "service/relay/pull_context.hpp"
#include "service/relay/upstream/upstream.hpp"
#include "service/relay/upstream/upstream_request.hpp"
#include "session/common/admission.hpp"
#include "session/srt/call/call_url.hpp"

namespace live::service::relay {

class OriginConnection {
public:
    // `context` must outlive this.
    explicit OriginConnection(const PullContext& context) : context_(context) {}

    // Connects over TCP or TLS, or to another worker. Raising `interrupt` ends the dial with Errc::cancelled.
    Result<void> dial(const Wanted& wanted, Signal& interrupt, io::Deadline deadline);
    // Connects by an SRT call. Errc::conflict: the origin refuses the stream.
    Result<void> call(const session::srt::CallUrl& url, io::Deadline deadline);
    // Starts the protocol on the connection. `request` describes the pull as a client; its protocol and tcUrl are set.
    Result<void> begin(const Wanted& wanted, const ClusterOptions& options, const Introduction& introduction,
                       session::ClientRequest& request);
    void close();

    bool is_open() const { return stream_ != nullptr; }
    // Returns the delay of media by the receiver's buffer.
    Duration latency() const { return latency_; }
    // Requires is_open().
    io::Stream& stream() { return *stream_; }
    // Requires a successful begin().
    Upstream& upstream() { return *upstream_; }

    // Sends the pending output of the protocol.
    Result<void> send(io::Deadline deadline);
    // Reads available bytes into the context's scratch buffer and gives them to the protocol. Returns their number.
    // Errc::need_more: none are available. At the end of the connection, the protocol may have events.
    Result<std::size_t> read(TimePoint now);
    // Includes all earlier connections.
    std::uint64_t bytes_received() const { return earlier_bytes_ + (upstream_ != nullptr ? upstream_->bytes_received() : 0); }

private:
    const PullContext& context_;
    std::unique_ptr<io::Stream> stream_;
    std::unique_ptr<Upstream> upstream_;
    Duration latency_{};
    std::uint64_t earlier_bytes_ = 0;
};

}  // namespace live::service::relay
