#include "session/fan_out/deferred_encoder.hpp"

#include <algorithm>
#include <utility>

#include "io/fibers/loop.hpp"

namespace live::session {

bool DeferredEncoder::add(media::Source& source) {
    if (!is_running_)
        is_running_ = scope_.start("encoder", [this](io::Deadline forever) { run(forever); }).ok();
    if (!is_running_)
        return false;
    if (std::ranges::none_of(sources_, [&](const auto& waiting) { return waiting.get() == &source; }))
        sources_.emplace_back(&source);
    added_.raise();
    return true;
}

// The sources take turns.
void DeferredEncoder::run(io::Deadline forever) {
    for (;;) {
        if (!(sources_.empty() ? io::wait(added_, forever) : io::yield(forever)).ok())
            break;
        if (sources_.empty())
            continue;
        const Ref<media::Source> source = std::move(sources_.front());
        sources_.pop_front();
        source->backlog().encode_some();
        if (!source->backlog().empty())
            sources_.push_back(source);
        else
            source->flush();
    }
    is_running_ = false;
    sources_.clear();
}

}  // namespace live::session
