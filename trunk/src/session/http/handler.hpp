// The interface between HTTP connections and handlers: a parsed request, a reply, and the handler itself. A handler returns a
// whole reply (handle), or takes over the connection and writes as it likes (serve): live streams, files of any size, WebSocket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/http1/message.hpp"
#include "io/fibers/deadline.hpp"
#include "wire/http/target.hpp"

namespace live::session::http {

class Exchange;

// The rights of a caller of the HTTP API.
enum class ApiRole : std::uint8_t {
    none,
    metrics,  // only these
    read,     // everything, without changes
    admin,
};

struct ApiCaller {
    ApiRole role = ApiRole::none;
    std::string name{};  // for the audit log
    // Its address has sent wrong credentials, and must wait before the next ones are compared.
    bool must_wait = false;
};

struct Request {
    engine::http1::Request message;
    wire::http::Target target;
    std::string id;       // of the connection, as in the log
    std::string peer;     // "ip:port"
    std::string peer_ip;  // without the port
    bool secure = false;  // over TLS
    bool allows_jsonp = false;
    bool is_sibling = false;  // the request is from another worker, for a client that it has admitted
    ApiCaller caller{};       // of the API, once its credentials are verified

    const std::string& path() const { return target.path; }
    // HEAD counts as GET: the connection leaves the body out.
    bool is_get() const { return message.method == "GET" || is_head(); }
    bool is_head() const { return message.method == "HEAD"; }
    // The Host header without port and brackets; empty if missing.
    std::string host() const;
    // vhost= or domain= of the query, otherwise host().
    std::string vhost() const;
    // The virtual host of a live stream: a relay's header field (kRelayVhostField), otherwise vhost().
    std::string stream_vhost() const;
    // The client behind proxies: the first entry of X-Forwarded-For, otherwise X-Real-IP, otherwise the peer.
    std::string client_ip() const;
};

// "[::1]:80" is ::1, "example.com:80" example.com.
std::string_view host_of_authority(std::string_view authority);

// How a request's body is read.
enum class BodyMode : bool {
    whole,     // together with the request, at most Limits::body_bytes
    streamed,  // serve() reads it with Exchange::read_body, without a length limit
};

struct Reply {
    int status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
};

// {"code":code,"message":sentence} with that status; without `code` it is the status. The sentence must not contain anything from
// the request; text from a callback's service is permitted, as UTF-8.
Reply error_reply(int status, std::string_view sentence);
Reply error_reply(int status, int code, std::string_view sentence);
// 405 (RFC 9110, 15.5.6). `allowed` lists the permitted methods.
Reply method_not_allowed(std::string_view allowed, std::string_view sentence);

class Handler {
public:
    virtual ~Handler() = default;

    // Called for fallback handlers only: whether the request's path belongs to this handler. Must not suspend.
    virtual bool takes(const Request& request) const;
    // Called for requests with a body once their header is complete. Must not suspend.
    virtual BodyMode body_mode(const Request& request) const;
    // Answers. After an error, or a body that ends with the connection, the connection is closed; otherwise it may serve the next
    // request. Sends the result of handle() unless overridden.
    virtual Result<void> serve(Exchange& exchange, io::Deadline deadline);
    // Returns the reply; failures are replies too. Not called when serve() is overridden; the default is a 500.
    virtual Reply handle(const Request& request, io::Deadline deadline);
};

}  // namespace live::session::http
