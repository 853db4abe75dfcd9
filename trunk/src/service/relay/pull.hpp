// Pull: one stream on an edge, from the first client that requests it until its last reader has left. Its fiber connects to an
// origin, publishes what it receives into a source like any publisher, and moves to another origin when one fails; readers stay
// on the source. Each connection is a new publisher of the source that begins with a key frame, so that every output splices.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "base/options_of.hpp"
#include "base/signal.hpp"
#include "io/net/stream.hpp"
#include "media/ingest/ingest.hpp"
#include "media/source/publication.hpp"
#include "media/source/source_watch.hpp"
#include "media/source/stream_table.hpp"
#include "service/relay/options.hpp"
#include "service/relay/origins/origin_book.hpp"
#include "service/relay/origins/pick_origin.hpp"
#include "service/relay/origins/resolver.hpp"
#include "service/relay/relay_clock.hpp"
#include "service/relay/upstream/upstream.hpp"
#include "service/relay/upstream/upstream_request.hpp"
#include "service/rtmp_client/dial.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/srt/call/dialler.hpp"

namespace live::service::relay {

// Shared by all pulls. Referenced objects must outlive them.
struct PullContext {
    rtmp_client::DialContext dial;
    media::StreamTable& streams;
    session::StreamEvents& events;
    session::ClientTable& clients;
    const OptionsOf<ClusterOptions>& options;
    Node node;
    // Whether other processes of this server may have the stream: during an upgrade.
    std::function<bool()> has_siblings{};
    // nullptr: unlimited.
    const session::MemoryBudget* memory = nullptr;
    // nullptr: SRT origins are refused.
    session::srt::Dialler* srt = nullptr;

    bool is_short_of_memory() const { return memory != nullptr && memory->is_tight(); }
};

// Totals over all pulls since startup.
struct PullTotals {
    std::uint64_t pulls = 0;
    std::uint64_t connections = 0;
    std::uint64_t failovers = 0;  // a pull that had received media continued on another connection
};

// State of a pull, for operators.
struct PullFacts {
    enum class State : std::uint8_t { connecting, waiting, playing };
    static constexpr std::string_view name_of(State state) {
        return state == State::connecting ? "connecting" : state == State::waiting ? "waiting" : "playing";
    }

    std::string url;     // of the source
    std::string vhost;   // the name in the settings of the virtual host that serves it
    std::string origin;  // the current one, or the last
    State state = State::connecting;
    TimePoint since{};  // when this state began
    std::uint64_t tries = 0;
    std::string last_error;
    Duration rtt{};
};

class Pull final : private session::Client {
public:
    // Obeyed in a row; beyond this, and after any failure, the choice among the origins begins anew.
    static constexpr int kRtmpRedirectsMax = 1;
    static constexpr int kHttpRedirectsMax = 3;
    // From dialing to the response to play.
    static constexpr std::chrono::seconds kStartLimit{5};
    // An origin that sends nothing for this long after play is left when another origin is available. Where an origin has sent us
    // to: after kSilenceMax.
    static constexpr std::chrono::milliseconds kFirstMediaLimit{1'000};
    // An origin whose frames come, but no key frame for this long, counts as silent.
    static constexpr std::chrono::seconds kKeyLimit{60};
    // Time limit for silence after media: twice the longest gap seen on the connection, or the silence for which the origin was
    // left before, within these bounds; the greater one when other streams come from the origin meanwhile. It is the virtual
    // host's normal_timeout if that is longer.
    static constexpr std::chrono::milliseconds kSilenceMin{1'000};
    static constexpr std::chrono::milliseconds kSilenceMax{5'000};
    // Of another worker: nothing is lost on the way, and the master ends one that hangs.
    static constexpr std::chrono::hours kSilenceOfWorker{24};
    // Media are reported to the book no more often than this.
    static constexpr std::chrono::milliseconds kHeardStep{100};
    // The stream is unpublished when no origin has sent anything for this long.
    static constexpr std::chrono::seconds kGoneAfter{10};
    static constexpr std::chrono::seconds kGoneAfterOfWorker{2};
    // Data messages kept until the first audio or video of a connection.
    static constexpr std::size_t kEarlyMax = 16;
    // How long a pull without media outlasts its last client.
    static constexpr std::chrono::milliseconds kLingerWithoutMedia{100};
    // After a refusal, the end of a stream or a failure elsewhere, which no backoff of the origin covers: it is healthy.
    static constexpr std::chrono::milliseconds kRefusedPause{500};
    // After the stream has lost its memory; longer while there is none for new publishers.
    static constexpr std::chrono::seconds kMemoryPause{10};

    Pull(const PullContext& context, Resolver& resolver, OriginBook& book, PullTotals& totals, session::ClientRequest request,
         session::StreamPlan plan, std::string path, Log log);
    ~Pull();
    Pull(const Pull&) = delete;
    Pull& operator=(const Pull&) = delete;

    // Runs until the stream is no longer needed, or until cancelled.
    void run(io::Deadline deadline);
    // A client publishes the stream on this node: the pull is over, and its publication is free at once. Must not suspend.
    void give_way();
    // The stream may be on another node now: the resolver is asked again, also while an origin has not answered. Must not
    // suspend.
    void look_again();
    // In a client's fiber: waits for media. Errc::not_found when there is none in time or the pull has ended.
    Result<void> wait_for_media(io::Deadline deadline);

    const std::string& url() const { return plan_.url; }
    bool is_over() const { return over_; }
    bool is_playing() const { return state_ == PullFacts::State::playing && !over_; }
    PullFacts facts() const;

private:
    enum class Left : std::uint8_t { origin, stream_unneeded };

    // The viewers of the pulled stream.
    class Viewers final : public media::SourceWatch {
    public:
        Viewers(Ref<media::Source> source, Pull& pull) : SourceWatch(std::move(source)), pull_(pull) {}

    private:
        void on_watched(bool) override { pull_.note_need(); }

        Pull& pull_;
    };

    // session::Client
    const session::ClientRequest& request() const override { return request_; }
    session::ClientFigures figures() const override;
    void kick(std::string reason) override;
    // Its viewers keep it: it goes on when there is memory.
    void lose_stream(std::string why) override;

    Result<Left> attempt(io::Deadline deadline);
    // Pulls from there, or from where that redirects to.
    Result<Left> pull_from(Wanted wanted, const ClusterOptions& options, bool has_others, io::Deadline deadline);
    void examine_redirect(const Wanted& from, Wanted& to, const ClusterOptions& options) const;
    static std::optional<Duration> first_media_limit(bool has_others, bool was_sent_there);
    Result<Left> visit(const Wanted& wanted, const ClusterOptions& options, std::optional<Duration> first_limit,
                       io::Deadline deadline);
    Result<void> connect(const Wanted& wanted, const ClusterOptions& options, io::Deadline deadline);
    Result<std::unique_ptr<io::Stream>> dial(const Wanted& wanted, io::Deadline deadline);
    Result<std::unique_ptr<io::Stream>> call(const Wanted& wanted, io::Deadline deadline);
    void make_upstream(const Wanted& wanted, const ClusterOptions& options);
    std::optional<std::chrono::milliseconds> age_of_newest() const;
    Result<void> start(io::Deadline deadline);
    Result<Left> receive(std::optional<Duration> first_limit, io::Deadline deadline);
    Result<void> read(io::Deadline deadline);
    Result<void> handle_input(Result<std::size_t> count, bool& any);
    Result<void> handle_events(bool& any);
    void on_stream_ended(const Ended& ended);
    Result<void> ingest(engine::rtmp::GotMedia& media);
    Result<void> ingest(GotFrame& got);
    void note_media();
    void note_waiting();
    void note_heard(TimePoint now);
    void ingest_data(engine::rtmp::GotMedia& media);
    void append_sync(const engine::rtmp::GotMedia& media);
    bool waits_for_key(const engine::rtmp::GotMedia& media);
    bool waits_for_key(const GotFrame& got);
    Result<void> publish();
    void unpublish();
    void say_goodbye();
    Result<void> pause(Duration length, io::Deadline deadline);
    void look_around();
    bool has_siblings() const;
    bool has_moved(io::Deadline deadline);
    // A client or the first viewer has come, or the last one has left.
    void note_need();
    bool is_needed() const;
    bool is_resting() const;
    Duration linger() const;
    Duration silence_limit() const;
    Duration gone_after() const;
    bool is_origin_heard() const;
    io::Deadline next_check() const;
    void set_state(PullFacts::State state);
    void end();

    const PullContext& context_;
    Resolver& resolver_;
    OriginBook& book_;
    PullTotals& totals_;
    const std::optional<PullProtocol> followed_;  // of the player that began this
    session::ClientRequest request_;
    const session::StreamPlan plan_;
    const std::string path_;  // path of servers, including this one
    const Log log_;
    session::ClientEntry entry_;

    std::unique_ptr<io::Stream> stream_;
    std::unique_ptr<Upstream> upstream_;
    std::unique_ptr<media::Publication> publication_;
    std::optional<media::Ingest> ingest_;        // of this connection, once it has received media
    std::vector<engine::rtmp::GotMedia> early_;  // data before the first audio or video
    std::optional<session::StreamStay> stay_;
    std::optional<Viewers> viewers_;  // while it runs
    Signal wake_;
    Signal moved_;                  // raised by look_again() only: it ends a dial
    std::vector<Signal*> waiting_;  // owned by waiting clients

    std::string asked_;   // the origin that was chosen
    std::string origin_;  // that one, or where it has sent us
    LeftOrigins left_;    // since the last media
    std::string redirect_url_;
    std::string last_error_;
    std::string kick_reason_;
    PullFacts::State state_ = PullFacts::State::connecting;
    TimePoint state_since_{};
    TimePoint needed_at_{};     // when the need began or ended
    TimePoint asked_at_{};      // for media, which has not come yet: since play, or the end of a stream
    TimePoint key_asked_at_{};  // the same; what comes until the first key frame does not change it
    TimePoint media_at_{};
    std::optional<TimePoint> rests_since_;  // it has lost its memory
    TimePoint heard_at_{};                  // when the book was told of media
    Duration longest_gap_{};
    Duration silence_{};         // for which an origin was left
    std::string silent_origin_;  // that origin
    Duration delay_{};           // before the first media of this connection can come
    std::uint64_t tries_ = 0;
    std::uint64_t media_try_ = 0;      // the newest with media
    std::uint64_t earlier_bytes_ = 0;  // from earlier connections
    bool has_key_ = false;             // this connection has received a key frame
    bool has_ended_ = false;           // the origin has said so, and nothing has come since
    bool had_media_ = false;
    bool was_refused_ = false;  // by a healthy origin, when it was last left
    bool over_ = false;
    bool gave_way_ = false;
    bool look_again_ = false;   // asked to
    bool was_dropped_ = false;  // the connection, as the stream had moved before there was an answer
};

}  // namespace live::service::relay
