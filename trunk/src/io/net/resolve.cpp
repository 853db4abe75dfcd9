#include "io/net/resolve.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

#include <netdb.h>
#include <sys/socket.h>

#include "io/fibers/off_loop.hpp"
#include "io/net/socket.hpp"

namespace live::io {

namespace {

// Runs in a worker thread.
Result<std::vector<Endpoint>> look_up(const std::string& host, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* list = nullptr;
    const int failure = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
    if (failure == EAI_SYSTEM)
        return system_error("resolving " + host, errno);
    if (failure != 0)
        return Error(failure == EAI_MEMORY ? Errc::system : Errc::not_found,
                     "resolving " + host + ": " + ::gai_strerror(failure));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
    std::vector<Endpoint> found;
    for (const addrinfo* entry = list; entry != nullptr && found.size() < kAddressesMax; entry = entry->ai_next) {
        SocketAddress address;
        address.size = std::min<socklen_t>(entry->ai_addrlen, sizeof address.storage);
        std::copy_n(reinterpret_cast<const char*>(entry->ai_addr), address.size, reinterpret_cast<char*>(&address.storage));
        Endpoint endpoint = address.endpoint();
        endpoint.port = port;
        if (std::find(found.begin(), found.end(), endpoint) == found.end())
            found.push_back(std::move(endpoint));
    }
    if (found.empty())
        return Error(Errc::not_found, "resolving " + host + ": no address");
    return found;
}

}  // namespace

Result<std::vector<Endpoint>> resolve(const std::string& host, std::uint16_t port, Deadline deadline, Work whose) {
    if (SocketAddress::of({host, port}).ok())
        return std::vector<Endpoint>{{host, port}};
    constexpr std::size_t kNameMax = 253;  // RFC 1035, 2.3.4
    if (host.empty() || host.size() > kNameMax || host.find('\0') != std::string::npos)
        return Error(Errc::malformed, "a host name has 1 to 253 characters");
    return off_loop([host, port] { return look_up(host, port); }, deadline, whose);
}

}  // namespace live::io
