// Drain: empties a node of a cluster before it stops, and a process that has handed over to a new program. The node receives no
// new clients. Publishers, and RTMP players that announced E-RTMP's reconnect, are asked to reconnect to another node or to the
// new program. WebRTC has no such message: at the end of a node's drain its sessions end with BYE and close_notify, and their
// clients open new ones elsewhere. supervisor::DrainPlan decides; this acts on the clients.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/system/drain_handler.hpp"
#include "base/log/log.hpp"
#include "media/source/stream_table.hpp"
#include "service/cluster/player_redirector.hpp"
#include "session/common/client_table.hpp"
#include "supervisor/decisions/drain_plan.hpp"

namespace live::app {

class Drain {
public:
    // How long players wait for a stream whose publisher may have reconnected to the new program.
    static constexpr std::chrono::seconds kReturnLimit{5};

    // All must outlive this.
    Drain(const session::ClientTable& clients, const media::StreamTable& streams, service::cluster::ClusterService& node,
          service::cluster::PlayerRedirector& redirector, Log log)
        : clients_(clients), streams_(streams), node_(node), redirector_(redirector), log_(std::move(log)) {}

    // Outside a cluster, only the state changes.
    enum class To : bool { other_nodes, new_program };
    void begin(std::chrono::milliseconds limit, To to, io::Deadline deadline);
    // Must be called every DrainPlan::kStep. Asks the clients that have not been asked, or none yet. Must not suspend.
    enum class Ask : bool { nobody, all };
    void step(Ask ask = Ask::all);
    // No publisher and no player is left. Pulls of other nodes and of this node do not count.
    bool is_over() const;
    // The limit has passed.
    bool is_late() const;
    std::chrono::milliseconds limit() const { return plan_.limit(); }
    api::DrainFacts facts() const;

private:
    void ask(session::ClientEntry& client);
    void end_sessions(std::vector<session::ClientEntry*> sessions);
    api::DrainFacts::Clients count_clients() const;

    void keep_players();

    const session::ClientTable& clients_;
    const media::StreamTable& streams_;
    service::cluster::ClusterService& node_;
    service::cluster::PlayerRedirector& redirector_;
    const Log log_;
    std::optional<session::Redirect> place_for(const session::ClientRequest& request);

    supervisor::DrainPlan plan_;
    To to_ = To::other_nodes;
    std::unordered_map<std::string, TimePoint> published_at_;  // by url: the last time at which it was published
};

}  // namespace live::app
