// Call: a connection that this server makes, from dialling until a session takes it over. Packets that arrive in between wait in
// the connection. Lives in the fiber that calls.
#pragma once

#include <optional>

#include "base/signal.hpp"
#include "engine/srt/caller.hpp"
#include "io/fibers/deadline.hpp"
#include "session/srt/port/port.hpp"

namespace live::session::srt {

class Call final : public Link, private OutgoingCall {
public:
    enum class Purpose : bool { pull, push };

    // The port outlives this.
    Call(Port& port, Purpose purpose) : port_(port), purpose_(purpose) {}
    ~Call() override;
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Call once. The socket id is chosen here. Errc::conflict with the peer's reason when it refuses the request or does not
    // answer it; Errc::closed likewise when it refuses any connection of this kind, Errc::timed_out, Errc::unsupported for
    // another protocol, Errc::limit, Errc::system without a socket, Errc::cancelled.
    Result<void> connect(engine::srt::Caller::Options options, io::Deadline deadline);

private:
    // OutgoingCall
    void take(TimePoint now, Bytes datagram) override;
    // Link
    void on_input(TimePoint) override {}
    void on_over() override {}
    bool is_publisher() const override { return purpose_ == Purpose::pull; }

    Port& port_;
    const Purpose purpose_;
    TransportAddress to_;
    Path path_;
    std::optional<engine::srt::Caller> caller_;
    std::optional<Error> failure_;
    Signal answered_;
};

}  // namespace live::session::srt
