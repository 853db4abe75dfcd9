// HTTP/1.1 for load clients, mostly GET: connections are reused while the server allows it, redirects are followed, bodies of any
// length and form are passed to the sink in pieces.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "bench/load/load_client.hpp"
#include "engine/http1/message.hpp"
#include "engine/http1/parser.hpp"
#include "io/net/stream.hpp"
#include "wire/http/url.hpp"

namespace live::bench {

// Receives one response.
class BodySink {
public:
    virtual ~BodySink() = default;
    // The header of the final response, after all redirects: not an error status.
    virtual Result<void> on_head(const engine::http1::Response&) { return {}; }
    virtual Result<void> on_body(TimePoint now, Bytes piece) = 0;
    // Called after the header. False: the rest of the connection is counted and discarded.
    virtual bool needs_body() const { return true; }
    // Bytes to send, after a 101.
    virtual std::vector<std::uint8_t> take_output() { return {}; }
};

class HttpFetch {
public:
    static constexpr int kRedirectsMax = 5;

    // Whether this connection determines the client's connect time, or is only a step towards it.
    enum class Connection : std::uint8_t { is_the_clients, is_aside };

    explicit HttpFetch(LoadClient& client, Connection connection = Connection::is_the_clients)
        : client_(client), connection_(connection) {}

    // Returns at the body's end; after a 101, everything that follows is the body and ends with the connection, successfully if
    // `sink` reported no error. Every read has LoadTask::kIdleLimit. Errc::malformed for the URL or the response, Errc::denied
    // for a status of 400 and above, Errc::limit, Errc::closed, Errc::timed_out, errors of the connection.
    Result<void> get(const std::string& url, const engine::http1::Headers& headers, BodySink& sink, io::Deadline deadline) {
        return send({"GET", {}}, url, headers, sink, deadline);
    }
    // The same for another method. A redirect that would turn it into a GET (301 to 303) is Errc::unsupported.
    struct Asked {
        std::string method;
        std::string body;
    };
    Result<void> send(Asked asked, const std::string& url, const engine::http1::Headers& headers, BodySink& sink,
                      io::Deadline deadline);
    // The target of the last redirect.
    const std::string& final_url() const { return final_url_; }

private:
    enum class Next : std::uint8_t { done, redirected, try_again };

    Result<Next> exchange(const engine::http1::Headers& headers, BodySink& sink, io::Deadline deadline);
    Result<void> connect(const wire::http::Url& url, io::Deadline deadline);
    Result<void> receive(engine::http1::ResponseParser& answer, BodySink& sink, io::Deadline deadline);
    Result<void> discard(io::Deadline deadline);
    Result<void> take_input(engine::http1::ResponseParser& answer, BodySink& sink, Bytes input);
    Result<void> on_head(const engine::http1::Response& answer, BodySink& sink);
    Result<void> write(Bytes bytes, io::Deadline deadline);
    void drop_connection();

    LoadClient& client_;
    Connection connection_;
    Asked asked_;
    std::unique_ptr<io::Stream> stream_;
    Place place_;
    std::string final_url_;
    std::string location_;
    bool head_seen_ = false;
};

}  // namespace live::bench
