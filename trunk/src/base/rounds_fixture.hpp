// How many seeds, rounds or hours a long test takes: all of them at night (LIVE_NIGHT=1, which `test.sh --long` sets), fewer by
// day.
#pragma once

#include <cstdlib>

namespace live {

inline bool is_night() {
    static const bool is_set = std::getenv("LIVE_NIGHT") != nullptr;
    return is_set;
}

template <class Number>
Number rounds(Number by_day, Number at_night) {
    return is_night() ? at_night : by_day;
}

}  // namespace live
