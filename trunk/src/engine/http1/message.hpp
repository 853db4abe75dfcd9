// HTTP/1.1 messages as values: what a parser gives and a session decides on. Bodies are whole; streams of media go out chunk by
// chunk and never become a message.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace live::engine::http1 {

// The fields of a message in their order. Names compare without regard to case.
class Headers {
public:
    struct Field {
        std::string name;
        std::string value;

        bool operator==(const Field&) const = default;
    };

    // Without room ahead: a live stream's player keeps its request for hours.
    void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }
    // Adds to the value of the newest field, which must exist.
    void extend_last(std::string_view more) { fields_.back().value += more; }
    // The first field of that name.
    std::optional<std::string_view> find(std::string_view name) const;
    // Whether a field of that name holds `token` in its comma-separated list, as in "Connection: keep-alive, Upgrade".
    bool has_token(std::string_view name, std::string_view token) const;
    const std::vector<Field>& fields() const { return fields_; }

    bool operator==(const Headers&) const = default;

private:
    std::vector<Field> fields_;
};

struct Request {
    std::string method;  // "GET"
    std::string target;  // as it came; wire/http/target.hpp takes it apart
    Headers headers;
    std::string body;
    bool keep_alive = false;  // the client expects to use the connection again
    bool upgrade = false;     // the client asks for another protocol; what follows on the connection may be its
    int minor_version = 1;    // of HTTP/1.x: a client of 1.0 cannot take chunks
};

struct Response {
    int status = 0;
    std::string reason;
    Headers headers;
    std::string body;
    bool keep_alive = false;
};

// Equal without regard to the case of ASCII letters.
bool same_name(std::string_view a, std::string_view b);

}  // namespace live::engine::http1
