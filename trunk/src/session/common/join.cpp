#include "session/common/join.hpp"

#include "io/loop.hpp"

namespace live::session {

Result<void> catch_up(media::WireLogHold& hold, io::Deadline deadline) {
    constexpr std::size_t kPieceBytes = 256 << 10;
    while (!hold.catch_up(kPieceBytes))
        if (io::is_turn_over())
            TRY(io::yield(deadline));
    return {};
}

}  // namespace live::session
