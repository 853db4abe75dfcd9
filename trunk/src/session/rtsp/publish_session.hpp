// PublishSession: an admitted RTSP publisher, from its transports to its last packet.
#pragma once

#include <memory>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/publication.hpp"
#include "session/common/admission.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/rtsp/context.hpp"
#include "session/rtsp/peer.hpp"
#include "session/rtsp/receive/media_input.hpp"
#include "session/rtsp/receive/paced_reads.hpp"
#include "session/rtsp/udp_ports.hpp"

namespace live::session::rtsp {

class PublishSession final : private UdpReceiver {
public:
    // Time limit from one request to the next, until the media starts.
    static constexpr std::chrono::seconds kSetUpLimit{30};

    // Everything referred to outlives this.
    PublishSession(Peer& peer, Context& context, const StreamPlan& plan, media::Publication& publication, MediaInput& input,
                   MemoryBudget::Use& memory);
    ~PublishSession();
    PublishSession(const PublishSession&) = delete;
    PublishSession& operator=(const PublishSession&) = delete;

    // Accepts the announcement, and runs until the client stops (ok) or something ends it.
    Result<void> run(io::Deadline deadline);

private:
    enum class Step : std::uint8_t { go_on, stopped };

    Result<void> set_up(const engine::rtsp::WantsToSetUp& asked);
    Result<Step> handle_events();
    Result<void> receive(io::Deadline deadline);
    Result<void> wait_for_input(io::Deadline deadline);
    bool has_media_in_connection() const;
    Result<void> send_reports(io::Deadline deadline);
    // When the publisher has been silent for too long.
    TimePoint silence_ends() const;
    // UdpReceiver
    void on_datagram(std::size_t track, bool is_rtcp, Bytes datagram) override;
    void on_datagrams_end() override;

    Peer& peer_;
    Context& context_;
    const StreamPlan& plan_;
    media::Publication& publication_;
    MediaInput& input_;
    MemoryBudget::Use& memory_;
    PacedReads reads_;
    bool is_recording_ = false;
};

}  // namespace live::session::rtsp
