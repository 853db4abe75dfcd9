#include "base/bytes/random.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <unistd.h>

#include "base/check.hpp"

namespace live {

// Calls the system directly: constructing a std::random_device costs more than serving a short HTTP request.
void fill_random(MutBytes bytes) {
    constexpr std::size_t kAtOnce = 256;  // limit of getentropy(3)
    while (!bytes.empty()) {
        const std::size_t count = std::min(bytes.size(), kAtOnce);
        CHECK(::getentropy(bytes.data(), count) == 0);
        bytes = bytes.subspan(count);
    }
}

std::uint64_t random_number() {
    std::array<std::uint8_t, 8> bytes{};
    fill_random(bytes);
    std::uint64_t number = 0;
    for (const std::uint8_t byte : bytes)
        number = number << 8 | byte;
    return number;
}

std::string random_id(std::size_t length) {
    static constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
    // Values above the last multiple would make some characters more likely than others.
    constexpr std::size_t kFairValues = 256 / kAlphabet.size() * kAlphabet.size();
    std::string id;
    std::array<std::uint8_t, 16> bytes{};
    while (id.size() < length) {
        fill_random(bytes);
        for (const std::uint8_t byte : bytes)
            if (byte < kFairValues && id.size() < length)
                id += kAlphabet[byte % kAlphabet.size()];
    }
    return id;
}

}  // namespace live
