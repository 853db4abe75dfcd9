// Counts the bytes of a client that does not parse them. The SocketDrain discards those of a plain connection; those of a TLS
// connection are read.
#pragma once

#include <cstdint>

#include "base/signal.hpp"
#include "bench/load/load_client.hpp"
#include "bench/load/socket_drain.hpp"
#include "io/net/stream.hpp"

namespace live::bench {

class Discard final : private DrainMember {
public:
    // Both outlive this.
    Discard(LoadClient& client, io::Stream& stream) : client_(client), stream_(stream) {}
    ~Discard();
    Discard(const Discard&) = delete;
    Discard& operator=(const Discard&) = delete;

    // Returns after this many more bytes. Errc::closed at the end of the peer's bytes, Errc::timed_out after LoadTask::kIdleLimit
    // without any, Errc::cancelled, Errc::system.
    Result<void> take(std::uint64_t bytes, io::Deadline deadline);

private:
    void on_bytes(std::size_t count) override;
    void on_end(int error) override;
    Result<void> start();
    Result<void> read(std::uint64_t bytes, io::Deadline deadline);

    LoadClient& client_;
    io::Stream& stream_;
    int drained_ = -1;  // the descriptor, while it is drained
    std::uint64_t received_ = 0;
    std::uint64_t wanted_ = 0;
    bool has_ended_ = false;
    int error_ = 0;
    Signal changed_;
};

}  // namespace live::bench
