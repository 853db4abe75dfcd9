#include "service/http_client/http_client.hpp"

#include <array>
#include <utility>

#include "base/check.hpp"
#include "engine/http1/parser.hpp"
#include "engine/http1/writer.hpp"
#include "io/net/resolve.hpp"
#include "io/tls/tls_stream.hpp"

namespace live::service::http_client {

namespace http1 = engine::http1;

namespace {

Result<std::unique_ptr<io::TcpStream>> dial(const wire::http::Url& url, io::Deadline deadline) {
    const auto endpoints = TRY(io::resolve(url.host, url.port, deadline));
    for (std::size_t i = 0; i + 1 < endpoints.size(); ++i) {
        auto tcp = io::TcpStream::connect(endpoints[i], deadline.sooner(io::Deadline::after(HttpClient::kDialLimit)));
        if (tcp.ok() || tcp.code() == Errc::cancelled || deadline.expired())
            return tcp;
    }
    return io::TcpStream::connect(endpoints.back(), deadline);
}

}  // namespace

Result<std::unique_ptr<io::Stream>> HttpClient::connect(const wire::http::Url& url, io::Deadline deadline) const {
    auto tcp = TRY(dial(url, deadline));
    if (!url.is_secure)
        return std::unique_ptr<io::Stream>(std::move(tcp));
    if (tls_ == nullptr)
        return Error(Errc::unsupported, "the system's OpenSSL makes no TLS context");
    return std::unique_ptr<io::Stream>(TRY(io::TlsStream::connect(std::move(tcp), *tls_, url.host, deadline)));
}

Result<http1::Response> HttpClient::call(const HttpCall& call, io::Deadline deadline) const {
    const auto url = TRY(wire::http::parse_url(call.url));
    const auto stream = TRY(connect(url, deadline));
    return call_over(*stream, call, deadline);
}

Result<http1::Response> HttpClient::call_over(io::Stream& stream, const HttpCall& call, io::Deadline deadline) const {
    const auto url = TRY(wire::http::parse_url(call.url));
    http1::Headers headers = call.headers;
    headers.add("User-Agent", user_agent_);
    constexpr auto kKeepAlive = http1::ResponseBuilder::Connection::keep_alive;
    if (call.long_body)
        headers.add("Expect", "100-continue");
    const std::string text =
        call.long_body
            ? http1::write_request_head(call.method, url.target, url.authority(), headers, call.long_body->bytes, kKeepAlive)
            : http1::write_request(call.method, url.target, url.authority(), headers, call.body, kKeepAlive);
    const std::array parts{io::as_part(as_bytes(text))};
    TRY(stream.write_all(parts, deadline));
    Parser parser(call.method == "HEAD" ? Parser::RequestWas::head : Parser::RequestWas::other,
                  {.body_bytes = call.answer_bytes_max});
    if (call.long_body)
        if (auto early = TRY(send_long_body(stream, call, parser, deadline)))
            return *std::move(early);
    auto answer = receive(stream, call, parser, deadline);
    stream.close();
    return answer;
}

// Returns the answer of a server that refuses the body.
Result<std::optional<http1::Response>> HttpClient::send_long_body(io::Stream& stream, const HttpCall& call, Parser& parser,
                                                                  io::Deadline deadline) const {
    const auto heard = stream.wait_readable(deadline.sooner(io::Deadline::after(kContinueLimit)));
    if (!heard.ok() && (heard.code() != Errc::timed_out || deadline.expired()))
        return heard.error();
    if (heard.ok()) {
        auto early = TRY(receive_some(stream, call, parser, deadline));
        if (early)
            return early;
        // The rest of an answer; otherwise it was "100 Continue".
        if (parser.head() != nullptr)
            return std::optional(TRY(receive(stream, call, parser, deadline)));
    }
    const auto sent = call.long_body->send(stream, deadline);
    if (sent.ok())
        return std::optional<http1::Response>();
    if (sent.code() != Errc::closed)
        return sent.error();
    auto answer = receive(stream, call, parser, deadline.sooner(io::Deadline::after(kEarlyAnswerLimit)));
    return answer.ok() ? Result<std::optional<http1::Response>>(*std::move(answer)) : sent.error();
}

Result<http1::Response> HttpClient::receive(io::Stream& stream, const HttpCall& call, Parser& parser,
                                            io::Deadline deadline) const {
    for (;;)
        if (auto answer = TRY(receive_some(stream, call, parser, deadline)))
            return *std::move(answer);
}

Result<std::optional<http1::Response>> HttpClient::receive_some(io::Stream& stream, const HttpCall& call, Parser& parser,
                                                                io::Deadline deadline) const {
    const auto count = stream.read_some(scratch_, deadline);
    if (!count.ok() && count.code() != Errc::closed)
        return count.error();
    if (!count.ok()) {
        TRY(parser.finish());
    } else if (const auto fed = parser.feed(scratch_.first(*count)); !fed.ok()) {
        // After the head, only a body can be too long.
        if (fed.code() == Errc::limit && call.rest == HttpCall::Rest::left && parser.head() != nullptr)
            return std::optional(*parser.head());
        return fed.error();
    }
    auto answer = parser.next();
    CHECK(answer || count.ok());
    return answer;
}

}  // namespace live::service::http_client
