// Link: one connection as the port sees it, which delivers its datagrams, runs its timer and sends its output. Nothing here may
// suspend.
#pragma once

#include <memory>
#include <utility>

#include "base/net/ip_network.hpp"
#include "base/time.hpp"
#include "engine/srt/connection.hpp"
#include "engine/srt/listener.hpp"
#include "io/net/udp_socket.hpp"
#include "session/fan_out/timer_wheel.hpp"
#include "session/srt/port/link_ticks.hpp"

namespace live::session::srt {

class Port;

// How a client is reached.
struct Path {
    io::UdpSocket* socket = nullptr;
    IpAddress local{};  // the local address the client has reached

    bool operator==(const Path&) const = default;
};

class Link : public TimerWheel::Timer {
public:
    virtual ~Link() = default;

    // From Port::add to Port::remove.
    engine::srt::Connection* connection() const { return connection_.get(); }
    // After each datagram: payloads that have arrived may be read before they are due.
    virtual void on_datagram() {}
    // After the datagrams of one receive call, or a timeout: payloads may be due. Before its output is written.
    virtual void on_input(TimePoint now) = 0;
    // The connection has ended, from either side; the owner removes it soon.
    virtual void on_over() = 0;
    virtual bool is_publisher() const = 0;
    // How long its datagrams and timers may wait for a tick (LinkTicks).
    virtual Duration patience(TimePoint) const { return {}; }
    // Whether due payloads wait for the next turn of the loop, and not for a tick.
    virtual bool is_behind() const { return false; }

private:
    friend class Port;
    friend class LinkTimers;
    friend class PortOutput;
    void on_due(TimePoint now) final;

    std::unique_ptr<engine::srt::Connection> connection_;
    Port* port_ = nullptr;  // while it is in there
    Path path_;
    std::uint32_t cookie_ = 0;
    LinkTicks::Index tick_ = 0;
    TimePoint due_ = TimePoint::max();  // of its timer
    bool is_touched_ = false;
    bool is_over_ = false;
};

}  // namespace live::session::srt
