// Directory: the sessions of GB28181 devices as the API opens, lists and closes them. Signalling is done elsewhere, by an
// external SIP server.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/net/endpoint.hpp"
#include "base/result.hpp"
#include "engine/gb28181/session_table.hpp"

namespace live::session::gb28181 {

using engine::gb28181::Transport;

struct OpenRequest {
    std::string id;  // the name of the stream
    // Needed at the port of all devices.
    std::optional<std::uint32_t> ssrc{};
    Transport transport = Transport::tcp;
    // tcp_active: the device; without it, connect() follows.
    std::optional<Endpoint> device{};
    // A port of its own, for devices whose SSRC is unknown; 0 picks a free one. Without it, the port of all devices.
    std::optional<std::uint16_t> port{};
};

struct OpenedSession {
    std::uint16_t port = 0;  // 0 for tcp_active
    bool is_tcp = true;
};

struct ListedSession {
    std::string id;
    std::optional<std::uint32_t> ssrc;
    Transport transport = Transport::tcp;
    bool is_publishing = false;
    std::string device;  // "ip:port"; empty while none has connected
    std::uint16_t port = 0;
    std::chrono::milliseconds age{};
    std::uint64_t received_bytes = 0;
    std::vector<std::string> codecs;
};

class Directory {
public:
    // Reserves id and SSRC. Errc::conflict when one of them is in use or the port is taken, Errc::malformed, Errc::limit,
    // Errc::system. Must not suspend.
    virtual Result<OpenedSession> open(OpenRequest request) = 0;
    // Connects to the device of a tcp_active session that waits for it. Errc::not_found, Errc::conflict. Must not suspend.
    virtual Result<void> connect(std::string_view id, const Endpoint& device) = 0;
    // Ends it soon. Errc::not_found. Must not suspend.
    virtual Result<void> close(std::string_view id) = 0;
    // In the order of the ids.
    virtual std::vector<ListedSession> list() const = 0;

protected:
    ~Directory() = default;
};

}  // namespace live::session::gb28181
