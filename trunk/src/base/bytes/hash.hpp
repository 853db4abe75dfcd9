// FNV-1a over 64 bits: a hash that is the same on all machines and in all versions, for values that nodes compare or agree on. It
// proves nothing, and it is not for tables that a peer can fill.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "base/bytes/bytes.hpp"

namespace live {

inline constexpr std::uint64_t kFnv1aBasis = 0xCBF2'9CE4'8422'2325;

// One step. FNV-1a proper takes one byte at a time.
constexpr std::uint64_t fnv1a_step(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 0x100'0000'01B3; }

// Continues from `hash`, the hash of the bytes before.
constexpr std::uint64_t fnv1a(Bytes bytes, std::uint64_t hash = kFnv1aBasis) {
    for (const std::uint8_t byte : bytes)
        hash = fnv1a_step(hash, byte);
    return hash;
}

// Hashes whole numbers, in this order.
constexpr std::uint64_t hash_of_numbers(std::initializer_list<std::uint64_t> numbers) {
    std::uint64_t hash = 0;
    for (const std::uint64_t number : numbers)
        hash = fnv1a_step(hash, number);
    return hash;
}

}  // namespace live
