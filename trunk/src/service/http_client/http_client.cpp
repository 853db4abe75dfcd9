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
    const std::string text = http1::write_request(call.method, url.target, url.authority(), headers, call.body,
                                                  http1::ResponseBuilder::Connection::keep_alive);
    const std::array parts{io::as_part(as_bytes(text))};
    TRY(stream.write_all(parts, deadline));
    auto answer = receive(stream, call, deadline);
    stream.close();
    return answer;
}

Result<http1::Response> HttpClient::receive(io::Stream& stream, const HttpCall& call, io::Deadline deadline) const {
    using Parser = http1::ResponseParser;
    Parser parser(call.method == "HEAD" ? Parser::RequestWas::head : Parser::RequestWas::other,
                  {.body_bytes = call.answer_bytes_max});
    for (;;) {
        const auto count = stream.read_some(scratch_, deadline);
        if (!count.ok() && count.code() != Errc::closed)
            return Error(count.error());
        if (!count.ok()) {
            TRY(parser.finish());
        } else if (const auto fed = parser.feed(scratch_.first(*count)); !fed.ok()) {
            // After the head, only a body can be too long.
            if (fed.code() == Errc::limit && call.rest == HttpCall::Rest::left && parser.head() != nullptr)
                return *parser.head();
            return Error(fed.error());
        }
        if (auto answer = parser.next())
            return *std::move(answer);
        CHECK(count.ok());
    }
}

}  // namespace live::service::http_client
