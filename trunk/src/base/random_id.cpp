#include "base/random_id.hpp"

#include <random>
#include <string_view>

namespace live {

std::string random_id(std::size_t length) {
    static constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
    std::random_device device;
    std::uniform_int_distribution<std::size_t> pick(0, kAlphabet.size() - 1);
    std::string id(length, '0');
    for (char& letter : id)
        letter = kAlphabet[pick(device)];
    return id;
}

}  // namespace live
