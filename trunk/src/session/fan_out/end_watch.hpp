// EndWatch: wakes a player when the stream's publisher has left.
#pragma once

#include <utility>

#include "base/bytes/ref.hpp"
#include "base/signal.hpp"
#include "media/source/source.hpp"
#include "media/source/source_watch.hpp"

namespace live::session {

class EndWatch final : public media::SourceWatch {
public:
    // `wake` outlives this.
    EndWatch(Ref<media::Source> source, Signal& wake) : SourceWatch(std::move(source)), wake_(wake) {}

    // Whether a publisher has left since the last call, without a successor.
    bool take_ended() { return std::exchange(ended_, false); }

private:
    void on_publisher_began() override { ended_ = false; }
    void on_publisher_left() override {
        ended_ = true;
        wake_.raise();
    }

    Signal& wake_;
    bool ended_ = false;
};

}  // namespace live::session
