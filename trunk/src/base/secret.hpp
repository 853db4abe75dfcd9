// Passwords and tokens: compared, and kept out of what people read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace live {

// Takes a time that depends on what was given, never on what is wanted or where the two differ.
inline bool same_secret(std::string_view given, std::string_view wanted) {
    unsigned difference = given.size() == wanted.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i)
        difference |= static_cast<unsigned>(given[i] ^ (wanted.empty() ? 0 : wanted[i % wanted.size()]));
    return difference == 0;
}

// For logs: URLs, queries and command lines with "***" for the value of each parameter whose name is known to hold a secret
// ("key=", "token=" and the like, in any case), and for what stands before the '@' of an authority (RFC 3986, 3.2.1).
std::string redacted(std::string_view text);

}  // namespace live
