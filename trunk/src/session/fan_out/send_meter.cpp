#include "session/fan_out/send_meter.hpp"

#include <algorithm>

namespace live::session {

void SendMeter::record(const media::Source& source, const media::WireLog& wire_log, media::WireLog::Position from,
                       media::WireLog::Position to, std::uint64_t players, TimePoint now) {
    if (players == 0 || from == to)
        return;
    batch_bytes_.add(static_cast<double>(to - from), players);
    const media::Ring& ring = source.ring();
    const media::Sequence first = std::max(wire_log.find(from), ring.first());
    const media::Sequence last = std::min({wire_log.find(to), ring.next(), first + kPacketsMax});
    for (media::Sequence sequence = first; sequence < last; ++sequence) {
        const std::chrono::duration<double> delay = now - ring.at(sequence).arrived;
        added_delay_.add(delay.count(), players);
    }
}

}  // namespace live::session
