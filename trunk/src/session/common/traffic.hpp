// Bytes over client connections since the start, counted where they are read and written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace live::session {

struct Traffic {
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
};

// The connection of a stream that this server pulls, for reports about its ingest.
struct PullFigures {
    std::string_view transport;  // "tcp", "udp", "tls", "srt"
    std::string peer;            // address and port
    std::uint64_t received_bytes = 0;
    std::uint64_t packets = 0;
    std::uint64_t lost_packets = 0;  // missing for good
    bool has_media = false;          // has arrived
};

class PulledLink {
public:
    // Must not suspend.
    virtual PullFigures pull_figures() const = 0;
    // Ends the pull soon; `why` is for the log. Must not suspend.
    virtual void end_pull(std::string why) = 0;

protected:
    ~PulledLink() = default;
};

// Called with the connection when it is established, and with nullptr before it is destroyed.
using OnPulling = std::function<void(PulledLink* link)>;

}  // namespace live::session
