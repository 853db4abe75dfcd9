// HttpClient: one HTTP or HTTPS request and its response, on its own connection. For calls to an operator's services: no
// redirects are followed, certificates are verified by the TLS context, and responses are small.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/http1/message.hpp"
#include "engine/http1/parser.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/stream.hpp"
#include "io/tls/tls_context.hpp"
#include "wire/http/url.hpp"

namespace live::service::http_client {

// Default limit of a response body.
inline constexpr std::size_t kAnswerBytesMax = 64 << 10;

struct HttpCall {
    std::string method = "POST";
    std::string url;
    // Host, Connection, User-Agent and Content-Length are added.
    engine::http1::Headers headers;
    std::string body;
    // In place of `body`: one that is too long for memory. `send` writes all of it. The request has an
    // Expect field, so that the server may refuse the body before it is sent (RFC 9110, 10.1.1).
    struct LongBody {
        std::uint64_t bytes = 0;
        std::function<Result<void>(io::Stream& stream, io::Deadline deadline)> send;
    };
    std::optional<LongBody> long_body{};
    // Limit of the response body. Errc::limit for more, as soon as that is known; or the rest is left unread, for callers that
    // need only the status.
    std::size_t answer_bytes_max = kAnswerBytesMax;
    enum class Rest : std::uint8_t { refused, left } rest = Rest::refused;
};

class HttpClient {
public:
    // Per address, for a host with several addresses.
    static constexpr std::chrono::seconds kDialLimit{5};
    // A server that ignores the Expect field gets the body afterwards.
    static constexpr std::chrono::milliseconds kContinueLimit{1'000};
    // For the answer of a server that has closed while a body was sent.
    static constexpr std::chrono::seconds kEarlyAnswerLimit{1};

    // `user_agent` is "NAME/VERSION". `scratch` is the read buffer for responses: shared with other fibers, used only between two
    // suspensions, at least 4 KiB. `tls` is a client context and outlives this; without it https:// calls fail.
    HttpClient(std::string user_agent, MutBytes scratch, io::TlsContext* tls)
        : user_agent_(std::move(user_agent)), scratch_(scratch), tls_(tls) {}

    // The response, whatever its status. Errc::malformed, Errc::unsupported or Errc::limit for the URL or the response (its body
    // may have answer_bytes_max), Errc::not_found when the host has no address, Errc::closed when it refuses or ends too early,
    // Errc::denied when the TLS handshake fails, Errc::timed_out, Errc::cancelled, Errc::system.
    Result<engine::http1::Response> call(const HttpCall& call, io::Deadline deadline) const;
    // The same over a connection that exists; it is closed afterwards.
    Result<engine::http1::Response> call_over(io::Stream& stream, const HttpCall& call, io::Deadline deadline) const;

private:
    using Parser = engine::http1::ResponseParser;

    Result<std::unique_ptr<io::Stream>> connect(const wire::http::Url& url, io::Deadline deadline) const;
    Result<std::optional<engine::http1::Response>> send_long_body(io::Stream& stream, const HttpCall& call, Parser& parser,
                                                                  io::Deadline deadline) const;
    Result<engine::http1::Response> receive(io::Stream& stream, const HttpCall& call, Parser& parser,
                                            io::Deadline deadline) const;
    Result<std::optional<engine::http1::Response>> receive_some(io::Stream& stream, const HttpCall& call, Parser& parser,
                                                                io::Deadline deadline) const;

    std::string user_agent_;
    MutBytes scratch_;
    io::TlsContext* tls_;
};

}  // namespace live::service::http_client
