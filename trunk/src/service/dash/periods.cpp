#include "service/dash/periods.hpp"

#include <algorithm>
#include <chrono>

namespace live::service::dash {

std::uint64_t Periods::number_of(std::uint64_t hash) const {
    return place_.inits > 0 && hash == place_.hash ? place_.inits - 1 : place_.inits;
}

bool Periods::reaches(std::uint64_t number) const {
    return std::ranges::any_of(periods_, [number](const Period& period) { return period.number >= number; });
}

void Periods::begin(const std::vector<segments::Header>& headers, std::uint64_t number, std::uint64_t hash) {
    Period& period = periods_.emplace_back(Period{number, headers, {}});
    if (number == 0)
        period.start = MediaTime{};
    else if (place_.inits == number + 1 && hash == place_.hash)
        period.start = place_.start;
    place_.hash = hash;
    place_.inits = number + 1;
    if (period.start)
        place_.start = *period.start;
}

void Periods::note_start(MediaTime start) {
    if (!periods_.back().start)
        periods_.back().start = place_.start = std::chrono::floor<std::chrono::milliseconds>(start);
}

void Periods::drop_before(std::uint64_t number) {
    while (periods_.size() > 1 && periods_.front().number < number)
        periods_.pop_front();
}

void Periods::drop_earlier() {
    while (periods_.size() > 1)
        periods_.pop_front();
}

}  // namespace live::service::dash
