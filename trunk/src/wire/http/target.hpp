// The request target of an HTTP request: path and query, decoded (RFC 9112, 3.2; RFC 3986, 2.1). Paths become file names in
// higher rooms, so paths with ".." segments, zero bytes or line ends are rejected here. Paths are normalised, because rules and
// indexes match on them: "/live//cam" and "/live/./cam" become "/live/cam".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::wire::http {

// The parameters of a query or a posted form, decoded, in order.
class Query {
public:
    static constexpr std::size_t kParametersMax = 128;

    struct Parameter {
        std::string name;
        std::string value;

        bool operator==(const Parameter&) const = default;
    };

    Query() = default;
    // `text` excludes the '?'. '+' is a space; an invalid percent sequence is kept literally, as in browsers. Errc::limit above
    // kParametersMax.
    static Result<Query> parse(std::string_view text);

    const std::vector<Parameter>& parameters() const { return parameters_; }
    // The first parameter with that name; empty text when it has no value.
    std::optional<std::string_view> find(std::string_view name) const;
    // The same, or `otherwise` when it is missing.
    std::string_view get(std::string_view name, std::string_view otherwise = {}) const { return find(name).value_or(otherwise); }

private:
    std::vector<Parameter> parameters_;
};

struct Target {
    std::string path;       // decoded and normalised: begins with '/', without empty and "." segments; or is "*"
    std::string raw_query;  // as received, without the '?'
    Query query;
};

// Accepts origin form, absolute form (its authority is dropped) and "*". Errc::malformed for anything else and for invalid
// percent sequences in the path, Errc::denied for a control character, a backslash or a ".." segment in it, Errc::limit for too
// many parameters.
Result<Target> parse_target(std::string_view text);

// Errc::malformed for '%' without two hexadecimal digits.
Result<std::string> percent_decode(std::string_view text);
// Encodes everything except the unreserved characters of RFC 3986, 2.3 as %XX.
std::string percent_encode(std::string_view text);
// The same, but keeps slashes: a path as written in a URL.
std::string percent_encode_path(std::string_view path);

}  // namespace live::wire::http
