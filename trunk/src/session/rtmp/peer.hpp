// Peer: one RTMP client's connection, its engine and the few bytes between them. It reads, feeds the engine and writes the
// engine's output; the client's requests are the sessions' business. All fibers of the loop share one read buffer (`scratch`): it
// is only touched between two suspensions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "engine/rtmp/server.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp_stream.hpp"
#include "session/common/traffic.hpp"
#include "session/limits/memory_budget.hpp"

namespace live::session::rtmp {

class Peer {
public:
    // The client's unfinished input is charged to `holder`.
    Peer(std::unique_ptr<io::Stream> stream, engine::rtmp::ServerOptions options, std::uint64_t handshake_seed, MutBytes scratch,
         Traffic& traffic, MemoryBudget& memory, MemoryBudget::Holder& holder);

    engine::rtmp::Server& engine() { return engine_; }
    io::Stream& stream() { return *stream_; }
    Traffic& traffic() { return traffic_; }
    // Traffic of this connection. Media sent to a player by its cohort is added when it has stopped playing.
    Traffic& own_traffic() { return own_traffic_; }
    const Traffic& own_traffic() const { return own_traffic_; }
    // TCP_NODELAY. On while a client waits for answers, which Nagle's algorithm would hold back for 40 ms; media follows the
    // options.
    Result<void> set_no_delay(bool on);
    // Removes the socket from epoll until the next wait for it.
    void forget();

    // The client's next request; reads until there is one. Writes the engine's output on the way.
    Result<engine::rtmp::Event> next_event(io::Deadline deadline);
    // Reads once and feeds the engine.
    Result<void> read(io::Deadline deadline);
    struct Piece {
        std::size_t bytes = 0;  // 0: nothing was available
        bool more = false;      // there may be more
    };
    // Reads what is available, as much as the engine can handle quickly, and feeds it, without suspending.
    Result<Piece> read_piece();
    // In bytes, including the kernel's overhead.
    std::size_t receive_buffer() const;
    // Writes the engine's output.
    Result<void> write_output(io::Deadline deadline);
    // The engine's output, for a caller that writes it later.
    std::vector<std::uint8_t> take_output();

private:
    std::unique_ptr<io::Stream> stream_;
    io::TcpStream* tcp_;  // nullptr over TLS
    MutBytes scratch_;
    Traffic& traffic_;
    Traffic own_traffic_;
    std::size_t piece_bytes_ = 32 * 1024;  // to be read at once
    engine::rtmp::Server engine_;
    MemoryBudget::Use memory_;  // unfinished input
};

}  // namespace live::session::rtmp
