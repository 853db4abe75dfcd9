// Comparing the initialization sections of a stream's tracks, in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bytes/hash.hpp"
#include "service/segments/segment_sync.hpp"
#include "service/segments/segmenter.hpp"

namespace live::service::dash {

inline bool are_same(const std::vector<segments::Header>& a, const std::vector<segments::Header>& b) {
    return std::ranges::equal(a, b, [](const segments::Header& one, const segments::Header& other) {
        return one.id.name() == other.id.name() && *one.init == *other.init;
    });
}

// Never 0, which stands for missing headers.
template <class Headers, class ToBytes>
std::uint64_t hash_of(const Headers& headers, ToBytes&& to_bytes) {
    std::uint64_t hash = 1;
    for (const auto& header : headers)
        hash = hash_of_numbers({hash, segments::hash_of_init(to_bytes(header))});
    return std::max<std::uint64_t>(hash, 1);
}
inline std::uint64_t hash_of(const std::vector<segments::Header>& headers) {
    return hash_of(headers, [](const segments::Header& header) { return Bytes(*header.init); });
}

}  // namespace live::service::dash
