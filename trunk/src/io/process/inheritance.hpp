// Ports that outlive a process. The old process lists its bound sockets and passes copies on; the new one gives them to the loop,
// where open_bound() finds them. Connections that wait in a listening socket stay in it, so none is lost in between. The new
// process takes nothing out of them until release_arrivals().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/net/endpoint.hpp"
#include "base/result.hpp"
#include "io/net/socket.hpp"

namespace live::io {

// How many one process passes on.
inline constexpr std::size_t kBoundSocketsMax = 512;

struct BoundSocket {
    std::string name;  // "tcp 0.0.0.0:1935", "udp [::]:8000"
    Socket copy;
};

// The TCP sockets that listen and the UDP sockets that are bound and not connected, of the whole process.
std::vector<BoundSocket> copies_of_bound_sockets();

// From now on open_bound() takes it for its type and address. Errc::malformed for another name.
Result<void> inherit(std::string_view name, Socket socket);
// Closes the inherited sockets that were not taken, and returns their number.
std::size_t drop_inherited();

// Nothing is accepted from listening sockets, and nothing received from UDP sockets, until they are released.
void hold_arrivals();
void release_arrivals();

}  // namespace live::io
