// SipHash-2-4: a keyed hash of short input, for cookies. Much quicker than an HMAC, which a flood of handshakes would have to
// pay.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/bytes/bytes.hpp"

namespace live::engine::crypto {

class SipHash {
public:
    explicit SipHash(const std::array<std::uint8_t, 16>& key) {
        const std::uint64_t low = word(key, 0, 8);
        const std::uint64_t high = word(key, 8, 8);
        v_ = {low ^ 0x736F'6D65'7073'6575, high ^ 0x646F'7261'6E64'6F6D, low ^ 0x6C79'6765'6E65'7261,
              high ^ 0x7465'6462'7974'6573};
    }

    std::uint64_t of(Bytes input) {
        std::size_t at = 0;
        for (; at + 8 <= input.size(); at += 8)
            take(word(input, at, 8));
        take(word(input, at, input.size() - at) | std::uint64_t{input.size()} << 56);
        v_[2] ^= 0xFF;
        for (int i = 0; i < 4; ++i)
            round();
        return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
    }

private:
    // Little-endian.
    static std::uint64_t word(Bytes bytes, std::size_t at, std::size_t count) {
        std::uint64_t value = 0;
        for (std::size_t i = count; i-- > 0;)
            value = value << 8 | bytes[at + i];
        return value;
    }
    void take(std::uint64_t input) {
        v_[3] ^= input;
        round();
        round();
        v_[0] ^= input;
    }
    void round() {
        v_[0] += v_[1];
        v_[1] = std::rotl(v_[1], 13) ^ v_[0];
        v_[0] = std::rotl(v_[0], 32);
        v_[2] += v_[3];
        v_[3] = std::rotl(v_[3], 16) ^ v_[2];
        v_[0] += v_[3];
        v_[3] = std::rotl(v_[3], 21) ^ v_[0];
        v_[2] += v_[1];
        v_[1] = std::rotl(v_[1], 17) ^ v_[2];
        v_[2] = std::rotl(v_[2], 32);
    }

    std::array<std::uint64_t, 4> v_;
};

}  // namespace live::engine::crypto
