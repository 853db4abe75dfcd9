// What stands behind the method in an HTTP request: the path and the query, decoded (RFC 9112, 3.2; RFC 3986, 2.1). Paths become
// file names further up, so one that climbs or carries a zero byte or a line end does not get through here. A file has one path:
// rules and indexes go by it, so that "/live//cam" and "/live/./cam" are "/live/cam" from here on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::wire::http {

// The parameters of a query or of a posted form, decoded, in their order.
class Query {
public:
    static constexpr std::size_t kParametersMax = 128;

    struct Parameter {
        std::string name;
        std::string value;

        bool operator==(const Parameter&) const = default;
    };

    Query() = default;
    // `text` without the '?'. '+' is a space; a broken percent sequence stands for itself, as in browsers. Errc::limit above
    // kParametersMax.
    static Result<Query> parse(std::string_view text);

    const std::vector<Parameter>& parameters() const { return parameters_; }
    // The first parameter of that name; empty text when it has no value.
    std::optional<std::string_view> find(std::string_view name) const;
    // The same, or `otherwise` when there is none.
    std::string_view get(std::string_view name, std::string_view otherwise = {}) const { return find(name).value_or(otherwise); }

private:
    std::vector<Parameter> parameters_;
};

struct Target {
    std::string path;       // decoded and normal: begins with '/', without empty and "." segments; or is "*"
    std::string raw_query;  // as it came, without the '?'
    Query query;
};

// Origin form, absolute form (its authority is dropped) and "*". Errc::malformed for anything else and for broken percent
// sequences in the path, Errc::denied for a control character, a backslash or a ".." segment in it, Errc::limit for too many
// parameters.
Result<Target> parse_target(std::string_view text);

// Errc::malformed for '%' without two hexadecimal digits.
Result<std::string> percent_decode(std::string_view text);
// Everything but the unreserved characters of RFC 3986, 2.3 as %XX.
std::string percent_encode(std::string_view text);
// The same with slashes as they are: a path as it is written in an address.
std::string percent_encode_path(std::string_view path);

}  // namespace live::wire::http
