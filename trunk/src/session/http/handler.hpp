// What stands between the HTTP connections and those who answer: a request taken apart, an answer, and the interface of an
// answerer. Answers here are whole; endless bodies need the stream itself and will come with HTTP-FLV.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/http1/message.hpp"
#include "io/deadline.hpp"
#include "wire/http/target.hpp"

namespace live::session::http {

struct Request {
    engine::http1::Request message;
    wire::http::Target target;
    std::string id;    // of the connection, as in the log
    std::string peer;  // "ip:port"

    const std::string& path() const { return target.path; }
    // HEAD counts as GET: the connection leaves the body out.
    bool is_get() const { return message.method == "GET" || message.method == "HEAD"; }
};

struct Reply {
    int status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
};

// {"code":status,"message":sentence} with that status. The sentence is ours: nothing of the request may be in it.
Reply error_reply(int status, std::string_view sentence);

class Handler {
public:
    virtual ~Handler() = default;
    // What to answer. Failures are answers too.
    virtual Reply handle(const Request& request, io::Deadline deadline) = 0;
};

}  // namespace live::session::http
