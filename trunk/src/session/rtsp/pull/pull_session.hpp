// PullSession: a camera or another RTSP server whose stream this server plays and publishes: a client with admission, callbacks
// and counters like any publisher. Media comes over UDP, or in the connection if nothing arrives or the options say so.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/publication.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/common/traffic.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/rtsp/context.hpp"
#include "session/rtsp/pull/media_ports.hpp"
#include "session/rtsp/pull/pull_connection.hpp"
#include "session/rtsp/receive/media_input.hpp"
#include "session/rtsp/receive/paced_reads.hpp"
#include "wire/rtsp/pull_url.hpp"

namespace live::session::rtsp {

class PullSession final : public PulledLink, private Client, private MemoryBudget::Holder, private MediaReceiver {
public:
    // Without a packet for so long, UDP does not work.
    static constexpr std::chrono::seconds kUdpLimit{3};

    struct Shared {
        Context& context;
        MemoryBudget& memory;
        const PullConnection::OwnEndpoints& own_endpoints;
        MediaPorts::Inbox& inbox;
    };
    // Everything referred to outlives this.
    PullSession(const Shared& shared, PullOptions& options, ClientRequest request, const Log& log);

    // Pulls until the other side or the stream ends; returns the reason. `on_pulling` is called with the session.
    Result<void> run(const wire::rtsp::PullUrl& url, const OnPulling& on_pulling, io::Deadline deadline);

    PullFigures pull_figures() const override;
    void end_pull(std::string why) override { kick(std::move(why)); }

private:
    using Description = wire::rtsp::Description;

    Result<void> publish(const wire::rtsp::PullUrl& url, Description description, io::Deadline deadline);
    // Plays the described stream over UDP or in the connection. Errc::timed_out without a packet over UDP.
    Result<void> play(media::Publication& publication, const Description& description, bool over_udp, io::Deadline deadline);
    Result<void> begin(const std::vector<std::size_t>& chosen, bool over_udp, io::Deadline deadline);
    Result<void> open_ports(std::size_t tracks);
    Result<void> start_ports(const std::vector<std::size_t>& chosen, io::Deadline deadline);
    Result<void> stop_ports(io::Deadline deadline);
    bool tries_udp() const;
    Result<void> receive(media::Publication& publication, io::Deadline deadline);
    Result<void> handle_events(media::Publication& publication);
    Result<void> wait_for_input(media::Publication& publication, io::Deadline deadline);
    Result<void> write_output(io::Deadline deadline);
    void write_reports(ByteWriter& out);
    TimePoint silence_ends() const;
    // Client
    const ClientRequest& request() const override { return request_; }
    ClientFigures figures() const override;
    void kick(std::string reason) override;
    // MemoryBudget::Holder
    std::string_view address() const override { return request_.ip; }
    void lose_memory(std::string why) override { kick(std::move(why)); }
    // MediaReceiver
    void on_datagram(std::size_t track, bool is_rtcp, Bytes datagram) override;
    void on_datagrams_end() override;
    bool is_awaited() const override;

    const Shared shared_;
    PullOptions& options_;
    ClientRequest request_;
    const Log& log_;
    StreamPlan plan_;
    PullConnection connection_;
    media::Publication* publication_ = nullptr;  // while it plays
    std::unique_ptr<MediaInput> input_;          // likewise
    std::unique_ptr<MediaPorts> ports_;          // while it plays over UDP
    std::string kick_reason_;
    std::uint64_t ended_packets_ = 0;  // of earlier inputs
    std::uint64_t ended_lost_ = 0;
    PacedReads reads_;
    MemoryBudget::Use memory_;
    ClientEntry entry_;
};

}  // namespace live::session::rtsp
