// Puller: the decisions of one pull, from the first client that requests the stream until its last reader has left: when to dial,
// which origin, when to leave it, and how long to wait. Dry: events and time in, actions out; the owner moves the bytes.
//
// The owner calls next_action(), does what it returns, and reports the result with one of the handle functions; then it calls
// next_action() again. It must close its connection when is_connected(status().state) becomes false. Media, clients and other
// events may be reported at any time. The owner waits at most until deadline().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/time.hpp"
#include "engine/relay/left_origins.hpp"
#include "engine/relay/origin_health.hpp"
#include "engine/relay/silence_watch.hpp"

namespace live::engine::relay {

enum class PullState : std::uint8_t {
    choosing,     // between two origins
    pausing,      // until an origin may be tried
    resting,      // the stream was unpublished because memory was short
    dialling,     // the owner connects
    redirected,   // the owner parses a redirect
    requesting,   // connected; the origin has not answered
    answered,     // the origin has answered, but has not agreed to send the stream
    waiting,      // the origin has agreed to send the stream; no media so far
    ended,        // the publisher has left at the origin after media arrived; it may return
    without_key,  // media are published; the first key frame has not arrived
    playing,      // media are published
    over,         // the stream is not needed, or the pull was stopped
    replaced,     // over: a client publishes the stream on this node
};

constexpr bool is_over(PullState state) { return state == PullState::over || state == PullState::replaced; }
// The connection has media.
constexpr bool has_media(PullState state) { return state == PullState::without_key || state == PullState::playing; }
// The owner has a connection to the origin.
constexpr bool is_connected(PullState state) { return state >= PullState::requesting && state <= PullState::playing; }
// The origin has not agreed to send the stream.
constexpr bool is_starting(PullState state) { return state >= PullState::dialling && state <= PullState::answered; }

// The state as operators see it.
enum class PullPhase : std::uint8_t { connecting, waiting, playing };
PullPhase phase_of(PullState state);

enum class PullAction : std::uint8_t {
    find_origins,  // look up the origins of the stream: handle_origins() or handle_no_origins()
    wait,          // wait for an event
    dial,          // connect to status().origin: handle_dialled(), handle_dial_stopped(), handle_unusable(), handle_refused() or
                   // handle_failed()
    follow_redirect,  // parse status().redirect_url: handle_redirect_target() or handle_unusable()
    exchange,         // send and receive bytes, or wait for an event
    check_location,   // look up whether status().asked has the stream: handle_location()
    unpublish,        // end the publication, also while connected: handle_unpublished()
    stop,             // the pull is over
};

struct PullRules {
    bool may_pull = true;   // by the settings
    bool may_move = false;  // the owner can look up which node has the stream
    Duration linger{};      // how long a pull outlasts its last reader
};

// Information that a Puller reads when it needs it. The functions must not suspend.
class PullEnvironment {
public:
    virtual PullRules rules() const = 0;
    virtual bool is_short_of_memory() const = 0;
    // Moves the start of a silence forward by the time in which the process did not run.
    virtual TimePoint silence_from(TimePoint start) const = 0;

protected:
    ~PullEnvironment() = default;
};

struct PullStatus {
    PullState state = PullState::choosing;
    TimePoint since{};   // when phase_of(state) last changed
    std::string asked;   // the origin that was chosen
    std::string origin;  // the same, or the target of its redirect
    std::uint64_t tries = 0;
    std::string last_error;
    std::string redirect_url;  // while the state is `redirected`
};

// A log notice: the pull has left an origin.
struct PullNotice {
    enum class Kind : std::uint8_t { failed, refused };
    Kind kind = Kind::failed;
    std::string origin;
    std::string sentence;
};

enum class FrameKind : std::uint8_t { key, config, delta, other };
enum class FrameUse : std::uint8_t {
    drop,
    publish,  // start a publication, call handle_published(), and ask again
    pass,
};

class Puller {
public:
    // Redirects followed one after the other. At the limit, and after any failure, the choice among the origins begins again.
    static constexpr int kRtmpRedirectsMax = 1;
    static constexpr int kHttpRedirectsMax = 3;
    // From dialling to the response to play. Also the limit of a look-up of origins.
    static constexpr std::chrono::seconds kStartLimit{5};
    // An origin that sends no media for this long after play is left if another origin is available. The target of a redirect is
    // left after SilenceWatch::kSilenceMax.
    static constexpr std::chrono::milliseconds kFirstMediaLimit{1'000};
    // The stream is unpublished when no media arrived for this long.
    static constexpr std::chrono::seconds kGoneAfter{10};
    // The same after another worker of this server has reported the end of the stream.
    static constexpr std::chrono::seconds kGoneAfterOfWorker{2};
    // How long a pull without media outlasts its last client.
    static constexpr std::chrono::milliseconds kLingerWithoutMedia{100};
    // After a refusal, and after the target of a redirect has sent no media. Backoffs apply only to origins that are down.
    static constexpr std::chrono::milliseconds kRefusedPause{500};
    // After the stream was unpublished because memory was short; repeated while it is.
    static constexpr std::chrono::seconds kMemoryPause{10};

    struct Limits {
        Duration silence_max{};  // see SilenceWatch
    };

    // The references must outlive this. `seed` is for the jitter of backoffs.
    Puller(const PullEnvironment& environment, OriginHealth& health, std::string stream, Limits limits, std::uint64_t seed,
           TimePoint now);

    PullAction next_action(TimePoint now);
    // Returns when next_action() must be called at the latest; nullopt: after the next event.
    std::optional<TimePoint> deadline() const;
    const PullStatus& status() const { return status_; }
    // Returns the newest notice once.
    std::optional<PullNotice> take_notice();

    // Sets whether clients wait for the stream or viewers read it.
    void set_demand(bool exists, TimePoint now);
    // Returns the index of the origin to dial; nullopt: none.
    std::optional<std::size_t> handle_origins(std::span<const std::string> origins, TimePoint now);
    void handle_no_origins(const std::string& why, Duration retry_after, TimePoint now);
    // `latency`: media cannot arrive earlier than this after the connection.
    void handle_dialled(Duration latency, bool is_worker, TimePoint now);
    // The dial was cancelled. Returns false if handle_moved() was not the reason: the owner must stop.
    bool handle_dial_stopped(TimePoint now);
    void handle_answered(TimePoint now);
    // The origin has agreed to send the stream.
    void handle_started(TimePoint now);
    // While the state is `playing`, frames need not be classified: FrameKind::other.
    FrameUse handle_frame(FrameKind kind, TimePoint now);
    // The owner has started a publication for the media of this connection. Reports whether the stream continues from a
    // different connection.
    bool handle_published(TimePoint now);
    void handle_unpublished() { kept_for_.reset(); }
    // The publisher has left at the origin; the connection continues.
    void handle_stream_ended(TimePoint now);
    // The origin is up, but does not send the stream.
    void handle_refused(const std::string& sentence, TimePoint now);
    // The origin or the connection failed.
    void handle_failed(const std::string& sentence, TimePoint now);
    // The origin redirects. `redirects_max`: kRtmpRedirectsMax or kHttpRedirectsMax.
    void handle_redirect(std::string url, int redirects_max, TimePoint now);
    void handle_redirect_target(const std::string& origin, TimePoint now);
    // The redirect is not followed, or the request to status().origin is not valid: nothing was dialled.
    void handle_unusable(const std::string& sentence, TimePoint now);
    // The stream may have moved to another node.
    void handle_moved();
    void handle_location(bool has_moved, TimePoint now);
    // An operator ends the connection, or the next one.
    void handle_kick(std::string reason);
    // The owner has unpublished the stream because memory is short.
    void handle_memory_lost(std::string why, TimePoint now);
    // A client publishes the stream on this node; the owner has unpublished it.
    void handle_local_publisher(TimePoint now);
    void stop(TimePoint now) { set_state(PullState::over, now); }

private:
    enum class Leave : std::uint8_t { failed, refused, without_fault, unheard };

    // Facts of the current connection attempt.
    struct Attempt {
        TimePoint began{};
        bool has_others = false;  // other origins are available
        bool is_worker = false;
        int redirects = 0;
        Duration latency{};
    };

    void set_state(PullState state, TimePoint now);
    void begin_attempt(const std::string& origin, TimePoint now);
    void leave(Leave why, const std::string& sentence, TimePoint now);
    void pause(Duration length, TimePoint now);
    PullAction choose(TimePoint now);
    PullAction continue_pause(TimePoint now);
    PullAction continue_connection(TimePoint now);
    void check_start(TimePoint now);
    void check_media(TimePoint now);
    bool is_needed(TimePoint now) const;
    // When a pull without clients and viewers ends; nullopt: never.
    std::optional<TimePoint> need_ends() const;
    // When a publication without media ends.
    std::optional<TimePoint> gone_at() const;
    // When the origin is silent, by the limit that applies now.
    std::optional<TimePoint> silent_at() const;

    const PullEnvironment& environment_;
    OriginHealth& health_;
    const std::string stream_;
    std::uint64_t random_state_;
    SilenceWatch silence_;
    PullStatus status_;
    Attempt attempt_;
    LeftOrigins left_;                         // since the last media
    TimePoint until_{};                        // the end of a pause, a look-up or the start of a connection
    std::optional<TimePoint> unneeded_since_;  // nullopt: there is demand
    std::optional<Duration> kept_for_;         // how long the publication outlasts its media; nullopt: nothing is published
    std::uint64_t media_try_ = 0;              // the newest attempt with media
    std::string kick_reason_;
    bool is_move_pending_ = false;  // handle_moved() was called and its result is not known
    std::optional<PullNotice> notice_;
};

}  // namespace live::engine::relay
