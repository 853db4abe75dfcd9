// The counters of a port and its connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/srt/figures.hpp"

namespace live::session::srt {

struct PortFigures {
    std::uint64_t received = 0;  // datagrams of any kind
    std::uint64_t received_bytes = 0;
    std::uint64_t handshakes = 0;
    std::uint64_t strangers = 0;  // for no connection, or not from its address
    std::uint64_t sent = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t unsent = 0;  // the kernel's buffer was full
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::uint64_t called = 0;  // connections that this server has made
};

// Totals of present and past connections, in packets of media.
struct LinkTotals {
    std::uint64_t received = 0;
    std::uint64_t receive_lost = 0;
    std::uint64_t receive_retransmitted = 0;
    std::uint64_t receive_dropped = 0;
    std::uint64_t sent = 0;
    std::uint64_t send_lost = 0;
    std::uint64_t retransmitted = 0;
    std::uint64_t send_dropped = 0;
    std::uint64_t undecrypted = 0;

    void add(const engine::srt::Figures& figures);
};

// A snapshot of the counters.
struct PortReading {
    std::size_t publishers = 0;
    std::size_t players = 0;
    std::size_t opening = 0;
    PortFigures port;
    LinkTotals links;
    std::uint64_t lost = 0;    // on arrival, see Port::lost_on_arrival
    std::uint64_t unsent = 0;  // refused by the kernel
};

struct PortMemory {
    std::size_t connection_bytes = 0;
    std::size_t buffer_bytes = 0;  // of queued output
};

// Reports the packets between two readings that are Port::kReportEvery apart.
std::string report_line(const PortReading& now, const PortReading& then);

}  // namespace live::session::srt
