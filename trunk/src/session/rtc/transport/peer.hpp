// Peer: one session as seen by the port, which delivers its datagrams and runs its timer. Nothing here may suspend.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/time.hpp"
#include "session/fan_out/timer_wheel.hpp"

namespace live::session::rtc {

class Peer : public TimerWheel::Timer {
public:
    explicit Peer(std::string ufrag) : ufrag_(std::move(ufrag)) {}
    virtual ~Peer() = default;

    // Our ICE username fragment: checks must name it to reach this session.
    const std::string& ufrag() const { return ufrag_; }
    // Output goes into the port's batch, which the port sends. When the session is over, call Port::retire.
    virtual void take_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) = 0;
    // Called after the datagrams of one receive call.
    virtual void finish_batch(TimePoint now) = 0;
    // A handshake step has returned from its worker thread: see Port::add_stepped. Output as in take_datagram().
    virtual void finish_step(TimePoint) {}
    // Whether a check has proved that the client has this address.
    virtual bool is_checked(const TransportAddress& address) const = 0;
    // Whether no client has yet proved that it can use this session.
    virtual bool is_half_open() const = 0;
    // When on_due() is to be called.
    virtual std::optional<TimePoint> next_timeout() const = 0;
    // Memory that the engine holds for it, without its libraries'.
    virtual std::size_t engine_bytes() const = 0;
    // It is over, and nothing received before its end is still on its way into the stream.
    virtual bool may_go(TimePoint) const { return true; }
    // It has a DTLS object, the largest part of a session's memory.
    virtual bool holds_dtls() const = 0;

private:
    friend class Port;
    std::string ufrag_;
    std::vector<TransportAddress> addresses_;  // bound to this session
    bool is_in_port_ = false;
    bool is_touched_ = false;
    bool is_retired_ = false;
    bool counts_as_half_open_ = true;
};

}  // namespace live::session::rtc
