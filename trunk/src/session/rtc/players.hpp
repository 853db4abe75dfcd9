// Players: sends the RTP RTP logs of sources to the sessions that play them. A source wakes one fiber once a batch, whatever the
// number of its players, and that fiber serves them all, one after the other, and lets others run every 2 ms. A player whose
// link is too slow for everything at once says when it can take more, and is served again then; who waits costs nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hot_lines.hpp"
#include "base/ref.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/loop.hpp"
#include "io/scope.hpp"
#include "media/single_nal_log.hpp"
#include "media/source.hpp"
#include "session/rtc/port.hpp"
#include "session/rtc/timer_wheel.hpp"

namespace live::session::rtc {

class RtpLogGroup;
class Players;

// A session that plays, as its group sees it. Nothing here may suspend.
class RtpLogPlayer {
public:
    RtpLogPlayer() : alarm_(*this) {}
    // Sends what there is, into the port's batch. When it wants to be served again even if nothing new comes; nothing when it has
    // all.
    virtual std::optional<TimePoint> serve(TimePoint now) = 0;
    // Bits a second that its link carries and no more; nothing where no limit is known.
    virtual std::optional<std::uint64_t> link_limit(TimePoint now) const = 0;
    // What serve() touches. Asked for when it is woken by itself, as when it is let in.
    virtual void add_hot_lines(HotLines& lines) const = 0;
    // It is being served, and is over: leave() was not called yet.
    bool is_grouped() const { return group_ != nullptr; }

protected:
    ~RtpLogPlayer() = default;
    void add_own_hot_lines(HotLines& lines) const { lines.add(this, sizeof *this); }

private:
    friend class RtpLogGroup;
    friend class Players;
    // When it can take more.
    struct Alarm final : TimerWheel::Timer {
        explicit Alarm(RtpLogPlayer& owner) : player(owner) {}
        void on_due(TimePoint now) override;
        RtpLogPlayer& player;
    };
    static constexpr std::size_t kNotPending = SIZE_MAX;
    void become_pending();

    RtpLogGroup* group_ = nullptr;
    std::size_t index_ = 0;
    std::size_t pending_index_ = kNotPending;  // among those that are to be served beside their groups
    Alarm alarm_;
};

// How the players of a group take packets: as the RTP log has them, or those of H.264 one NAL unit each.
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
    // Serves the next one. False when there is none that has not had its turn.
    bool serve_next();

    Players& players_;
    Ref<media::Source> source_;
    const Packing packing_;
    const media::TrackChoice tracks_;
    std::optional<media::SingleNalLog> single_;
    media::RtpLog& rtp_log_;
    // In one piece, so that what the next ones need is known without looking at them.
    struct Member {
        RtpLogPlayer* player;
        HotLines lines;
    };
    std::vector<Member> members_;
    std::size_t next_ = 0;  // to be served; goes round, so that the last come to their turn however often it is woken
    std::size_t left_ = 0;  // to be served since it was woken last
    bool is_waiting_ = false;
};

class Players {
public:
    // How long others may be kept waiting, and how many GSO batches of datagrams are gathered before they are sent: with one
    // call.
    static constexpr std::chrono::milliseconds kSlice{2};
    static constexpr std::size_t kGathered = io::UdpSocket::kBatch;
    // Who waits for its link is looked at so often, not more.
    static constexpr std::chrono::milliseconds kPace{1};
    // One player in so many may have a link that is too slow for what is forwarded: it skips to key frames then.
    static constexpr std::size_t kSlowPart = 4;

    explicit Players(Port& port) : port_(port), alarms_(io::now(), kPace) {}
    Players(const Players&) = delete;
    Players& operator=(const Players&) = delete;
    ~Players() { CHECK(groups_.empty()); }

    Result<void> start(io::Scope& scope);

    // Puts the player into the group of this source, which lives as long as it has players.
    RtpLogGroup& join(const Ref<media::Source>& source, RtpLogPlayer& player) {
        return join(source, player, Packing::any, Log());
    }
    // `log` hears of what a packing leaves out.
    RtpLogGroup& join(const Ref<media::Source>& source, RtpLogPlayer& player, Packing packing, const Log& log,
                      const media::TrackChoice& tracks = {});
    // It may be served right now, by its group's turn. Nothing when it is in no group.
    void leave(RtpLogPlayer& player);
    // Serves the player soon: it can take more, or has just been let in.
    void wake(RtpLogPlayer& player);
    std::size_t groups() const { return groups_.size(); }

    // Bits a second that the links of most players of this source carry; nothing where no limit is known. Looks at all of them.
    std::optional<std::uint64_t> link_limit(const std::string& url, TimePoint now) const;

    // The processor has too much to do: players get nothing. It is they that look.
    void set_dropping(bool is_dropping) { is_dropping_ = is_dropping; }
    bool is_dropping() const { return is_dropping_; }

private:
    friend class RtpLogGroup;
    friend class RtpLogPlayer;

    void run(io::Deadline deadline);
    void wake(RtpLogGroup& group);
    Result<void> serve_groups(io::Deadline deadline);
    Result<void> serve_pending(io::Deadline deadline);
    void serve(RtpLogPlayer& player);
    void add_pending(RtpLogPlayer& player);
    void remove_pending(RtpLogPlayer& player);
    enum class Slice : std::uint8_t { goes_on, is_over };
    // Over: others have run.
    Result<Slice> pause(io::Deadline deadline);

    static std::string key_of(const media::Source& source, Packing packing, const media::TrackChoice& tracks);

    Port& port_;
    std::unordered_map<std::string, std::unique_ptr<RtpLogGroup>> groups_;
    std::vector<RtpLogGroup*> waiting_;
    std::size_t turn_ = 0;                // of those
    std::vector<RtpLogPlayer*> pending_;  // each once; nullptr for one that has gone
    std::size_t pending_served_ = 0;      // from the front
    TimerWheel alarms_;
    io::Deadline slice_ = io::Deadline::never();
    Signal wake_;
    bool is_dropping_ = false;
};

}  // namespace live::session::rtc
