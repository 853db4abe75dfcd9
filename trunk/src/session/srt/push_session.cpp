#include "session/srt/push_session.hpp"

namespace live::session::srt {

PushSession::~PushSession() = default;

Result<void> PushSession::serve(Opening& opening, io::Deadline deadline) {
    TRY(connect(opening));
    // Audience::none: a stream that is pulled only for this push would otherwise be pulled for ever.
    return send(pushed_, opening.options.payload_bytes_max, media::Audience::none, deadline);
}

void PushSession::tell_closed(const Traffic&) {}

}  // namespace live::session::srt
