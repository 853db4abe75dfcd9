// The dependencies of policies, for tests: virtual hosts and an operator's service of the test, and the real services of a single
// server, a worker, or a node of a cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "base/options_of_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/source/stream_table.hpp"
#include "service/admission/routing_policy.hpp"
#include "service/admission/vhosts_fixture.hpp"
#include "service/hooks/fake_hooks_fixture.hpp"
#include "service/hooks/hook_service.hpp"
#include "service/relay/token_check.hpp"
#include "service/workers/no_events_fixture.hpp"
#include "session/common/client_table.hpp"

namespace live::service::admission {

class NoOrigins final : public relay::Resolver {
public:
    relay::Location find(const std::string& url, const relay::ClusterOptions&, io::Deadline) override {
        asked.push_back(url);
        return relay::Nowhere{"the test has no origin"};
    }
    std::vector<std::string> asked;
};

class NoStreamEvents final : public session::StreamEvents {
public:
    void on_published(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_publish_ended(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_unpublished(const std::string&) override {}
    void on_play_ended(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_closed(const session::ClientRequest&, const session::Traffic&) override {}
};

class AdmissionFixture : public testing::Test {
protected:
    struct Place {
        bool is_worker = false;
        cluster::RegistryOptions registry{};
    };

    AdmissionFixture() : AdmissionFixture(Place()) {}
    explicit AdmissionFixture(Place place)
        : line_(place.is_worker ? make_line() : nullptr),
          relay_(pull_context(), origins_, log_),
          cluster_({.options = std::move(place.registry),
                    .node_id = "n0",
                    .streams = streams_,
                    .scratch = scratch_,
                    .describe = [] { return engine::cluster::NodeRecord(); },
                    .sent_bytes = [] { return std::uint64_t{0}; },
                    .takes_part = [](const std::string&) { return true; }},
                   node_events_, log_),
          workers_({.master = line_.get(), .streams = streams_, .http = http_, .take_link = {}, .end = {}}, node_events_, log_) {
        MUST(fibers_.start("an operator's service", [this](io::Deadline forever) { fake_hooks_.run(forever); }));
        auto& options = vhosts_.main().http_hooks;
        options.on_connect = options.on_close = {fake_hooks_.url("/clients")};
        options.on_publish = options.on_unpublish = {fake_hooks_.url("/publishers")};
        options.on_play = options.on_stop = {fake_hooks_.url("/players")};
    }
    ~AdmissionFixture() override {
        const auto soon = io::Deadline::after(io::kSoon);
        MUST(hooks_.stop(soon));
        MUST(relay_.stop(soon));
        MUST(fibers_.stop(soon));
        fake_hooks_.stop();
    }

    Routes routes() { return {relay_, origin_peers_, cluster_, redirector_, workers_}; }
    // Names of the callbacks that have been made, after those that are queued.
    std::vector<std::string> callbacks() {
        io::wait_until([this] { return hooks_.waiting_clients() == 0; });
        return fake_hooks_.actions();
    }
    static io::Deadline soon() { return io::Deadline::after(io::kSoon); }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    NoLog sink_;
    Log log_{sink_, "test"};
    FakeVhosts vhosts_;
    media::SlabPool slabs_;
    media::StreamTable streams_{slabs_};
    std::vector<std::uint8_t> scratch_ = std::vector<std::uint8_t>(4096);
    http_client::HttpClient http_{"test/1", scratch_, nullptr};
    io::Scope fibers_{"test"};
    hooks::FakeHooks fake_hooks_;
    hooks::FakeStreamIds ids_;
    hooks::HookService hooks_{http_, {"vid-1", "s-1"}, ids_, log_};
    session::ClientTable clients_;
    NoStreamEvents stream_events_;
    workers::NoEvents node_events_;
    NoOrigins origins_;
    SameOptions<relay::ClusterOptions> cluster_options_{vhosts_.main().cluster};
    std::unique_ptr<io::MessageSocket> master_;
    std::unique_ptr<supervisor::MasterLine> line_;
    relay::RelayService relay_;
    relay::OriginPeers origin_peers_{http_, streams_, log_};
    relay::TokenCheck tokens_{pull_context(), origins_, log_};
    cluster::ClusterService cluster_;
    cluster::PlayerRedirector redirector_{cluster_, relay_};
    workers::WorkerService workers_;

private:
    std::unique_ptr<supervisor::MasterLine> make_line() {
        auto [mine, its] = MUST(io::MessageSocket::pair());
        master_ = std::make_unique<io::MessageSocket>(std::move(mine));
        return std::make_unique<supervisor::MasterLine>(engine::workers::WorkerIdentity{1, 2}, std::move(its));
    }
    relay::PullContext pull_context() {
        return {.dial = {.scratch = scratch_},
                .streams = streams_,
                .events = stream_events_,
                .clients = clients_,
                .options = cluster_options_,
                .node = {}};
    }
};

}  // namespace live::service::admission
