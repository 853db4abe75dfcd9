#include "base/random_id.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include <sys/random.h>
#include <unistd.h>

#include "base/check.hpp"

namespace live {

// Asked of the system itself: making a std::random_device costs more than serving a short HTTP request.
std::string random_id(std::size_t length) {
    static constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
    // What is above the last multiple would make some letters likelier than others.
    constexpr std::size_t kFairValues = 256 / kAlphabet.size() * kAlphabet.size();
    std::string id;
    std::array<std::uint8_t, 16> bytes{};
    while (id.size() < length) {
        CHECK(::getentropy(bytes.data(), bytes.size()) == 0);
        for (const std::uint8_t byte : bytes)
            if (byte < kFairValues && id.size() < length)
                id += kAlphabet[byte % kAlphabet.size()];
    }
    return id;
}

}  // namespace live
