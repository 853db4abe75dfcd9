// Demand: whether a stream that is made or pulled on demand has viewers or clients that wait for it. Shared by the pull and the
// fibers of clients that wait for its media.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/source.hpp"

namespace live::service::ingest {

class Demand {
public:
    // A pull without viewers ends after this time.
    static constexpr std::chrono::seconds kLinger{10};

    // A client waits for media, or a viewer watches.
    void note(TimePoint now) {
        wanted_until_ = now + kLinger;
        began_.raise();
    }
    bool is_wanted(TimePoint now) const { return now < wanted_until_ || !waiting_.empty(); }
    // Raised by note().
    Signal& began() { return began_; }

    // An attempt has failed, or the ingest ends: wakes the clients that wait.
    void note_failure(std::string why) {
        ++failures_;
        last_error_ = std::move(why);
        for (Signal* const signal : waiting_)
            signal->raise();
    }
    std::uint64_t failures() const { return failures_; }
    const std::string& last_error() const { return last_error_; }

    // A client that waits; `signal` outlives its membership.
    void add(Signal& signal) { waiting_.push_back(&signal); }
    void remove(Signal& signal) { std::erase(waiting_, &signal); }

private:
    Signal began_;
    TimePoint wanted_until_{};
    std::uint64_t failures_ = 0;
    std::string last_error_;
    std::vector<Signal*> waiting_;
};

// For a client: requests the stream and returns when it has media. Errc::not_found when it has none in time or cannot have it;
// the sentence is the reason. The caller keeps the demand alive.
Result<void> wait_for_media(const Ref<media::Source>& source, Demand& demand, io::Deadline deadline);

}  // namespace live::service::ingest
