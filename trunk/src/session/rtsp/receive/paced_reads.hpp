// PacedReads: when the connection of a publisher or a camera is read that sends media in it: on ticks that all of them share
// while no player waits for each packet, otherwise when something arrives.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/stream.hpp"
#include "media/source/publication.hpp"
#include "session/common/admission.hpp"
#include "session/common/read_tick.hpp"
#include "session/rtsp/receive/media_input.hpp"

namespace live::session::rtsp {

class PacedReads {
public:
    static constexpr std::chrono::milliseconds kTick{100};
    // Until all tracks have begun: the first packets are placed by their arrival.
    static constexpr std::chrono::milliseconds kFirstTick{20};

    struct Of {
        io::Stream& stream;
        media::Publication& publication;
        const MediaInput& input;
        const StreamPlan& plan;
        bool has_media;  // comes in the connection
    };

    // Returns after a read, when `due` is reached, or when the publication's signal is raised. `read` reads a piece of at most
    // `piece_max` bytes, of zero if nothing has arrived; it must not suspend.
    template <class Read>
    Result<void> next(const Of& of, std::size_t piece_max, io::Deadline due, Read read) {
        TRY(await_tick(of, due));
        of.publication.source().prefetch();
        std::size_t bytes = TRY(read());
        if (bytes == 0 && TRY(of.stream.wait_ready(io::Interest::readable, &of.publication.evicted(), due)).readable)
            bytes = TRY(read());
        more_ = bytes == piece_max;
        tick_bytes_ += bytes;
        return {};
    }

private:
    // Zero: the connection is read when something arrives.
    std::chrono::milliseconds pause(const Of& of) const;
    Result<void> await_tick(const Of& of, io::Deadline due);

    ReadTick ticks_;
    std::size_t tick_bytes_ = 0;
    bool more_ = false;  // has arrived than was read
};

}  // namespace live::session::rtsp
