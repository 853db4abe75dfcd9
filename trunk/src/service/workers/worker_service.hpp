// WorkerService: this process as one of several workers. The master keeps the worker of each published stream. This service
// claims, finds and announces streams at the master, and connects to the other workers, for media and for the API. Without other
// workers it does nothing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/http1/message.hpp"
#include "io/net/tcp_stream.hpp"
#include "media/source/stream_table.hpp"
#include "service/cluster/cluster_service.hpp"
#include "service/http_client/http_client.hpp"
#include "service/service.hpp"
#include "supervisor/line/master_client.hpp"
#include "supervisor/line/master_line.hpp"
#include "supervisor/line/upgrade_listener.hpp"

namespace live::service::workers {

struct WorkerContext {
    // nullptr: alone.
    supervisor::MasterLine* master = nullptr;
    media::StreamTable& streams;
    const http_client::HttpClient& http;
    // Serves a connection from another worker. Must not suspend.
    std::function<void(engine::workers::Purpose, std::unique_ptr<io::TcpStream>)> take_link;
    // The master has ended.
    std::function<void()> end;
    // nullptr: there are no upgrades.
    supervisor::UpgradeListener* upgrade_listener = nullptr;
    // Serves datagrams that another process forwards.
    std::function<void(io::Socket)> take_datagrams{};
    // The list of other processes has changed.
    std::function<void(const std::vector<engine::workers::Worker>&)> note_others{};
};

class WorkerService final : public Service, public supervisor::MasterClient {
public:
    static constexpr std::chrono::milliseconds kBeat{1'000};
    // The master itself never waits.
    static constexpr std::chrono::milliseconds kAnswerLimit{1'000};
    // A publisher that reconnects has ended its old session, whose remaining bytes the other worker or process reads first.
    static constexpr std::chrono::milliseconds kComingOverLimit{500};
    static constexpr std::chrono::milliseconds kComingOverLook{20};
    static constexpr std::chrono::seconds kOrphanPeriod{2};
    static constexpr std::size_t kOrphansMax = 1'000;
    // A claim without a publisher ends after this time. A WebRTC publisher has the stream before it has connected, and is
    // announced when it has.
    static constexpr std::chrono::seconds kClaimLimit{2};

    struct Found {
        engine::workers::Worker worker = 0;
        std::uint64_t epoch = 0;
    };

    // Everything referred to outlives this.
    WorkerService(WorkerContext context, cluster::ClusterEvents& events, Log log);
    ~WorkerService() override;
    WorkerService(const WorkerService&) = delete;
    WorkerService& operator=(const WorkerService&) = delete;

    bool is_on() const override { return context_.master != nullptr; }
    // This service must have been started: a process that was alone hands over to a new program.
    Result<void> attach(supervisor::MasterLine& master) override;
    // The other processes of an upgrade that the master has named.
    const std::vector<engine::workers::Worker>& others() const { return others_; }
    // All workers and processes besides this one, those that were started with it first.
    std::vector<engine::workers::Worker> everybody_else() const;
    engine::workers::WorkerIdentity identity() const {
        return is_on() ? context_.master->identity() : engine::workers::WorkerIdentity{};
    }
    // Claims the stream for a publisher. Errc::conflict when another worker has the stream and `replaces` is off, Errc::limit,
    // Errc::cancelled.
    Result<void> claim(const std::string& url, bool replaces, io::Deadline deadline);
    // Returns the other worker that publishes the stream; nullopt: none does. Errc::timed_out, Errc::cancelled.
    Result<std::optional<Found>> find(const std::string& url, io::Deadline deadline);
    // A client publishes the stream on this worker; a pull does not count.
    bool publishes(const std::string& url) const { return published_.contains(url); }

    // A connection to a worker, this one included. Never waits: a worker that does not serve it closes it. Errc::limit,
    // Errc::system.
    Result<std::unique_ptr<io::TcpStream>> connect(engine::workers::Worker worker, engine::workers::Purpose purpose);
    // For datagrams, one in each message.
    Result<io::MessageSocket> connect_datagrams(engine::workers::Worker worker);
    // One request to a worker's own API. Errors as HttpClient::call.
    Result<engine::http1::Response> ask(engine::workers::Worker worker, const http_client::HttpCall& call, io::Deadline deadline);
    // Reloads all workers.
    void request_reload();
    // Stops all workers gracefully.
    void request_quit();

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;
    // The publisher may return at another one.
    void on_stand_in(const session::ClientRequest&, const session::StreamPlan& plan) override { on_unpublished(plan.url); }
    void on_tick() override;
    std::string_view name() const override { return "the workers"; }

private:
    // Owned by the fiber that waits.
    struct Waiter {
        Signal signal;
        std::optional<engine::workers::Message> answer;
    };

    Result<void> start_fibers();
    void run(io::Deadline deadline);
    Result<void> take_all();
    void handle(supervisor::MasterLine::Incoming incoming);
    void handle_upgrade(const engine::workers::Message& message);
    void leave();
    Result<engine::workers::Message> question(engine::workers::Message message, io::Deadline deadline);
    void run_orphans(io::Deadline deadline);
    bool is_orphan(const std::string& url) const;
    void note_orphan(const std::string& url);

    WorkerContext context_;
    cluster::ClusterEvents& events_;
    const Log log_;
    io::Scope* fibers_ = nullptr;
    bool has_fibers_ = false;
    std::vector<engine::workers::Worker> others_;
    std::set<std::string> published_;
    std::unordered_map<std::string, TimePoint> claimed_;  // granted, and not announced yet
    std::unordered_map<std::uint32_t, Waiter*> waiters_;
    std::uint32_t next_ticket_ = 1;
    std::set<std::string> orphans_;  // streams with viewers and no publisher, to be looked for
    Signal orphans_wait_;
    TimePoint orphans_at_{};
};

}  // namespace live::service::workers
