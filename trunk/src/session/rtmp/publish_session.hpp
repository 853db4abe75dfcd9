// PublishSession: from an admitted publisher's first packet to its last. The only read loop of a publisher: bytes go to the
// engine, its messages to the ingest. When no reader needs packets at once, the socket is read on a tick and is not in epoll
// between ticks. A publisher that sends faster than that is read continuously, but yields every few milliseconds.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/loop.hpp"
#include "media/ingest/ingest.hpp"
#include "media/source/publication.hpp"
#include "media/source/source_watch.hpp"
#include "session/common/admission.hpp"
#include "session/common/read_tick.hpp"
#include "session/rtmp/options.hpp"
#include "session/rtmp/peer.hpp"

namespace live::session::rtmp {

class PublishSession {
public:
    // The tick of a publisher without low-latency readers, when merged read is not configured.
    static constexpr std::chrono::milliseconds kTick{100};

    // `peer`, `plan`, `options` and `log` outlive this.
    PublishSession(Peer& peer, const StreamPlan& plan, const RtmpOptions& options,
                   std::unique_ptr<media::Publication> publication, const Log& log);

    // Runs until the client stops publishing (ok: the connection may continue) or something ends it: Errc::timed_out when it is
    // silent for too long, Errc::conflict when another publisher took over, Errc::denied when it is kicked for idle, or the
    // connection's error.
    Result<void> run(io::Deadline deadline);

    // May be called from any fiber; the session's own fiber notifies the publisher. Media that the publisher sends before it
    // leaves is accepted.
    void ask_to_leave(std::string reason);
    // The same, for a publisher that can continue elsewhere: it ends this session once the other one has its stream. Empty: to
    // its current address.
    void ask_to_reconnect(std::string tc_url);

private:
    // Returns how long the stream has had no viewers.
    class IdleWatch final : public media::SourceWatch {
    public:
        explicit IdleWatch(Ref<media::Source> source) : SourceWatch(std::move(source)), since_(io::now()) {}
        Duration length() const { return source().readers().is_watched() ? Duration::zero() : io::now() - since_; }

    private:
        void on_watched(bool) override { since_ = io::now(); }

        TimePoint since_;
    };

    struct Farewell {
        std::string reason;                        // empty: none is sent
        std::optional<std::string> reconnect_url;  // tcUrl
    };

    enum class Step : std::uint8_t { go_on, stopped };

    std::chrono::milliseconds tick() const;
    Result<void> receive(io::Deadline deadline);
    Result<void> pause_until(io::Deadline tick);
    Result<Step> handle_events(io::Deadline deadline);
    Result<void> let_others_run(io::Deadline deadline);
    Result<void> check_idle();
    void announce();
    Farewell& farewell();
    void tell_to_leave();
    void warn_of_b_frames();

    Peer& peer_;
    const StreamPlan& plan_;
    const RtmpOptions& options_;
    std::unique_ptr<media::Publication> publication_;
    media::Ingest ingest_;
    const Log& log_;
    IdleWatch idle_;
    TimePoint silent_since_;
    std::unique_ptr<Farewell> farewell_;  // to be sent
    std::size_t tick_bytes_ = 0;          // received since the last pause
    ReadTick ticks_;
    bool got_media_ = false;
    bool b_frames_warned_ = false;
    bool more_ = false;  // the socket may hold more
};

}  // namespace live::session::rtmp
