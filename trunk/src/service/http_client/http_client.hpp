// HttpClient: one HTTP or HTTPS request and its answer, on a connection of its own. For calls to an operator's services: no
// redirects are followed, certificates are verified as the TLS context says, and an answer is small.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "engine/http1/message.hpp"
#include "io/deadline.hpp"
#include "io/stream.hpp"
#include "io/tls_context.hpp"
#include "wire/http/url.hpp"

namespace live::service::http_client {

// Of an answer's body, unless a call says less.
inline constexpr std::size_t kAnswerBytesMax = 64 << 10;

struct HttpCall {
    std::string method = "POST";
    std::string url;
    // Host, Connection, User-Agent and Content-Length are added.
    engine::http1::Headers headers;
    std::string body;
    // Of the answer's body. Errc::limit for more, as soon as that is known; or the rest is left unread, for who wants the status.
    std::size_t answer_bytes_max = kAnswerBytesMax;
    enum class Rest : std::uint8_t { refused, left } rest = Rest::refused;
};

class HttpClient {
public:
    // For an address of a host that has others too.
    static constexpr std::chrono::seconds kDialLimit{5};

    // `user_agent` is "NAME/VERSION". `scratch` is where answers are read into: shared with other fibers, touched only between
    // two suspensions, at least 4 KiB. `tls` is a client's and outlives this; without it calls of https:// fail.
    HttpClient(std::string user_agent, MutBytes scratch, io::TlsContext* tls)
        : user_agent_(std::move(user_agent)), scratch_(scratch), tls_(tls) {}

    // The answer, whatever its status. Errc::malformed, Errc::unsupported or Errc::limit for the URL or the answer (its body may
    // have answer_bytes_max), Errc::not_found when the host has no address, Errc::closed when it refuses or ends too early,
    // Errc::denied when the TLS handshake fails, Errc::timed_out, Errc::cancelled, Errc::system.
    Result<engine::http1::Response> call(const HttpCall& call, io::Deadline deadline) const;

private:
    Result<std::unique_ptr<io::Stream>> connect(const wire::http::Url& url, io::Deadline deadline) const;
    Result<engine::http1::Response> receive(io::Stream& stream, const HttpCall& call, io::Deadline deadline) const;

    std::string user_agent_;
    MutBytes scratch_;
    io::TlsContext* tls_;
};

}  // namespace live::service::http_client
