// Players: sends the RTP logs of sources to the sessions that play them. A source wakes one fiber per batch, whatever the number
// of its players; that fiber serves them one after the other, and yields every 2 ms. A player whose link is too slow for
// everything at once returns when it can take more, and is served again then; waiting players cost nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes/hot_lines.hpp"
#include "base/bytes/ref.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "media/rtp/single_nal_log.hpp"
#include "media/source/source.hpp"
#include "session/fan_out/timer_wheel.hpp"
#include "session/rtc/transport/port.hpp"

namespace live::session::rtc {

class RtpLogGroup;
class Players;

// A playing session as its group sees it. Nothing here may suspend.
class RtpLogPlayer {
public:
    RtpLogPlayer() : alarm_(*this) {}
    // Sends what is available, into the port's batch. Returns when to serve it again even without new packets; nothing when it is
    // up to date.
    virtual std::optional<TimePoint> serve(TimePoint now) = 0;
    // Memory touched by serve(). Collected when the player is woken individually, as when it joins.
    virtual void add_hot_lines(HotLines& lines) const = 0;

protected:
    ~RtpLogPlayer() = default;
    void add_own_hot_lines(HotLines& lines) const { lines.add(this, sizeof *this); }

private:
    friend class RtpLogGroup;
    friend class Players;
    // Fires when it can take more.
    struct Alarm final : TimerWheel::Timer {
        explicit Alarm(RtpLogPlayer& owner) : player(owner) {}
        void on_due(TimePoint now) override;
        RtpLogPlayer& player;
    };
    static constexpr std::size_t kNotPending = SIZE_MAX;
    void become_pending();

    RtpLogGroup* group_ = nullptr;
    std::size_t index_ = 0;
    std::size_t pending_index_ = kNotPending;  // index in Players::pending_, the players to be served outside their group's turn
    Alarm alarm_;
};

// How the players of a group take packets: as in the RTP log, or with one H.264 NAL unit per packet.
enum class Packing : std::uint8_t { any, single_nal };

// The players of one source that take the same packets, and their hold on the RTP log of their tracks.
class RtpLogGroup final : private media::RtpListener {
public:
    RtpLogGroup(Players& players, Ref<media::Source> source, Packing packing, const media::TrackChoice& tracks, const Log& log);
    ~RtpLogGroup();
    RtpLogGroup(const RtpLogGroup&) = delete;
    RtpLogGroup& operator=(const RtpLogGroup&) = delete;

    media::Source& source() { return *source_; }
    media::RtpLog& rtp_log() { return rtp_log_; }
    std::size_t size() const { return members_.size(); }

private:
    friend class RtpLogPlayer;
    friend class Players;
    void on_rtp() override;
    std::size_t following(std::size_t index) const { return index + 1 < members_.size() ? index + 1 : 0; }

    Players& players_;
    Ref<media::Source> source_;
    const Packing packing_;
    const media::TrackChoice tracks_;
    std::optional<media::SingleNalLog> single_;
    media::RtpLog& rtp_log_;
    // Contiguous, so that the next members' memory can be prefetched without touching them.
    struct Member {
        RtpLogPlayer* player;
        HotLines lines;
    };
    std::vector<Member> members_;
    std::size_t next_ = 0;  // next to be served; wraps around, so that the last members get their turn however often the group is
                            // woken
    std::size_t left_ = 0;  // still to be served since the last wake
    bool is_waiting_ = false;
};

class Players {
public:
    // How long other fibers may be kept waiting, and how many GSO batches are gathered before they are sent with one call.
    static constexpr std::chrono::milliseconds kSlice{2};
    static constexpr std::size_t kGathered = io::UdpSocket::kBatch;
    // And how many bytes: the kernel takes some 1 us for a datagram, and the batches of a key frame hold 50 each.
    static constexpr std::size_t kGatheredBytes = 256U << 10;
    // A player waiting for its link is checked no more often than this.
    static constexpr std::chrono::milliseconds kPace{1};

    explicit Players(Port& port) : port_(port), alarms_(io::now(), kPace) {}
    Players(const Players&) = delete;
    Players& operator=(const Players&) = delete;
    ~Players() { CHECK(groups_.empty()); }

    Result<void> start(io::Scope& scope);

    // Adds the player to the group of this source, which lives as long as it has players.
    RtpLogGroup& join(const Ref<media::Source>& source, RtpLogPlayer& player) {
        return join(source, player, Packing::any, Log());
    }
    // `log` receives what a packing drops.
    RtpLogGroup& join(const Ref<media::Source>& source, RtpLogPlayer& player, Packing packing, const Log& log,
                      const media::TrackChoice& tracks = {});
    // Allowed while its group is serving it. No effect when it is in no group.
    void leave(RtpLogPlayer& player);
    // Serves the player soon: it can take more, or has just joined.
    void wake(RtpLogPlayer& player);
    std::size_t groups() const { return groups_.size(); }

    // The processor is overloaded: players get nothing. The players check this themselves.
    void set_dropping(bool is_dropping) { is_dropping_ = is_dropping; }
    bool is_dropping() const { return is_dropping_; }

private:
    friend class RtpLogGroup;
    friend class RtpLogPlayer;

    void run(io::Deadline deadline);
    void wake(RtpLogGroup& group);
    Result<void> serve_pending(io::Deadline deadline);
    void serve(RtpLogPlayer& player);
    void add_pending(RtpLogPlayer& player);
    void remove_pending(RtpLogPlayer& player);
    enum class Slice : std::uint8_t { goes_on, is_over };
    // is_over: the fiber has yielded.
    Result<Slice> pause(io::Deadline deadline);

    static std::string key_of(const media::Source& source, Packing packing, const media::TrackChoice& tracks);

    Port& port_;
    std::unordered_map<std::string, std::unique_ptr<RtpLogGroup>> groups_;
    std::vector<RtpLogGroup*> waiting_;
    std::size_t turn_ = 0;                // index in waiting_
    std::vector<RtpLogPlayer*> pending_;  // without duplicates; nullptr for a player that has left
    std::size_t pending_served_ = 0;      // how many at the front are done
    TimerWheel alarms_;
    io::Deadline slice_ = io::Deadline::never();
    Signal wake_;
    bool is_dropping_ = false;
};

}  // namespace live::session::rtc
