#include "base/bytes/base64.hpp"

#include <algorithm>
#include <utility>

namespace live {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kGroup = 3;

// Without padding.
std::string encode(Bytes bytes, std::string_view alphabet) {
    std::string text;
    text.reserve((bytes.size() + 2) / kGroup * 4);
    for (std::size_t at = 0; at < bytes.size(); at += kGroup) {
        const Bytes group = bytes.subspan(at, std::min(kGroup, bytes.size() - at));
        std::uint32_t bits = std::uint32_t{group[0]} << 16;
        if (group.size() > 1)
            bits |= std::uint32_t{group[1]} << 8;
        if (group.size() > 2)
            bits |= group[2];
        for (std::size_t i = 0; i <= group.size(); ++i)
            text += alphabet[bits >> (18 - 6 * i) & 63U];
    }
    return text;
}

// The bytes, and the bits that are left, which are less than a byte; nullopt for a letter of another alphabet.
std::optional<std::pair<std::vector<std::uint8_t>, std::uint32_t>> decode(std::string_view text, std::string_view alphabet) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(text.size() / 4 * kGroup + 2);
    std::uint32_t bits = 0;
    unsigned count = 0;  // of bits that are not in `bytes` yet
    for (const char letter : text) {
        const std::size_t value = alphabet.find(letter);
        if (value == std::string_view::npos)
            return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8)
            continue;
        count -= 8;
        bytes.push_back(static_cast<std::uint8_t>(bits >> count));
        bits &= (1U << count) - 1;
    }
    return std::pair{std::move(bytes), bits};
}

}  // namespace

std::string base64(Bytes bytes) {
    std::string text = encode(bytes, kAlphabet);
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

std::optional<std::vector<std::uint8_t>> bytes_of_base64(std::string_view text) {
    text = text.substr(0, text.find_last_not_of('=') + 1);
    auto decoded = decode(text, kAlphabet);
    return decoded && text.size() % 4 != 1 ? std::optional(std::move(decoded->first)) : std::nullopt;
}

std::string base64url(Bytes bytes) { return encode(bytes, kUrlAlphabet); }

Result<std::vector<std::uint8_t>> parse_base64url(std::string_view text) {
    auto decoded = decode(text, kUrlAlphabet);
    if (!decoded)
        return Error(Errc::malformed, "a letter is not base64url");
    if (text.size() % 4 == 1 || decoded->second != 0)
        return Error(Errc::malformed, "base64url is cut off");
    return std::move(decoded->first);
}

}  // namespace live
