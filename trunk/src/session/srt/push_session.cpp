#include "session/srt/push_session.hpp"

namespace live::session::srt {

PushSession::~PushSession() = default;

Result<void> PushSession::serve(Opening& opening, io::Deadline deadline) {
    TRY(connect(opening));
    return send(pushed_, opening.options.payload_bytes_max, deadline);
}

void PushSession::tell_closed(const Traffic&) {}

}  // namespace live::session::srt
