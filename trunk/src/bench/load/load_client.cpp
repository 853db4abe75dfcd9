#include "bench/load/load_client.hpp"

namespace live::bench {

std::chrono::nanoseconds LoadContext::random_sleep(Seconds value) {
    if (value <= Seconds(0))
        return std::chrono::nanoseconds(0);
    const double share = std::uniform_real_distribution<double>(0.7, 1.1)(random);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(value * share);
}

void LoadClient::on_media(TimePoint now, std::uint32_t timestamp_ms) {
    const std::uint64_t gaps = meter.gaps();
    meter.on_media(now, timestamp_ms);
    context.totals.gaps += meter.gaps() - gaps;
}

void LoadClient::on_stamp(std::chrono::microseconds sent, Duration ago) {
    using std::chrono::microseconds;
    const auto now = std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch() - ago);
    const auto delay = std::max(now - sent, microseconds(0));
    meter.on_delay(delay);
    context.totals.delays.add(static_cast<std::uint64_t>(delay.count()));
    context.totals.delays_second.add(static_cast<std::uint64_t>(delay.count()));
    if (context.frames)
        context.frames->add(index, sent, delay);
}

}  // namespace live::bench
