// Players: sends the transport streams of sources to the sessions that play them. A source wakes one fiber per batch, whatever
// the number of its players; that fiber serves them one after the other, and yields every 2 ms. A video frame is sent at once.
// Audio alone, and the pieces of an SRT publisher's frame, wait briefly so that they share a GSO batch with later data: a batch
// costs about as much as its first datagram, and every player acknowledges it (ADR 0036).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/fibers/scope.hpp"
#include "media/source/source.hpp"
#include "session/srt/port/port.hpp"
#include "session/srt/port/unit_cache.hpp"

namespace live::session::srt {

class PlayGroup;
class Players;

// The wire format of HTTP players without chunked encoding, so that the bytes are produced once for all of them.
inline constexpr media::WireFormat kTransportStream{media::Container::ts, media::Framing::none, MediaKindSet::all()};

// A playing session as its group sees it. Nothing here may suspend.
class GroupPlayer {
public:
    // Passes the available units to its connection.
    virtual void serve(TimePoint now) = 0;
    virtual Link& link() = 0;

protected:
    ~GroupPlayer() = default;

private:
    friend class PlayGroup;
    friend class Players;
    static constexpr std::size_t kNotDue = SIZE_MAX;

    PlayGroup* group_ = nullptr;
    std::size_t index_ = 0;
    std::size_t due_index_ = kNotDue;
};

// The players of one source.
class PlayGroup final : private media::PacketListener, private TimerWheel::Timer {
public:
    // How long audio waits for video at most, and pieces of a frame for its end.
    static constexpr std::chrono::milliseconds kAudioWait{40};
    static constexpr std::chrono::milliseconds kPieceWait{10};
    // The longest wait is the lowest latency of any player, past or present, divided by this.
    static constexpr int kWaitPart = 3;

    PlayGroup(Players& players, Ref<media::Source> source);
    ~PlayGroup();
    PlayGroup(const PlayGroup&) = delete;
    PlayGroup& operator=(const PlayGroup&) = delete;

    media::Source& source() { return *source_; }
    // The units of the log that all cursors of kTransportStream read; it is held for as long as the group lives.
    UnitCache& units() { return units_; }
    std::uint64_t wire_end() const { return wire_log_.head(); }
    std::size_t size() const { return members_.size(); }

private:
    friend class Players;
    void on_packets() override;
    void on_due(TimePoint now) override;
    Duration next_wait();
    void limit_wait(const Link& link);
    void wake_all();

    Players& players_;
    Ref<media::Source> source_;
    const media::WireLog& wire_log_;
    media::Sequence seen_;  // next_wait() has checked the packets before it
    Duration wait_max_ = kAudioWait;
    TimePoint due_ = TimePoint::max();  // when the waiting data is sent
    UnitCache units_;
    std::vector<GroupPlayer*> members_;
};

class Players {
public:
    // How long other fibers may be kept waiting, and how many GSO batches are gathered before they are sent with one call.
    static constexpr std::chrono::milliseconds kSlice{2};
    static constexpr std::size_t kGathered = io::UdpSocket::kBatch;
    // The same in bytes: they are kept in the cache until the kernel has copied them.
    static constexpr std::size_t kGatheredBytes = 256U << 10;

    explicit Players(Port& port) : port_(port) {}
    ~Players() { CHECK(groups_.empty()); }
    Players(const Players&) = delete;
    Players& operator=(const Players&) = delete;

    Result<void> start(io::Scope& scope);
    // The group of this source lives as long as it has players.
    PlayGroup& join(const Ref<media::Source>& source, GroupPlayer& player);
    void leave(GroupPlayer& player);
    // Serves the player soon: it can take more, or has just joined.
    void wake(GroupPlayer& player);
    std::size_t groups() const { return groups_.size(); }
    // Players that will be served, those that have left included.
    std::size_t due() const { return due_.size(); }
    std::size_t held_bytes() const;

private:
    friend class PlayGroup;
    void run(io::Deadline deadline);
    Result<void> serve_due(io::Deadline deadline);

    Port& port_;
    std::unordered_map<media::Source*, std::unique_ptr<PlayGroup>> groups_;
    std::deque<GroupPlayer*> due_;  // nullptr for a player that has left
    std::size_t served_ = 0;        // how many have been taken out of the front
    Signal wake_;
};

}  // namespace live::session::srt
