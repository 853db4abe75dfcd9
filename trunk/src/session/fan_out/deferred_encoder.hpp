// DeferredEncoder: encodes the rest of large frames (media::Source::flush), each piece in a turn of its own, for publishers that
// cannot suspend: those whose port calls them with datagrams. Others use encode_rest() of join.hpp, and read nothing meanwhile.
#pragma once

#include <deque>

#include "base/bytes/ref.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/scope.hpp"
#include "media/source/source.hpp"

namespace live::session {

class DeferredEncoder final : public media::DeferredEncoder {
public:
    // The fiber, started with the first frame, belongs to `scope`, which is stopped before this is destroyed.
    explicit DeferredEncoder(io::Scope& scope) : scope_(scope) {}

    bool add(media::Source& source) override;

private:
    void run(io::Deadline forever);

    io::Scope& scope_;
    bool is_running_ = false;
    std::deque<Ref<media::Source>> sources_;  // each once
    Signal added_;
};

}  // namespace live::session
