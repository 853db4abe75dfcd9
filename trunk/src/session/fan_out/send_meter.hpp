// SendMeter: how long media is in this server, from the read on its publisher's socket to the write on a player's, and how
// much goes out in one write.
#pragma once

#include <array>
#include <cstdint>

#include "base/histogram.hpp"
#include "base/time.hpp"
#include "media/source/wire_cursor.hpp"

namespace live::session {

class SendMeter {
public:
    static constexpr std::array kDelayBounds = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0};
    static constexpr std::array kBatchBounds = {256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0};

    // [from, to) of `wire_log`, which mirrors the source's ring, was written to `players` players at `now`. Looks at kPacketsMax
    // packets at most.
    static constexpr media::Sequence kPacketsMax = 1024;
    void record(const media::Source& source, const media::WireLog& wire_log, media::WireLog::Position from,
                media::WireLog::Position to, std::uint64_t players, TimePoint now);

    // In seconds, once per packet and player.
    const Histogram<kDelayBounds>& added_delay() const { return added_delay_; }
    // In bytes, once per write.
    const Histogram<kBatchBounds>& batch_bytes() const { return batch_bytes_; }

private:
    Histogram<kDelayBounds> added_delay_;
    Histogram<kBatchBounds> batch_bytes_;
};

}  // namespace live::session
