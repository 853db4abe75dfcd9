// EarlyReader: reads a transport stream as it arrives, while its bytes are in the cache, and holds the frames until the input
// that completed them is due. Pieces of the input have positions, which ascend. Dry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace live::wire::ts {

class EarlyReader {
public:
    // When the held frames take more memory than this, the owner should read no further before some have left. One piece of input
    // completes few frames, so the memory is never much more.
    static constexpr std::size_t kHeldBytesMax = 16U << 20;
    // The memory of a frame in addition to its bytes.
    static constexpr std::size_t kFrameBytes = 128;

    // Reads a piece of the input. Data other than SCTE 35 and ID3 is left out: only the transport stream carries it.
    void read(Bytes input, std::uint64_t position);
    // The end of the stream: completes the units of unknown length, at the position of the newest input.
    void finish();
    // Returns the next frame that input up to `due`, inclusive, has completed.
    std::optional<TsReader::Unit> next(std::uint64_t due);

    const TsReader& reader() const { return reader_; }
    bool is_full() const { return frame_bytes_ > kHeldBytesMax; }
    // Memory of held frames and of unfinished units.
    std::size_t held_bytes() const { return frame_bytes_ + reader_.held_bytes(); }

private:
    struct Held {
        std::uint64_t position = 0;
        TsReader::Unit unit;
    };

    void hold();
    static std::size_t memory_of(const TsReader::Unit& unit) { return kFrameBytes + unit.frame.data.size(); }

    TsReader reader_;
    std::deque<Held> held_;
    std::size_t frame_bytes_ = 0;
    std::uint64_t newest_ = 0;
};

}  // namespace live::wire::ts
