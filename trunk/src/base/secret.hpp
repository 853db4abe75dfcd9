// Passwords and tokens, compared.
#pragma once

#include <cstddef>
#include <string_view>

namespace live {

// Takes a time that depends on what was given, never on what is wanted or where the two differ.
inline bool same_secret(std::string_view given, std::string_view wanted) {
    unsigned difference = given.size() == wanted.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i)
        difference |= static_cast<unsigned>(given[i] ^ (wanted.empty() ? 0 : wanted[i % wanted.size()]));
    return difference == 0;
}

}  // namespace live
