#include "session/rtsp/receive/paced_reads.hpp"

#include <utility>

#include "io/fibers/loop.hpp"
#include "io/net/tcp_stream.hpp"

namespace live::session::rtsp {

std::chrono::milliseconds PacedReads::pause(const Of& of) const {
    const bool waits = of.has_media && of.input.got_media() && !more_ && !of.plan.publish.min_latency;
    const auto longest = of.input.have_all_begun() ? kTick : kFirstTick;
    if (!waits || of.publication.source().is_awaited() || of.plan.play.mw_latency < longest)
        return std::chrono::milliseconds::zero();
    return longest;
}

Result<void> PacedReads::await_tick(const Of& of, io::Deadline due) {
    const auto length = pause(of);
    io::TcpStream* const tcp = of.stream.as_tcp();
    if (tcp == nullptr || length == length.zero())
        return {};
    tcp->forget();
    const auto window = [tcp] { return tcp->receive_buffer() / 2; };
    const auto next = io::Deadline::at(ticks_.next(io::now(), length, std::exchange(tick_bytes_, 0), window));
    auto waited = io::wait(of.publication.evicted(), due.sooner(next));
    if (!waited.ok() && waited.code() != Errc::timed_out)
        return waited;
    return {};
}

}  // namespace live::session::rtsp
