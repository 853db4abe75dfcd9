// NewestWarnings: the newest warnings and errors of the log, for operators' pages. Bounded; repeats of a line are one entry.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/log/log.hpp"

namespace live {

class NewestWarnings {
public:
    static constexpr std::size_t kLinesMax = 50;
    static constexpr std::size_t kTextMax = 500;

    void add(std::chrono::system_clock::time_point time, LogLevel level, std::string_view id, std::string_view message) {
        if (level < LogLevel::warn)
            return;
        const std::string_view text = message.substr(0, kTextMax);
        const auto known = std::ranges::find_if(lines_, [&](const LoggedWarning& line) { return line.text == text; });
        LoggedWarning line{time, level, std::string(id.substr(0, kTextMax)), std::string(text), 1};
        if (known != lines_.end()) {
            line.times += known->times;
            lines_.erase(known);
        } else if (lines_.size() == kLinesMax) {
            lines_.pop_front();
        }
        lines_.push_back(std::move(line));
    }

    // The oldest first.
    const std::deque<LoggedWarning>& lines() const { return lines_; }

private:
    std::deque<LoggedWarning> lines_;
};

}  // namespace live
