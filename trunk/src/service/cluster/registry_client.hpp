// RegistryClient: the connections of a node to its registry: one for commands, one for events. It moves the bytes of an
// engine::cluster::ClusterNode, and of an operator's calls beside it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/cluster/cluster_node.hpp"
#include "io/fibers/scope.hpp"
#include "io/tls/tls_context.hpp"
#include "service/cluster/redis_link.hpp"
#include "service/cluster/registry_url.hpp"

namespace live::service::cluster {

class RegistryClient {
public:
    static constexpr std::chrono::milliseconds kBackoffFirst{100};
    static constexpr std::chrono::milliseconds kBackoffMax{2'000};
    static constexpr std::size_t kCallsMax = 64;

    // Where the registry is. `tls` may be nullptr: then rediss:// fails.
    struct Access {
        RegistryUrl url;
        io::TlsContext* tls = nullptr;
        MutBytes scratch;
        // A registry that has not answered for this long is left.
        std::chrono::milliseconds lease{};
    };

    // `on_input` is called after each input of the node. It must not suspend. The node must outlive this.
    RegistryClient(engine::cluster::ClusterNode& node, Access access, std::function<void()> on_input, Log log);

    Result<void> start(io::Scope& fibers);
    // The node may have commands.
    void wake();
    // Sends a command beside the node's own. Errc::closed while the registry is away, Errc::limit, Errc::timed_out.
    Result<engine::redis::Reply> call(std::vector<std::string> words, io::Deadline deadline);
    std::uint64_t connections() const { return connections_; }
    // The registry without its password, for the log.
    std::string label() const { return access_.url.label(); }

private:
    // A caller's fiber that waits for a reply. Owned by it.
    struct Caller {
        Signal signal;
        std::optional<Result<engine::redis::Reply>> reply;
    };
    // A command that the registry has not answered.
    struct Sent {
        engine::cluster::Command command{};
        std::uint64_t call = 0;  // the number of a caller's command; 0: the node's
        TimePoint at{};
    };
    struct QueuedCall {
        std::uint64_t number = 0;
        std::vector<std::string> words;
    };

    void run_commands(io::Deadline deadline);
    void run_events(io::Deadline deadline);
    Result<void> serve_commands(RedisLink& link, io::Deadline deadline);
    Result<void> take_replies(RedisLink& link);
    void send_commands(RedisLink& link);
    Result<void> serve_events(RedisLink& link, io::Deadline deadline);
    void end_call(std::uint64_t number, Result<engine::redis::Reply> reply);
    void end_calls();
    void warn_of_duplicate_node_id();

    engine::cluster::ClusterNode& node_;
    const Access access_;
    const std::function<void()> on_input_;
    const Log log_;
    std::unordered_map<std::uint64_t, Caller*> callers_;
    std::deque<QueuedCall> calls_;
    std::deque<Sent> sent_;
    std::uint64_t next_call_ = 1;
    std::uint64_t connections_ = 0;
    bool is_connected_ = false;
    std::string last_failure_;  // already logged
    std::uint64_t duplicate_node_ids_ = 0;
    Signal output_waits_;
};

}  // namespace live::service::cluster
