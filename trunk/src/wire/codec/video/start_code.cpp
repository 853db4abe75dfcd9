#include "wire/codec/video/start_code.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace live::wire::codec {

namespace {

// Bytes that are tested together, with a fixed number of instructions for any content.
constexpr std::size_t kSearchBlock = 64;

// A register of SSE2 or NEON; the compiler splits it for other machines.
using SearchVector = std::uint8_t __attribute__((vector_size(16)));
using SearchHalves = std::uint64_t __attribute__((vector_size(16)));

SearchVector load_vector(const std::uint8_t* from) {
    SearchVector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

bool has_zero_byte(SearchVector bytes) {
    SearchHalves found;
    const auto equal = bytes == SearchVector{};
    std::memcpy(&found, &equal, sizeof found);
    return (found[0] | found[1]) != 0;
}

SearchVector lesser_bytes(SearchVector a, SearchVector b) { return a < b ? a : b; }

// One of two zeros in a row has an even offset. Zeros at odd offsets are hidden. Compressed video passes about seven of eight
// blocks here.
bool has_even_zero(const std::uint8_t* block) {
    constexpr SearchVector kOdd{0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF};
    const SearchVector first = lesser_bytes(load_vector(block) | kOdd, load_vector(block + 16) | kOdd);
    const SearchVector second = lesser_bytes(load_vector(block + 32) | kOdd, load_vector(block + 48) | kOdd);
    return has_zero_byte(lesser_bytes(first, second));
}

// Reads two bytes after the block.
bool has_start_code(const std::uint8_t* block) {
    constexpr SearchVector kOnes = SearchVector{} + 1;
    SearchVector least = ~SearchVector{};
    for (std::size_t i = 0; i < kSearchBlock; i += sizeof(SearchVector))
        least = lesser_bytes(least, load_vector(block + i) | load_vector(block + i + 1) | (load_vector(block + i + 2) ^ kOnes));
    return has_zero_byte(least);
}

}  // namespace

std::size_t find_start_code(Bytes stream, std::size_t from) {
    std::size_t at = from;
    while (at + kSearchBlock + kStartCodePrefixBytes <= stream.size()) {
        const std::uint8_t* const block = stream.data() + at;
        // A prefix at the last offset, which is odd, has its even zero after the block.
        const bool is_candidate = has_even_zero(block) || block[kSearchBlock] == 0;
        if (is_candidate && has_start_code(block))
            break;
        at += kSearchBlock;
    }
    for (; at + kStartCodePrefixBytes <= stream.size(); ++at)
        if (stream[at] == 0 && stream[at + 1] == 0 && stream[at + 2] == 1)
            return at;
    return stream.size();
}

}  // namespace live::wire::codec
