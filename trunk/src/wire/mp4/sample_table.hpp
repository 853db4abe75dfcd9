// SampleTable: what a progressive MP4 file must remember of the samples of one track until it is closed, and the boxes of it
// (ISO/IEC 14496-12, 8.6 and 8.7). About 4 bytes a sample of an even stream, at most 28 of the worst.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_writer.hpp"

namespace live::wire::mp4 {

class SampleTable {
public:
    // The duration of a sample is known when the next one comes.
    void add(std::uint64_t tick, std::int64_t composition, std::size_t bytes, bool key);
    // The samples added since the last chunk lie at `offset` of the file, one behind the other.
    void end_chunk(std::uint64_t offset);

    // Forgets the samples that are in no chunk, and the chunks that do not end before `end` of the file.
    void forget_behind(std::uint64_t end);

    std::size_t samples() const { return sizes_.size(); }
    std::uint64_t first_tick() const { return first_tick_; }
    // With `last_ticks` for the newest sample, whose end is not known.
    std::uint64_t ticks(std::uint32_t last_ticks) const { return sizes_.empty() ? 0 : last_tick_ - first_tick_ + last_ticks; }
    // How long the sample before the newest lasted, 0 without one.
    std::uint32_t previous_ticks() const { return durations_.empty() ? 0 : durations_.back().value; }

    // What belongs into stbl behind stsd.
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
    std::vector<Run<std::uint32_t>> durations_;  // of all but the newest
    std::vector<Run<std::int32_t>> compositions_;
    std::vector<std::uint32_t> keys_;  // numbers from one
    std::vector<Chunk> chunks_;
    std::uint32_t chunked_ = 0;  // samples in chunks
    std::uint64_t first_tick_ = 0;
    std::uint64_t last_tick_ = 0;
};

}  // namespace live::wire::mp4
