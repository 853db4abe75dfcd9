#include "session/common/accept_loop.hpp"

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::session {

std::unique_ptr<io::TcpStream> next_connection(io::TcpListener& listener, const Log& log, io::Deadline deadline) {
    for (;;) {
        auto stream = listener.accept(deadline);
        if (stream.ok())
            return *std::move(stream);
        if (stream.code() == Errc::cancelled || stream.code() == Errc::closed)
            return nullptr;
        LOG_ERROR(log, "accept at {}: {}", listener.endpoint().text(), stream.error().text());
        constexpr std::chrono::milliseconds kPause{100};
        if (!io::sleep(deadline.sooner(io::Deadline::after(kPause))).ok())
            return nullptr;
    }
}

void log_refused(const io::TcpStream& stream, const Error& error, const Log& log) {
    LOG_WARN(log, "refused {}: {}", stream.peer(), error.text());
}

}  // namespace live::session
