// LookupBudget: limits how often a node without a registry looks for streams at its neighbours. A client can request any name,
// and each name would cost a connection to every other node. Pure.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.hpp"

namespace live::service::cluster {

class LookupBudget {
public:
    static constexpr double kBurst = 100;
    static constexpr double kPerSecond = 50;

    // Takes one look-up. Returns false if the budget is used up.
    bool take(TimePoint now) {
        const double passed = std::chrono::duration<double>(std::max(now - at_, Duration::zero())).count();
        left_ = std::min(kBurst, left_ + passed * kPerSecond);
        at_ = std::max(at_, now);
        if (left_ < 1)
            return false;
        left_ -= 1;
        return true;
    }

private:
    double left_ = kBurst;
    TimePoint at_{};
};

}  // namespace live::service::cluster
