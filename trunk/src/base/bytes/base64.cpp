#include "base/bytes/base64.hpp"

#include <algorithm>
#include <string_view>

namespace live {

std::string base64(Bytes bytes) {
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::size_t kGroup = 3;
    std::string text;
    text.reserve((bytes.size() + 2) / kGroup * 4);
    for (std::size_t at = 0; at < bytes.size(); at += kGroup) {
        const Bytes group = bytes.subspan(at, std::min(kGroup, bytes.size() - at));
        std::uint32_t bits = std::uint32_t{group[0]} << 16;
        if (group.size() > 1)
            bits |= std::uint32_t{group[1]} << 8;
        if (group.size() > 2)
            bits |= group[2];
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= group.size() ? kAlphabet[bits >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

}  // namespace live
