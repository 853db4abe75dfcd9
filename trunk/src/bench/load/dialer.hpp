// Connections for all clients of a load: TCP or TLS, with the addresses of each host looked up once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/net/endpoint.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/stream.hpp"
#include "io/tls/tls_context.hpp"

namespace live::bench {

struct Place {
    std::string host;
    std::uint16_t port = 0;
    bool is_secure = false;

    bool operator==(const Place&) const = default;
};

class Dialer {
public:
    // Hosts that are cached; further ones are looked up each time.
    static constexpr std::size_t kHostsMax = 256;

    // Certificates are not verified: this is for tests. Errors of io::resolve, io::TcpStream::connect and io::TlsStream::connect.
    Result<std::unique_ptr<io::Stream>> dial(const Place& place, io::Deadline deadline);
    // TLS connections resume a session. The first caller of dial() makes a connection for it, and the others wait.
    void resume_sessions() { resumes_ = true; }

private:
    Result<std::unique_ptr<io::TcpStream>> connect(const Place& place, io::Deadline deadline);
    Result<void> await_session(const Place& place, io::Deadline deadline);
    Result<std::vector<Endpoint>> look_up(const Place& place, io::Deadline deadline);

    std::map<std::pair<std::string, std::uint16_t>, std::vector<Endpoint>> known_;
    std::unique_ptr<io::TlsContext> tls_;
    bool resumes_ = false;
    bool fetches_session_ = false;
};

}  // namespace live::bench
