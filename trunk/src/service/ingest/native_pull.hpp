// NativePull: one ingest of an input that is copied to a stream of this server: pulled by this server itself, without ffmpeg.
// Keeps calling until it is cancelled; the pauses between calls grow while no data arrives. On demand, it calls while somebody
// watches.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/ffmpeg/options.hpp"
#include "service/ingest/arguments.hpp"
#include "service/ingest/demand.hpp"
#include "service/ingest/ingest_facts.hpp"
#include "service/ingest/options.hpp"
#include "session/common/admission.hpp"
#include "session/common/traffic.hpp"

namespace live::service::ingest {

// The stream of an output that is RTMP to this server; nullopt for another one. Scheme and kind of the client are not set.
std::optional<session::ClientRequest> published_stream(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                       const IngestPlace& place);
// The same if ffmpeg is not needed: nullopt for another kind of input, and for an engine that transcodes or has its own options.
std::optional<session::ClientRequest> copied_stream(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                    const IngestPlace& place);

class NativePull {
public:
    // Players of a stream wait so long for a pull that has ended; then they end with it.
    static constexpr std::chrono::seconds kHeldFor{60};

    struct Timing {
        std::string name;  // "vhost/id"
        std::chrono::milliseconds retry_first{};
        std::chrono::milliseconds retry_max{};
        // A pull that lasted this long makes the next pause short again.
        std::chrono::milliseconds good_after{};
    };
    // Pulls until it ends, and returns the reason.
    using Call = std::function<Result<void>(session::ClientRequest to, const Log& log, const session::OnPulling& on_pulling,
                                            io::Deadline deadline)>;
    // Whether the players of the stream wait while it is not published.
    using Hold = std::function<void(bool holds)>;

    // `label` is the input without secrets, for the log. `demand`: nullptr for a pull that always runs.
    NativePull(Call call, std::string label, session::ClientRequest to, Timing timing, Log log, Hold hold = {},
               std::shared_ptr<Demand> demand = nullptr);
    // Until cancelled.
    void run(io::Deadline deadline);

    // Ends the connection of a pull that nobody watches. To be called every second. Must not suspend.
    void check_demand(TimePoint now) const;
    // Without the members that depend on the settings.
    IngestFacts facts() const;
    // nullptr if it always runs.
    const std::shared_ptr<Demand>& demand() const { return demand_; }

private:
    Result<void> await_demand(io::Deadline deadline);
    Result<void> call_once(io::Deadline deadline);
    Result<void> pause(std::chrono::milliseconds length, io::Deadline deadline);
    void set_state(IngestState state);
    void set_link(session::PulledLink* link);
    void hold(bool holds) const;

    Call call_;
    std::string label_;
    session::ClientRequest to_;
    Timing timing_;
    Log log_;
    Hold hold_;
    std::shared_ptr<Demand> demand_;  // owners: this, and the fibers of clients that wait
    IngestState state_ = IngestState::connecting;
    TimePoint since_{};
    TimePoint connected_until_{};
    session::PulledLink* link_ = nullptr;  // while it is connected
    session::PullFigures ended_;           // sums of earlier connections
    std::uint64_t calls_ = 0;
    std::string last_error_;
    bool is_published_ = false;  // by another client, at the latest attempt
    std::optional<TimePoint> next_attempt_;
};

}  // namespace live::service::ingest
