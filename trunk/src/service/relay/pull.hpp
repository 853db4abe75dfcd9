// Pull: one stream on an edge. Its fiber does what a Puller decides: it connects to an origin, publishes the media that it
// receives as a PulledStream, and moves to another origin when one fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/relay/puller.hpp"
#include "media/source/source_watch.hpp"
#include "service/relay/origins/pick_origin.hpp"
#include "service/relay/origins/resolver.hpp"
#include "service/relay/pull_context.hpp"
#include "service/relay/pulled_stream.hpp"
#include "service/relay/upstream/origin_connection.hpp"

namespace live::service::relay {

// State of a pull, for operators.
struct PullFacts {
    using State = engine::relay::PullPhase;
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

class Pull final : private session::Client, private engine::relay::PullEnvironment {
public:
    Pull(const PullContext& context, Resolver& resolver, OriginHealth& health, PullTotals& totals, session::ClientRequest request,
         session::StreamPlan plan, std::string path, Log log);
    ~Pull();
    Pull(const Pull&) = delete;
    Pull& operator=(const Pull&) = delete;

    // Runs until the stream is not needed, or until cancelled.
    void run(io::Deadline deadline);
    // A client publishes the stream on this node: the pull ends, and its publication is free at once. Must not suspend.
    void give_way();
    // The stream may have moved to another node: looks up its location, also while an origin has not answered. Must not suspend.
    void look_again();
    // In a client's fiber: waits for media. Errc::not_found when there is none in time or the pull has ended.
    Result<void> wait_for_media(io::Deadline deadline);

    const std::string& url() const { return plan_.url; }
    bool is_over() const { return engine::relay::is_over(state()); }
    bool is_playing() const { return engine::relay::has_media(state()); }
    PullFacts facts() const;

private:
    // The viewers of the pulled stream.
    class Viewers final : public media::SourceWatch {
    public:
        Viewers(Ref<media::Source> source, Pull& pull) : SourceWatch(std::move(source)), pull_(pull) {}

    private:
        void on_watched(bool) override { pull_.update_demand(); }

        Pull& pull_;
    };

    // session::Client
    const session::ClientRequest& request() const override { return request_; }
    session::ClientFigures figures() const override;
    void kick(std::string reason) override;
    // The viewers keep the pull: it resumes when memory is available.
    void lose_stream(std::string why) override;

    // engine::relay::PullEnvironment
    engine::relay::PullRules rules() const override;
    bool is_short_of_memory() const override { return context_.is_short_of_memory(); }
    TimePoint silence_from(TimePoint start) const override;

    // Each fails only if the fiber is cancelled.
    Result<void> perform(engine::relay::PullAction action, io::Deadline deadline);
    Result<void> find_origins(io::Deadline deadline);
    Result<void> dial(io::Deadline deadline);
    void follow_redirect();
    Result<void> exchange(io::Deadline deadline);
    Result<void> check_location(io::Deadline deadline);

    Result<void> open(io::Deadline deadline);
    Result<void> begin();
    Result<void> send_and_receive(io::Deadline deadline);
    Result<void> handle_events(bool& any);
    void handle_end(const Ended& ended);
    void handle_error(const Error& error);
    void close_connection();
    void log_notice();
    io::Deadline next_decision() const;
    // Sets whether clients wait for the stream or viewers read it.
    void update_demand();
    void wake_clients();
    void end();
    engine::relay::PullState state() const { return puller_.status().state; }

    const PullContext& context_;
    Resolver& resolver_;
    OriginHealth& health_;
    PullTotals& totals_;
    session::ClientRequest request_;
    const std::optional<PullProtocol> followed_;  // the protocol of the player that began this
    const session::StreamPlan plan_;
    const std::string path_;  // path of servers, including this one
    const Log log_;
    session::ClientEntry entry_;
    engine::relay::Puller puller_;

    ClusterOptions options_;  // of the current choice of an origin
    Wanted wanted_;           // the stream at the origin to dial
    OriginConnection connection_;
    std::optional<Viewers> viewers_;      // while it runs
    std::optional<PulledStream> stream_;  // while it runs
    Signal wake_;
    Signal moved_;                  // raised by look_again() only: it ends a dial
    std::vector<Signal*> waiting_;  // owned by waiting clients
};

}  // namespace live::service::relay
