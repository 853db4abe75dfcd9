// History: the points of the last hour, one for each interval of ten seconds, in bounded memory. Dry.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace live::service::stats {

// The number of an interval since the start of the machine. All processes of a machine have the same numbers.
using Slot = std::uint32_t;

inline constexpr std::chrono::seconds kHistoryInterval{10};
inline constexpr std::size_t kHistoryPoints = 360;

inline Slot slot_of(TimePoint now) { return static_cast<Slot>(now.time_since_epoch() / kHistoryInterval); }
inline TimePoint start_of(Slot slot) { return TimePoint(Duration(kHistoryInterval) * slot); }

template <class Point>
class History {
public:
    // Reports whether the interval of `now` has no point yet.
    bool is_due(TimePoint now) const { return entries_.empty() || slot_of(now) > newest(); }

    // A point of an interval that is not newer than all others is left out.
    void add(Slot slot, const Point& point) {
        if (!entries_.empty() && slot <= newest())
            return;
        if (entries_.size() < kHistoryPoints) {
            if (entries_.size() == entries_.capacity())
                entries_.reserve(std::min(kHistoryPoints, std::max(kFirst, 2 * entries_.capacity())));
            entries_.push_back({slot, point});
            return;
        }
        entries_[oldest_] = {slot, point};
        oldest_ = (oldest_ + 1) % entries_.size();
    }

    // Visits the points of the hour before the newest one, the oldest first: visit(slot, point). With `after`, those after it.
    template <class Visit>
    void for_each(std::optional<Slot> after, Visit&& visit) const {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const Entry& entry = entries_[(oldest_ + i) % entries_.size()];
            if (newest() - entry.slot < kHistoryPoints && (!after || entry.slot > *after))
                visit(entry.slot, entry.point);
        }
    }

    std::size_t bytes() const { return entries_.capacity() * sizeof(Entry); }

private:
    static constexpr std::size_t kFirst = 8;
    struct Entry {
        Slot slot = 0;
        Point point;
    };

    // Requires a point.
    Slot newest() const { return entries_[(oldest_ + entries_.size() - 1) % entries_.size()].slot; }

    std::vector<Entry> entries_;
    std::size_t oldest_ = 0;
};

}  // namespace live::service::stats
