// The JSON objects of an ACME server (RFC 8555, section 7.1): directory, order, authorization, problem. Only the members that a
// client needs. URLs are not checked here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::wire::acme {

inline constexpr std::size_t kMessageBytesMax = 64 * 1024;
// Authorizations of an order, and challenges of an authorization.
inline constexpr std::size_t kListMax = 100;

// 7.1.1.
struct Directory {
    std::string new_nonce;
    std::string new_account;
    std::string new_order;
};

// 6.7. `type` is without the prefix "urn:ietf:params:acme:error:".
struct Problem {
    std::string type;
    std::string detail;

    bool operator==(const Problem&) const = default;
};

// 7.1.3.
struct Order {
    std::string status;
    std::string finalize;
    std::string certificate;
    std::vector<std::string> authorizations;
    Problem error;
};

// 8.
struct Challenge {
    std::string type;
    std::string url;
    std::string status;
    std::string token;
    Problem error;
};

// 7.1.4.
struct Authorization {
    std::string status;
    std::string domain;
    std::vector<Challenge> challenges;
};

// Errc::malformed for a text that is not such an object, Errc::limit above a bound.
Result<Directory> parse_directory(std::string_view text);
Result<Order> parse_order(std::string_view text);
Result<Authorization> parse_authorization(std::string_view text);
// An empty problem for another text: servers that fail answer with pages.
Problem parse_problem(std::string_view text);

}  // namespace live::wire::acme
