// The tables of a track in the index of an MP4 file (ISO/IEC 14496-12, 8.6 and 8.7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace live::wire::mp4 {

enum class Table : std::uint8_t { times, compositions, keys, chunks, sizes, offsets };
inline constexpr std::size_t kTables = 6;

// The type of the box, and the bytes of an entry.
struct TableForm {
    std::string_view type;
    std::size_t entry_bytes;
};

// `is_far`: offsets have 64 bits.
constexpr TableForm form_of(Table table, bool is_far) {
    switch (table) {
        case Table::times: return {"stts", 8};
        case Table::compositions: return {"ctts", 8};
        case Table::keys: return {"stss", 4};
        case Table::chunks: return {"stsc", 12};
        case Table::sizes: return {"stsz", 4};
        case Table::offsets: break;
    }
    return is_far ? TableForm{"co64", 8} : TableForm{"stco", 4};
}

}  // namespace live::wire::mp4
