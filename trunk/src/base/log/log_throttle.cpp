#include "base/log/log_throttle.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace live {

bool LogThrottle::Share::take(TimePoint now, const Rate& rate) {
    due_ = std::max(due_, now);
    if (due_ - now > (rate.burst - 1) * rate.interval)
        return false;
    due_ += rate.interval;
    return true;
}

bool LogThrottle::admits(TimePoint now, LogLimit limit, LogPlace place, std::string_view client) {
    Kind& kind = kinds_[place];
    const std::size_t key = std::hash<std::string_view>()(client) ^ std::hash<LogPlace>()(place);
    ClientShare& own = clients_[key % clients_.size()];
    if (own.key != key)
        own = {key, {}};
    if (own.share.take(now, kOfClient) && (limit == LogLimit::of_client || kind.share.take(now, kOfKind)))
        return true;
    if (kind.unsaid++ == 0)
        kind.unsaid_since = now;
    ++left_out_;
    return false;
}

std::uint64_t LogThrottle::on_written(LogPlace place, std::string_view message) {
    const auto known = kinds_.find(place);
    if (known == kinds_.end())
        return 0;
    Kind& kind = known->second;
    kind.sample.assign(message.substr(0, kSampleBytes));
    return std::exchange(kind.unsaid, 0);
}

std::optional<LogThrottle::LeftOut> LogThrottle::take_left_out(TimePoint now, Duration age) {
    for (auto& [place, kind] : kinds_) {
        if (kind.unsaid > 0 && now - kind.unsaid_since >= age)
            return LeftOut{std::exchange(kind.unsaid, 0), kind.sample};
    }
    return std::nullopt;
}

}  // namespace live
