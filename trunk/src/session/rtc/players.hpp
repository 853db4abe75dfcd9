// Players: sends the RTP lanes of sources to the sessions that play them. A source wakes one fiber once a batch, whatever the
// number of its players, and that fiber serves them all, one after the other, and lets others run every 2 ms. A player whose
// link is too slow for everything at once says when it can take more, and is served again then.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ref.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/scope.hpp"
#include "media/source.hpp"
#include "session/rtc/port.hpp"

namespace live::session::rtc {

class LaneGroup;
class Players;

// A session that plays, as its group sees it. Nothing here may suspend.
class LanePlayer {
public:
    // Sends what there is, into the port's batch. When it wants to be served again even if nothing new comes; nothing when it has
    // all.
    virtual std::optional<TimePoint> serve(TimePoint now) = 0;
    // It is being served, and is over: leave() was not called yet.
    bool is_grouped() const { return group_ != nullptr; }

protected:
    ~LanePlayer() = default;

private:
    friend class LaneGroup;
    friend class Players;
    LaneGroup* group_ = nullptr;
    std::size_t index_ = 0;
    std::optional<TimePoint> again_at_;
};

// The players of one source, and their hold on its lane.
class LaneGroup final : private media::RtpListener {
public:
    LaneGroup(Players& players, Ref<media::Source> source);
    ~LaneGroup();
    LaneGroup(const LaneGroup&) = delete;
    LaneGroup& operator=(const LaneGroup&) = delete;

    media::Source& source() { return *source_; }
    media::RtpLane& lane() { return lane_; }
    std::size_t size() const { return members_.size(); }

private:
    friend class Players;
    void on_rtp() override;

    Players& players_;
    Ref<media::Source> source_;
    media::RtpLane& lane_;
    std::vector<LanePlayer*> members_;
    std::size_t next_ = 0;  // to be served
    bool is_waiting_ = false;
};

class Players {
public:
    // How long others may be kept waiting, and how many datagrams are gathered before they are sent.
    static constexpr std::chrono::milliseconds kSlice{2};
    static constexpr std::size_t kGathered = 64;
    // Who waits for its link is looked at so often, not more.
    static constexpr std::chrono::milliseconds kPace{1};

    explicit Players(Port& port) : port_(port) {}
    Players(const Players&) = delete;
    Players& operator=(const Players&) = delete;
    ~Players() { CHECK(groups_.empty()); }

    Result<void> start(io::Scope& scope);

    // Puts the player into the group of this source, which lives as long as it has players.
    LaneGroup& join(const Ref<media::Source>& source, LanePlayer& player);
    // It may be served right now, by its group's turn. Nothing when it is in no group.
    void leave(LanePlayer& player);
    // Serves the player soon: it can take more, or has just been let in.
    void wake(LanePlayer& player);
    std::size_t groups() const { return groups_.size(); }

private:
    friend class LaneGroup;

    void run(io::Deadline deadline);
    void wake(LaneGroup& group);
    Result<void> serve_groups(io::Deadline deadline);
    Result<void> serve_paced(io::Deadline deadline);
    void serve(LanePlayer& player);
    Result<void> pause(io::Deadline deadline);
    std::optional<TimePoint> next_paced() const;

    Port& port_;
    std::unordered_map<std::string, std::unique_ptr<LaneGroup>> groups_;
    std::vector<LaneGroup*> waiting_;
    std::vector<LanePlayer*> paced_;  // each once
    io::Deadline slice_ = io::Deadline::never();
    Signal wake_;
};

}  // namespace live::session::rtc
