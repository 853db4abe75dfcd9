// TableEncoder: one table of a track in an MP4 header (ISO/IEC 14496-12, 8.6 and 8.7), made from samples that pass by one after
// the other: first counted, for the size of the table, then written piece by piece. It keeps no samples.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/bytes/byte_writer.hpp"
#include "wire/mp4/read/excerpt.hpp"
#include "wire/mp4/read/sample_tables.hpp"

namespace live::wire::mp4 {

class TableEncoder {
public:
    // The place of a byte of a file in the new file.
    using PlaceOf = std::function<std::uint64_t(std::size_t file, std::uint64_t offset)>;

    // `out`: nullptr counts. `is_far`: 64 bits for each chunk. Both outlive this.
    TableEncoder(Table table, ByteWriter* out, bool is_far, const PlaceOf* place_of)
        : table_(table), out_(out), place_of_(place_of), is_far_(is_far) {}

    // The samples of one track in one piece.
    void add(std::size_t file, const ExcerptPiece::Track& track);
    void finish();
    std::uint32_t entries() const { return entries_; }

private:
    void put(std::uint32_t value);
    void extend(std::uint32_t value, std::uint32_t count = 1);
    void end_run();
    void begin_chunk(std::size_t file, std::uint64_t offset);
    void end_chunk();
    void add_to_chunk(std::size_t file, std::uint32_t entry, const ExcerptSample& sample, bool is_first);

    const Table table_;
    ByteWriter* const out_;
    const PlaceOf* const place_of_;
    const bool is_far_;
    std::uint32_t entries_ = 0;
    std::uint32_t samples_ = 0;
    std::optional<ExcerptSample> waiting_;  // its duration depends on the next one
    struct Run {
        std::uint32_t count = 0;
        std::uint32_t value = 0;
    };
    Run run_;
    struct Chunk {
        std::uint64_t end = 0;  // in its file
        std::uint32_t entry = 0;
        std::uint32_t samples = 0;
        std::uint32_t number = 0;
        // The stretch of chunks that are alike.
        std::uint32_t last_samples = 0;
        std::uint32_t last_entry = 0;
    };
    Chunk chunk_;
};

}  // namespace live::wire::mp4
