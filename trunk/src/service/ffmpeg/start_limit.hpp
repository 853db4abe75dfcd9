// StartLimit: bounds how often the programs of one stream start, whatever the reason for their end: kMax starts in kWindow. Dry.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/time.hpp"

namespace live::service::ffmpeg {

class StartLimit {
public:
    static constexpr std::size_t kMax = 10;
    static constexpr std::chrono::seconds kWindow{60};

    // The time at which another program may start; `now` if that is possible already.
    TimePoint next(TimePoint now) const { return starts_.size() < kMax ? now : std::max(now, starts_.front() + kWindow); }
    void note(TimePoint now) {
        starts_.push_back(now);
        if (starts_.size() > kMax)
            starts_.pop_front();
    }
    // Whether it can be forgotten.
    bool is_idle(TimePoint now) const { return starts_.empty() || now - starts_.back() >= kWindow; }

private:
    std::deque<TimePoint> starts_;
};

// The limits of several programs by name. One that ends and comes back, with its publisher, has the same limit.
class StartLimits {
public:
    // Owners: this and the program.
    std::shared_ptr<StartLimit> of(const std::string& name, TimePoint now) {
        std::erase_if(limits_, [now](const auto& one) { return one.second.use_count() == 1 && one.second->is_idle(now); });
        auto& limit = limits_[name];
        if (!limit)
            limit = std::make_shared<StartLimit>();
        return limit;
    }
    std::size_t size() const { return limits_.size(); }

private:
    std::map<std::string, std::shared_ptr<StartLimit>> limits_;
};

}  // namespace live::service::ffmpeg
