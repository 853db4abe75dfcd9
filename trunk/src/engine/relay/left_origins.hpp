// LeftOrigins: the origins that a pull or a push has left since it last succeeded, oldest first. OriginHealth::choose() tries
// them after the others, so that each origin gets its turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace live::engine::relay {

class LeftOrigins {
public:
    // At this limit, an added origin replaces the oldest one.
    static constexpr std::size_t kMax = 64;

    void add(const std::string& origin) {
        std::erase(names_, origin);
        names_.push_back(origin);
        if (names_.size() > kMax)
            names_.erase(names_.begin());
    }
    void clear() { names_.clear(); }
    // Returns 0 for an origin that was not left; otherwise a number that grows with the time at which it was left.
    std::size_t rank_of(std::string_view origin) const {
        const auto at = std::ranges::find(names_, origin);
        return at == names_.end() ? 0 : static_cast<std::size_t>(at - names_.begin()) + 1;
    }

private:
    std::vector<std::string> names_;
};

}  // namespace live::engine::relay
