// Peer: an RTSP connection and its engine. Bytes that arrive go to the engine, and its responses to the client.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/net/ip_network.hpp"
#include "engine/rtsp/server.hpp"
#include "io/net/stream.hpp"
#include "session/common/traffic.hpp"

namespace live::session::rtsp {

class Peer {
public:
    // Time limit of a response to a client that does not read.
    static constexpr std::chrono::seconds kWriteLimit{10};

    // Everything referred to outlives this.
    Peer(std::unique_ptr<io::Stream> stream, std::string client_ip, engine::rtsp::ServerOptions options, MutBytes scratch,
         Traffic& traffic)
        : stream_(std::move(stream)),
          client_ip_(std::move(client_ip)),
          scratch_(scratch),
          traffic_(traffic),
          engine_(std::move(options)) {}

    // Sends the responses and waits for the next event. Errors as io::Stream and engine::rtsp::Server.
    Result<engine::rtsp::Event> next_event(io::Deadline deadline);
    // Passes what has arrived to the engine; returns the number of bytes. Never suspends.
    Result<std::size_t> read_piece();
    // The same without a copy: before anything suspends, the caller must poll all events or call engine().keep_bytes().
    Result<std::size_t> borrow_piece();
    std::size_t piece_max() const { return scratch_.size(); }
    Result<void> write_output(io::Deadline deadline);
    // Responses that are sent in another way.
    std::string take_output();

    io::Stream& stream() { return *stream_; }
    // The client's address, without its port. Errors as parse_ip.
    Result<IpAddress> client_ip() const { return parse_ip(client_ip_); }
    engine::rtsp::Server& engine() { return engine_; }
    Traffic& traffic() { return traffic_; }
    Traffic& own_traffic() { return own_traffic_; }
    const Traffic& own_traffic() const { return own_traffic_; }

private:
    std::unique_ptr<io::Stream> stream_;
    std::string client_ip_;
    MutBytes scratch_;
    Traffic& traffic_;
    Traffic own_traffic_;
    engine::rtsp::Server engine_;
};

}  // namespace live::session::rtsp
