// PreparedSlate: a slate in memory, encoded for streams of one form. SlateReader makes it from the output of ffmpeg, and
// SlateClock has its frames played again and again. Dry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/media_kind.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/codec/frame.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace live::service::slate {

struct SlateFrame {
    MediaKind kind = MediaKind::video;
    wire::codec::Frame frame;  // its dts counts from the beginning of the slate
};

struct PreparedSlate {
    std::vector<SlateFrame> configs;
    std::vector<SlateFrame> frames;  // in the order of their dts
    MediaTime length{};              // the next round begins after this time
    std::size_t bytes = 0;
};

class SlateReader {
public:
    // Bound of all frames; the rest of a larger slate is left out.
    static constexpr std::size_t kBytesMax = 32U << 20;

    // Reports whether it takes more.
    bool feed(Bytes transport_stream);
    // The end of ffmpeg's output, once. Errc::malformed for a stream that does not begin with a key frame, or has no frames.
    Result<PreparedSlate> finish();

private:
    void take();

    wire::ts::TsReader reader_;
    PreparedSlate slate_;
    bool is_full_ = false;
};

// Which frame of a slate is next, and when.
class SlateClock {
public:
    // `slate` outlives this and has frames.
    explicit SlateClock(const PreparedSlate& slate) : slate_(slate) {}

    // Time of the next frame since the beginning of the first round.
    MediaTime due() const { return round_ + slate_.frames[next_].frame.dts; }
    const SlateFrame& next() const { return slate_.frames[next_]; }
    void advance();

private:
    const PreparedSlate& slate_;
    MediaTime round_{};
    std::size_t next_ = 0;
};

}  // namespace live::service::slate
