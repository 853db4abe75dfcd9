// RingClip: makes a clip of a stream that is not recorded: a recorder that begins at the stream's join point, and ends at the end
// of the span.
#pragma once

#include <optional>
#include <string>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/clips/clip.hpp"
#include "service/dvr/recorder.hpp"

namespace live::service::clips {

class RingClip {
public:
    // `context` outlives this.
    RingClip(const ClipContext& context, Clip clip, const Ref<media::Source>& source, Log log);

    void run(io::Deadline deadline);
    // Keeps what is there by now.
    void end() { recorder_.end(); }

private:
    void note(const dvr::Recorded& recorded);
    void report();

    const ClipContext& context_;
    Clip clip_;
    Log log_;
    const dvr::DvrContext recording_;
    std::optional<std::string> error_;  // empty: it is complete
    std::uint64_t bytes_ = 0;
    dvr::Recorder recorder_;
};

}  // namespace live::service::clips
