// Ladder: keeps the renditions of one published stream: starts its ffmpeg at a key frame, and starts it again after a pause when
// it has ended. Pauses grow while it fails, so that it starts at most 10 times per minute. With on_demand, ffmpeg runs while the
// renditions have readers, and 10 s longer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/loop.hpp"
#include "media/source/cursor.hpp"
#include "media/source/publications.hpp"
#include "media/source/source.hpp"
#include "service/ffmpeg/media_child.hpp"
#include "service/ffmpeg/start_limit.hpp"
#include "service/ffmpeg/start_pace.hpp"
#include "service/ingest/demand.hpp"
#include "service/ladder/ladder_child.hpp"
#include "service/ladder/options.hpp"

namespace live::service::ladder {

struct LadderTiming {
    std::chrono::milliseconds restart_first = 2s;
    std::chrono::milliseconds restart_max = 60s;
    std::chrono::milliseconds good_after = 20s;  // see StartPace
    std::chrono::milliseconds silence_max = ffmpeg::MediaChild::kSilenceMax;
};

class Ladder final : public media::RenditionMaker {
public:
    enum class Phase : std::uint8_t { idle, waiting, running, pausing, unusable };
    struct State {
        Phase phase = Phase::waiting;
        std::vector<Rung> rungs;
        std::uint64_t starts = 0;
        std::string last_end;  // why the last child ended
        std::uint64_t dropped_packets = 0;
    };

    // `limit` has two owners: this and the service. `log_path`: see MediaChild.
    Ladder(Ref<media::Source> source, LadderOptions options, LadderTiming timing, std::shared_ptr<ffmpeg::StartLimit> limit,
           std::string log_path, Log log);
    ~Ladder();
    Ladder(const Ladder&) = delete;
    Ladder& operator=(const Ladder&) = delete;

    // Until cancelled, or the stream cannot have renditions.
    void run(io::Deadline deadline);

    // media::RenditionMaker, with on_demand.
    void want_renditions() override { demand_.note(io::now()); }
    std::size_t due_renditions() const override;

    const std::string& url() const { return source_->url(); }
    const media::Source& source() const { return *source_; }
    const State& state() const { return state_; }
    // The state of the running child; nullptr without one.
    const ffmpeg::MediaChild::State* child() const { return child_ ? &child_->state() : nullptr; }

private:
    struct Begin {
        media::Packet config;
        media::Packet key;
    };
    void run_children(io::Deadline deadline);
    void leave();  // as the stream's RenditionMaker
    void set_phase(Phase phase);
    void name_renditions();
    bool is_wanted() const { return !options_.on_demand || demand_.is_wanted(io::now()); }
    // Returns false when it is cancelled.
    bool wait_for_demand(io::Deadline deadline);
    // Waits for a key frame. nullopt: cancelled.
    std::optional<Begin> wait_for_key(media::Cursor& cursor, io::Deadline deadline);
    bool plan(const Begin& begin);
    ffmpeg::MediaChild::End run_child(const Begin& begin, media::Cursor& cursor, io::Deadline deadline);
    void report(const ffmpeg::MediaChild::End& end);

    Ref<media::Source> source_;
    const LadderOptions options_;
    const LadderTiming timing_;
    const std::string log_path_;
    Log log_;
    ffmpeg::StartPace pace_;
    ingest::Demand demand_;
    State state_;
    std::string encoder_;  // the fallback, once it is used
    bool missing_logged_ = false;
    std::unique_ptr<LadderChild> child_;
};

}  // namespace live::service::ladder
