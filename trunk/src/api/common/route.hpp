// The table of the HTTP API: one row for each endpoint, with its path, methods, parameters and answer. Routing, the Allow header,
// the indexes, the 404 and the merging of several workers' answers are made from it (endpoints.hpp, aggregate_handler.hpp). A row
// is a description only: app connects it to a handler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "api/common/schema.hpp"

namespace live::api {

enum class Method : std::uint8_t { get = 1, head = 2, post = 4, del = 8, patch = 16, put = 32 };

// The methods of an endpoint. Scripts of this family POST to calls that only read: such endpoints accept any method.
class Methods {
public:
    constexpr Methods(std::initializer_list<Method> methods) {
        for (const Method method : methods)
            bits_ |= static_cast<unsigned>(method);
    }
    static constexpr Methods any() { return Methods(); }
    static constexpr Methods read() { return {Method::get, Method::head}; }

    constexpr bool is_any() const { return bits_ == 0; }
    // Reports whether the method is in the list; false when any method is accepted.
    constexpr bool names(Method method) const { return (bits_ & static_cast<unsigned>(method)) != 0; }
    bool allow(std::string_view method) const;
    // For the Allow header. The connection answers OPTIONS for all endpoints.
    std::string text() const;

private:
    constexpr Methods() = default;
    unsigned bits_ = 0;
};

// A parameter of the query.
struct Parameter {
    std::string_view name;
    std::string_view text;
    JsonType type = JsonType::text;
};

// The members of an answer that do not depend on the endpoint.
enum class Envelope : std::uint8_t {
    whole,        // code, server, service, pid
    without_pid,  // code, server, service
    code_alone,
    none,
};

// The form of an answer.
struct Answer {
    std::string_view content_type;
    std::string_view key;              // the member of the JSON object with the content
    std::string_view one;              // the same for one entry of a list; empty: the endpoint has no entries
    std::size_t page_size = 10;        // entries of a page for which no count is asked
    JsonType type = JsonType::object;  // of the content
    std::span<const Member> of{};
    Presence presence = Presence::always;
    std::span<const Member> beside{};  // members of the JSON object besides the content
    int status = 200;
    Envelope envelope = Envelope::whole;
    std::string_view other_content_type{};  // of another form, which a parameter or the Accept field selects
};

// An error or a redirect that an endpoint may answer with.
struct Failure {
    int status;
    std::string_view text;
};

// The body of a request.
struct Body {
    std::string_view content_type;
    std::span<const Member> of{};  // of a JSON object
};

// A method whose answer is another one than the row's.
struct Action {
    Method method;
    std::string_view text;
    Answer answer;
    Body body{};
    std::span<const Parameter> parameters{};
    std::span<const Failure> failures{};
};

// The ports that serve an endpoint, as bits.
enum class Ports : std::uint8_t {
    api = 1,       // http_api
    streams = 2,   // http_server
    exporter = 4,  // exporter
    workers = 8,   // the connections between workers
};
constexpr Ports operator|(Ports a, Ports b) { return static_cast<Ports>(static_cast<unsigned>(a) | static_cast<unsigned>(b)); }
constexpr bool share(Ports a, Ports b) { return (static_cast<unsigned>(a) & static_cast<unsigned>(b)) != 0; }

// The worker that answers, when there are several.
enum class Answerer : std::uint8_t {
    receiver,  // the worker that received the request
    own,       // the same, named in the answer: worker=N selects another one
    holder,    // the first one, from the receiver on, that has the object: the others answer 404
    all,       // all of them: their objects are combined
    entries,   // all of them: their lists are one list, and a request for an entry goes to the worker that has it
    joined,    // all of them: their lists are one list, in which an entry may be several workers'
    session,   // the worker that has the session
    metrics,   // all of them: their metric families are combined
};

enum class Listing : std::uint8_t {
    always,
    when_served,
    never,
};

struct Route {
    // With a '/' at the end it serves everything below too; if it accepts POST, also without that '/', because clients that POST
    // should not be redirected. Any other path serves itself, with or without a '/' at the end.
    std::string_view path;
    Methods methods = Methods::read();
    Ports ports = Ports::api | Ports::workers;
    std::span<const Parameter> parameters{};
    Answer answer{};
    std::string_view text;  // in the index above it
    Listing listing = Listing::always;
    Answerer answerer = Answerer::receiver;
    std::span<const Failure> failures{};
    std::string_view entry{};  // below a folder, with {names} of its parts, if that is served and is no entry of a list
    Body body{};
    std::span<const Action> actions{};

    bool is_folder() const { return path.ends_with('/'); }
    bool serves_without_slash() const { return is_folder() && methods.names(Method::post); }
};

std::span<const Route> routes();
// Returns the row that the router finds for a path, or nullptr.
const Route* find_route(std::string_view path);

}  // namespace live::api
