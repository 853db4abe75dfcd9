// SampleTable: the sample information of one track that a progressive MP4 file must retain until it is closed, and its boxes
// (ISO/IEC 14496-12, 8.6 and 8.7). About 4 bytes per sample for a regular stream, at most 28.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/byte_writer.hpp"

namespace live::wire::mp4 {

class SampleTable {
public:
    // The duration of a sample is known when the next one is added.
    void add(std::uint64_t tick, std::int64_t composition, std::size_t bytes, bool key);
    // The samples added since the last chunk are contiguous at `offset` in the file.
    void end_chunk(std::uint64_t offset);

    // Discards samples that are in no chunk, and chunks that end after `end` in the file.
    void forget_behind(std::uint64_t end);

    std::size_t samples() const { return sizes_.size(); }
    // `last_ticks` is the duration of the newest sample, whose end is not known.
    std::uint64_t ticks(std::uint32_t last_ticks) const { return sizes_.empty() ? 0 : last_tick_ - first_tick_ + last_ticks; }
    // Duration of the sample before the newest; 0 without one.
    std::uint32_t previous_ticks() const { return durations_.empty() ? 0 : durations_.back().value; }

    // Writes the rest of stbl after stsd.
    void write(ByteWriter& out, std::uint32_t last_ticks) const;

private:
    template <class T>
    struct Run {
        std::uint32_t count = 0;
        T value{};
    };
    struct Chunk {
        std::uint64_t offset = 0;
        std::uint32_t samples = 0;
    };

    void forget_last();
    template <class T>
    static void extend(std::vector<Run<T>>& runs, T value);
    void write_chunks(ByteWriter& out) const;

    std::vector<std::uint32_t> sizes_;
    std::vector<Run<std::uint32_t>> durations_;  // all but the newest sample
    std::vector<Run<std::int32_t>> compositions_;
    std::vector<std::uint32_t> keys_;  // sample numbers, from one
    std::vector<Chunk> chunks_;
    std::uint32_t chunked_ = 0;  // number of samples in chunks
    std::uint64_t first_tick_ = 0;
    std::uint64_t last_tick_ = 0;
};

}  // namespace live::wire::mp4
