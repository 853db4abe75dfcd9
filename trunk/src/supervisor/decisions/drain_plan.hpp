// DrainPlan: decides which clients of a draining process are asked to reconnect, and when. Dry: it receives clients and times.
//
// Clients that can be asked are asked once, a bounded number in each step, so that the next server is not overrun. Sessions that
// cannot be asked (WebRTC) end in the last part of the limit, spread evenly, so that their clients open new ones. All others stay
// until they leave, or until the limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/time.hpp"

namespace live::supervisor {

class DrainPlan {
public:
    // Clients asked in one step.
    static constexpr std::size_t kAskedAtOnce = 100;
    static constexpr std::chrono::milliseconds kStep{250};
    // Sessions end in the last quarter of the limit.
    static constexpr int kLastPart = 4;

    void begin(std::chrono::milliseconds limit, TimePoint now);
    bool has_begun() const { return has_begun_; }

    // One step, every kStep: begin_step(), consider() for each client, end_sessions(), end_step().
    enum class Verdict : std::uint8_t {
        nothing,  // the client has been asked, or is for a later step
        ask,      // send the request, and call note_asked() if the client supports it
        end,      // it may be among those that end_sessions() counts
    };
    enum class Way : std::uint8_t { ask, end };
    void begin_step();
    Verdict consider(const std::string& id, Way way);
    void note_asked(const std::string& id);
    // Returns how many of so many sessions end now. Call note_asked() for each of them.
    std::size_t sessions_to_end(std::size_t sessions, TimePoint now) const;
    // Forgets clients that were not considered in this step: they have left.
    void end_step();

    // Reports whether the limit has passed.
    bool is_late(TimePoint now) const { return now - since_ >= limit_; }
    std::chrono::milliseconds limit() const { return limit_; }
    std::chrono::milliseconds lasted(TimePoint now) const;
    std::size_t asked() const { return asked_total_; }

private:
    bool has_begun_ = false;
    TimePoint since_{};
    std::chrono::milliseconds limit_{};
    std::unordered_set<std::string> asked_;  // ids of connections that still exist
    std::unordered_set<std::string> seen_;   // the same, of this step
    std::size_t asked_in_step_ = 0;
    std::size_t asked_total_ = 0;
};

// Returns how many of so many sessions end now, so that all have ended when `left` of the limit has passed.
std::size_t ending_now(std::size_t sessions, std::chrono::milliseconds left, std::chrono::milliseconds limit);

}  // namespace live::supervisor
