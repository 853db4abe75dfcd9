#include "session/srt/call/call.hpp"

#include <array>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::session::srt {

namespace srt = engine::srt;

Call::~Call() {
    port_.calls().remove(*this);
    port_.remove(*this);
}

Result<void> Call::connect(srt::Caller::Options options, io::Deadline deadline) {
    to_ = options.to;
    const srt::SocketId id = port_.free_socket_id();
    options.socket_id = id;
    path_.socket = TRY(port_.outgoing_socket(to_.is_ipv4()));
    caller_.emplace(io::now(), std::move(options));
    port_.calls().add(*this, id, to_);
    for (;;) {
        const TimePoint now = io::now();
        caller_->handle_timeout(now);
        std::array<std::uint8_t, srt::kDatagramBytesMax> buffer{};
        while (const std::size_t size = caller_->write_next(now, buffer))
            port_.output().send_now(Bytes(buffer).first(size), to_, path_);
        switch (caller_->state()) {
            case srt::Caller::State::calling: break;
            case srt::Caller::State::connected:
                if (failure_)
                    return *failure_;
                return {};
            case srt::Caller::State::refused:
                // The codes below are about the connection, whatever it is for.
                return Error(caller_->reason() < srt::RejectReason::bad_request ? Errc::closed : Errc::conflict,
                             fmt::format("it refuses: {} ({})", srt::name_of(caller_->reason()),
                                         static_cast<std::uint32_t>(caller_->reason())));
            case srt::Caller::State::timed_out:
                if (caller_->is_heard())
                    return Error(Errc::conflict, "it does not say whether it accepts the stream id");
                return Error(Errc::timed_out, "it does not answer");
            case srt::Caller::State::failed: return Error(Errc::unsupported, caller_->failure());
        }
        const auto waited = io::wait(answered_, deadline.sooner(io::Deadline::at(caller_->next_timeout())));
        if (!waited.ok() && (waited.code() != Errc::timed_out || deadline.expired()))
            return waited;
    }
}

void Call::take(TimePoint now, Bytes datagram) {
    caller_->handle_datagram(now, datagram);
    if (auto connection = caller_->take_connection()) {
        port_.calls().remove(*this);
        if (auto added = port_.add_called(*this, std::move(connection), path_); !added.ok())
            failure_.emplace(std::move(added).error());
    }
    answered_.raise();
}

}  // namespace live::session::srt
