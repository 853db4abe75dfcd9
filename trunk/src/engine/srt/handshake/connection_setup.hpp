// The result of a handshake, from which either end makes its Connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/net/transport_address.hpp"
#include "base/time.hpp"
#include "engine/srt/connection_types.hpp"
#include "engine/srt/handshake/handshake_message.hpp"
#include "engine/srt/handshake/keys.hpp"

namespace live::engine::srt {

struct ConnectionSetup {
    TransportAddress peer;
    SocketId socket_id{};
    SocketId peer_socket_id{};
    std::uint32_t cookie = 0;
    std::uint32_t handshake_version = 5;
    std::uint32_t send_initial_sequence = 0;
    std::uint32_t receive_initial_sequence = 0;
    std::uint32_t peer_mtu = 1'500;
    std::uint32_t peer_flow_window = 8'192;
    std::optional<Capabilities> peer_capabilities;  // none yet: version 4
    // When the peer's handshake arrived, and its timestamp: the relation of both clocks.
    TimePoint peer_received_at;
    std::uint32_t peer_timestamp = 0;
    // When our timestamps are zero.
    TimePoint began_at;
    std::optional<StreamKey> key;
    ConnectionOptions options;
    std::optional<Handshake> response;  // the listener's, to be sent first
};

// Our offer in a handshake.
Capabilities own_capabilities(const ConnectionOptions& options);
// In version 4 there is one latency, the receiver's. libsrt refuses a peer that announces a version with the newer handshake, and
// never sends its key to one that announces periodic loss reports (seen with 1.5.1).
Capabilities own_capabilities_4(const ConnectionOptions& options, std::chrono::milliseconds latency);

}  // namespace live::engine::srt
