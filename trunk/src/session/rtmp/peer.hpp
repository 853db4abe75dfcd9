// Peer: one RTMP client's connection, its engine and the few bytes between them. It reads, feeds the engine and writes what the
// engine has to say; what the client wants is the sessions' business. All fibers of the loop share one read buffer (`scratch`):
// it is only touched between two suspensions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "engine/rtmp/server.hpp"
#include "io/stream.hpp"
#include "io/tcp_stream.hpp"
#include "session/common/traffic.hpp"

namespace live::session::rtmp {

class Peer {
public:
    // `tcp` is the same stream when it is plain TCP, else nullptr.
    Peer(std::unique_ptr<io::Stream> stream, io::TcpStream* tcp, engine::rtmp::ServerOptions options,
         std::uint64_t handshake_seed, MutBytes scratch, Traffic& traffic);

    engine::rtmp::Server& engine() { return engine_; }
    io::Stream& stream() { return *stream_; }
    Traffic& traffic() { return traffic_; }
    // This connection's. A player's media is sent on its behalf by others, and is in here once it has stopped playing.
    Traffic& own_traffic() { return own_traffic_; }
    const Traffic& own_traffic() const { return own_traffic_; }
    // nullptr over TLS.
    io::TcpStream* tcp() { return tcp_; }

    // The next thing the client wants, reading until there is one. Writes the engine's answers on the way.
    Result<engine::rtmp::Event> next_event(io::Deadline deadline);
    // Reads once and feeds the engine.
    Result<void> read(io::Deadline deadline);
    // Reads all that is there, about kReadBytesMax at most, without suspending. The bytes read; 0 when nothing was there.
    Result<std::size_t> read_available();
    // Writes what the engine has to say.
    Result<void> write_output(io::Deadline deadline);
    // What the engine has to say, for who writes it later.
    std::vector<std::uint8_t> take_output();

    static constexpr std::size_t kReadBytesMax = 1 << 20;

private:
    void count_received(std::size_t bytes);

    std::unique_ptr<io::Stream> stream_;
    io::TcpStream* tcp_;
    MutBytes scratch_;
    Traffic& traffic_;
    Traffic own_traffic_;
    engine::rtmp::Server engine_;
};

}  // namespace live::session::rtmp
