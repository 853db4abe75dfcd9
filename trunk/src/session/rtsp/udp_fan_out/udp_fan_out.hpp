// UdpFanOut: players over UDP that have all media of their stream so far. A UdpCohort sends the new packets of one stream to all
// of its players from one place in the log: they are cut into datagrams once, and all players share the bytes. One fiber serves
// all cohorts.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/fibers/scope.hpp"
#include "media/source/wire_cursor.hpp"
#include "session/rtsp/udp_fan_out/datagram_run.hpp"
#include "session/rtsp/udp_ports.hpp"

namespace live::session::rtsp {

class UdpCohort;

// A player as its cohort sees it. It leaves before it is destroyed.
struct UdpMember {
    DatagramRun::Addresses addresses;
    std::uint64_t sent_bytes = 0;
    UdpCohort* cohort = nullptr;
    std::size_t index = 0;
};

class UdpFanOut {
public:
    // The ports outlive this.
    explicit UdpFanOut(UdpPorts& ports);
    ~UdpFanOut();
    UdpFanOut(const UdpFanOut&) = delete;
    UdpFanOut& operator=(const UdpFanOut&) = delete;

    Result<void> start(io::Scope& fibers);
    // From now on the cohort sends for the player, whose cursor keeps no place in the log. False: the player is behind, continues
    // alone, and tries again.
    bool join(UdpMember& member, media::WireCursor& cursor, Ref<media::Source> source);
    // The player continues where its cohort is, in the middle of a frame if need be.
    // Returns the begun frame.
    std::vector<std::uint8_t> leave(UdpMember& member, media::WireCursor& cursor);
    // For players that take packets at their own pace, one after the other: buffers of their own would leave holes in the memory
    // of players that join at the same time.
    DatagramRun& scratch() { return scratch_; }
    // Sends what a player has just taken.
    void send(const DatagramRun& run, UdpMember& member);
    std::size_t cohorts() const { return cohorts_.size(); }

private:
    friend class UdpCohort;

    void run(io::Deadline deadline);
    void note_due(UdpCohort& cohort);
    void send_to(std::span<UdpMember* const> members, const DatagramRun& run);

    UdpPorts& ports_;
    std::unordered_map<const media::WireLog*, std::unique_ptr<UdpCohort>> cohorts_;
    std::vector<UdpCohort*> due_;
    Signal wake_;
    std::vector<io::GsoBatch> batches_;  // scratch
    DatagramRun scratch_;
};

}  // namespace live::session::rtsp
