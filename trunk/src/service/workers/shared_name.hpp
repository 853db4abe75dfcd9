// A short name that is the same on all workers of this start of the server, and does not reveal their secret.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/crypto/siphash.hpp"

namespace live::service::workers {

inline std::string shared_name(std::string_view secret, std::string_view key, std::size_t letters = 8) {
    constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyz";
    std::array<std::uint8_t, 16> bytes{};
    std::copy_n(secret.begin(), std::min(secret.size(), bytes.size()), bytes.begin());
    std::uint64_t hash = engine::crypto::SipHash(bytes).of(as_bytes(key));
    std::string name;
    for (; name.size() < letters; hash /= kLetters.size())
        name += kLetters[hash % kLetters.size()];
    return name;
}

}  // namespace live::service::workers
