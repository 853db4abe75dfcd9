// HTTP/1.1 messages as values, passed from a parser to a session. Bodies are whole; media streams are sent chunk by chunk and
// never become a message.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace live::engine::http1 {

// The fields of a message in order. Names are case-insensitive.
class Headers {
public:
    struct Field {
        std::string name;
        std::string value;

        bool operator==(const Field&) const = default;
    };

    // No capacity is reserved: a live stream's player keeps its request for hours.
    void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }
    // Appends to the value of the newest field, which must exist.
    void extend_last(std::string_view more) { fields_.back().value += more; }
    // The first field of that name.
    std::optional<std::string_view> find(std::string_view name) const;
    // Whether a field of that name has `token` in its comma-separated list, as in "Connection: keep-alive, Upgrade".
    bool has_token(std::string_view name, std::string_view token) const;
    const std::vector<Field>& fields() const { return fields_; }

    bool operator==(const Headers&) const = default;

private:
    std::vector<Field> fields_;
};

struct Request {
    std::string method;  // "GET"
    std::string target;  // as received; wire/http/target.hpp parses it
    Headers headers;
    std::string body;
    bool keep_alive = false;  // the client expects to reuse the connection
    bool upgrade = false;     // the client requests another protocol, which the following bytes may belong to
    int minor_version = 1;    // of HTTP/1.x: a 1.0 client does not support chunks
};

struct Response {
    int status = 0;
    std::string reason;
    Headers headers;
    std::string body;
    bool keep_alive = false;
};

// ASCII case-insensitive comparison.
bool same_name(std::string_view a, std::string_view b);

}  // namespace live::engine::http1
