// What stands between the HTTP connections and those who answer: a request taken apart, an answer, and the interface of an
// answerer. An answer is whole (handle), or the handler takes the connection over and writes as it likes (serve): live streams,
// files of any size, WebSocket.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/http1/message.hpp"
#include "io/deadline.hpp"
#include "wire/http/target.hpp"

namespace live::session::http {

class Exchange;

struct Request {
    engine::http1::Request message;
    wire::http::Target target;
    std::string id;       // of the connection, as in the log
    std::string peer;     // "ip:port"
    std::string peer_ip;  // without the port
    bool secure = false;  // came over TLS
    bool allows_jsonp = false;

    const std::string& path() const { return target.path; }
    // HEAD counts as GET: the connection leaves the body out.
    bool is_get() const { return message.method == "GET" || is_head(); }
    bool is_head() const { return message.method == "HEAD"; }
    // Of the Host header, without port and brackets; empty when there is none.
    std::string host() const;
    // vhost= or domain= of the query, else host().
    std::string vhost() const;
    // Who asks, when proxies stand between: the first entry of X-Forwarded-For, else X-Real-IP, else the peer.
    std::string client_ip() const;
};

// "[::1]:80" is ::1, "example.com:80" example.com.
std::string_view host_of_authority(std::string_view authority);

// What becomes of a request's body.
enum class BodyMode : bool {
    whole,     // it comes with the request, at most Limits::body_bytes
    streamed,  // serve() reads it with Exchange::read_body, as long as it may be
};

struct Reply {
    int status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
};

// {"code":code,"message":sentence} with that status; without `code` it is the status. Nothing of the request may be in the
// sentence; what a callback's service says may, as UTF-8.
Reply error_reply(int status, std::string_view sentence);
Reply error_reply(int status, int code, std::string_view sentence);
// 405 (RFC 9110, 15.5.6). `allowed` is the list of methods that are answered.
Reply method_not_allowed(std::string_view allowed, std::string_view sentence);

class Handler {
public:
    virtual ~Handler() = default;

    // Asked of a handler behind a router's fallback only: is this request's address one of yours? Must not suspend.
    virtual bool takes(const Request& request) const;
    // Asked of requests with a body when their header is there. Must not suspend.
    virtual BodyMode body_mode(const Request& request) const;
    // Answers. After an error, or a body that ends with the connection, the connection is closed; otherwise it may serve the next
    // request. Sends what handle() says unless overridden.
    virtual Result<void> serve(Exchange& exchange, io::Deadline deadline);
    // What to answer. Failures are answers too. Not called when serve() is overridden; then it is a 500.
    virtual Reply handle(const Request& request, io::Deadline deadline);
};

}  // namespace live::session::http
