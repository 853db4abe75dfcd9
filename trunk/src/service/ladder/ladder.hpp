// Ladder: keeps the renditions of one published stream: starts its ffmpeg at a key frame, and starts it again after a pause when
// it has ended. Pauses grow while it fails, so that it starts at most 10 times per minute.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/cursor.hpp"
#include "media/source/source.hpp"
#include "service/ladder/ladder_child.hpp"
#include "service/ladder/options.hpp"

namespace live::service::ladder {

struct LadderTiming {
    std::chrono::milliseconds restart_first = 2s;
    std::chrono::milliseconds restart_max = 60s;
    // A child that ran this long makes the next pause short again.
    std::chrono::milliseconds good_after = 20s;
    std::chrono::milliseconds silence_max = LadderChild::kSilenceMax;
};

class Ladder {
public:
    enum class Phase : std::uint8_t { waiting, running, pausing, unusable };
    struct State {
        Phase phase = Phase::waiting;
        std::vector<Rung> rungs;
        std::uint64_t starts = 0;
        std::string last_end;  // why the last child ended
        std::uint64_t dropped_packets = 0;
    };

    Ladder(Ref<media::Source> source, LadderOptions options, LadderTiming timing, Log log);

    // Until cancelled, or the stream cannot have renditions.
    void run(io::Deadline deadline);

    const std::string& url() const { return source_->url(); }
    const State& state() const { return state_; }
    // The state of the running child; nullptr without one.
    const LadderChild::State* child() const { return child_ ? &child_->state() : nullptr; }

private:
    struct Begin {
        media::Packet config;
        media::Packet key;
    };
    // Waits for a key frame. nullopt: cancelled.
    std::optional<Begin> wait_for_key(media::Cursor& cursor, io::Deadline deadline);
    bool plan(const Begin& begin);
    LadderChild::End run_child(const Begin& begin, media::Cursor& cursor, io::Deadline deadline);
    void report(const LadderChild::End& end);

    Ref<media::Source> source_;
    const LadderOptions options_;
    const LadderTiming timing_;
    Log log_;
    State state_;
    std::string encoder_;  // the fallback, once it is used
    bool missing_logged_ = false;
    std::unique_ptr<LadderChild> child_;
};

}  // namespace live::service::ladder
