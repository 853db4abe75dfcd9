// Drain: empties a node of a cluster before it stops. Nobody is placed on it any more; publishers and RTMP players that announced
// E-RTMP's reconnect are asked to go on at another node. WebRTC has no message for that: in the last quarter of the time its
// sessions end one after the other, with BYE and close_notify, so that their clients open new ones and are sent on. The rest stay
// until they leave by themselves, or until the limit. A process that has handed over to a new program is emptied the same way:
// its clients are asked to come again, and sessions of WebRTC stay.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/system/drain_handler.hpp"
#include "base/log/log.hpp"
#include "media/source/stream_table.hpp"
#include "service/cluster/placer.hpp"
#include "session/common/client_table.hpp"

namespace live::app {

// How many of so many sessions end now, so that all have ended when `left` of the drain's `limit` has passed. Pure.
std::size_t ending_now(std::size_t sessions, std::chrono::milliseconds left, std::chrono::milliseconds limit);

class Drain {
public:
    // Asked in one step, so that the other nodes are not run over.
    static constexpr std::size_t kAskedAtOnce = 100;
    static constexpr std::chrono::milliseconds kStep{250};
    // The last so-many-th of the limit, in which sessions of WebRTC end.
    static constexpr int kLastPart = 4;
    // How long players wait for a stream whose publisher may have gone over to the new program.
    static constexpr std::chrono::seconds kReturnLimit{5};

    // All outlive this.
    Drain(const session::ClientTable& clients, const media::StreamTable& streams, service::cluster::ClusterService& node,
          service::cluster::Placer& placer, Log log)
        : clients_(clients), streams_(streams), node_(node), placer_(placer), log_(std::move(log)) {}

    // On a server that is alone only the state is remembered.
    enum class To : bool { other_nodes, new_program };
    void begin(std::chrono::milliseconds limit, To to, io::Deadline deadline);
    // To be called every kStep: asks clients that have not been asked, or nobody yet. Does not suspend.
    enum class Ask : bool { nobody, all };
    void step(Ask ask = Ask::all);
    // No publisher and no player is left; other nodes' pulls do not count, and this node's own neither.
    bool is_over() const;
    std::chrono::milliseconds limit() const { return limit_; }
    api::DrainFacts facts() const;

private:
    void end_sessions(std::vector<session::ClientEntry*> sessions, std::unordered_set<std::string>& asked);
    api::DrainFacts::Clients count_clients() const;

    void keep_players();

    const session::ClientTable& clients_;
    const media::StreamTable& streams_;
    service::cluster::ClusterService& node_;
    service::cluster::Placer& placer_;
    const Log log_;
    std::optional<session::Redirect> place_for(const session::ClientRequest& request);

    bool has_begun_ = false;
    To to_ = To::other_nodes;
    TimePoint since_{};
    std::chrono::milliseconds limit_{};
    std::unordered_map<std::string, TimePoint> published_at_;  // by url: when it was seen to be published last
    std::unordered_set<std::string> asked_;                    // ids of connections that still exist
    std::size_t asked_total_ = 0;
};

}  // namespace live::app
