// Refusals: the clients that one limit has refused, counted for millrace_refused_total and logged one line every few seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace live::session {

class Refusals {
public:
    static constexpr std::chrono::seconds kLogEvery{10};

    // Named after the option that sets the bound. The sentence describes the bound, which replaces its "{}".
    constexpr Refusals(std::string_view name, std::string_view sentence) : name_(name), sentence_(sentence) {}

    // Counts the refusal of `ip`, logs it at a limited rate, and returns the client's error, Errc::limit.
    Error add(std::string_view ip, std::size_t bound, const Log& log, TimePoint now);

    std::string_view name() const { return name_; }
    std::uint64_t count() const { return count_; }

private:
    std::string_view name_;
    std::string_view sentence_;
    std::uint64_t count_ = 0;
    std::uint64_t logged_ = 0;  // `count_` at the last line in the log
    std::optional<TimePoint> logged_at_{};
};

}  // namespace live::session
