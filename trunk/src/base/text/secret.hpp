// Passwords and tokens: constant-time comparison, and redaction from text that people read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace live {

// The time taken depends on `given` only, not on `wanted` or on where the two differ.
inline bool same_secret(std::string_view given, std::string_view wanted) {
    unsigned difference = given.size() == wanted.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i)
        difference |= static_cast<unsigned>(given[i] ^ (wanted.empty() ? 0 : wanted[i % wanted.size()]));
    return difference == 0;
}

// For logs: replaces with "***" the value of each parameter in URLs, queries and command lines whose name is known to hold a
// secret ("key=", "token=" and the like, case-insensitive), and the user info before the '@' of an authority (RFC 3986, 3.2.1).
std::string redacted(std::string_view text);

}  // namespace live
