// The nodes of a simulated cluster pull the hot streams of their players: they find the owner, request the stream, and follow its
// redirect, as service/relay does. Connections break, end and fall silent; a node reacts at its next check.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "engine/cluster/cluster_node.hpp"
#include "engine/cluster/puller_tree.hpp"

namespace live::engine::cluster {

// The interface of the simulation to the pulls.
class PulledWorld {
public:
    virtual TimePoint moment() const = 0;
    virtual std::uint64_t draw(std::uint64_t limit) = 0;
    virtual void later(Duration from_now, std::function<void()> act) = 0;
    // Calls when the node is not paused; never after a crash.
    virtual void within(std::size_t node, std::function<void()> act) = 0;
    virtual const ClusterNode* cluster_node_of(std::size_t node) const = 0;  // nullptr: it has crashed
    virtual bool is_paused(std::size_t node) const = 0;
    virtual bool is_apart(std::size_t node) const = 0;
    virtual bool has_publisher(std::size_t node, std::size_t stream) const = 0;
    // The ticket is set before an answer arrives.
    virtual void look_up(std::size_t node, std::size_t stream, std::uint64_t& ticket) = 0;
    virtual std::string name_of_stream(std::size_t stream) const = 0;

protected:
    ~PulledWorld() = default;
};

class SimulatedPulls {
public:
    using milliseconds = std::chrono::milliseconds;
    // The values of engine::relay::Puller.
    static constexpr milliseconds kStartLimit{5'000}, kSilenceMin{1'000}, kSilenceMax{5'000}, kRefusedPause{500};
    static constexpr milliseconds kLook{200};
    // While two nodes believe that a stream is theirs.
    static constexpr std::chrono::seconds kCircleMax{10};

    struct Figures {
        std::uint64_t calls = 0, handed_on = 0, excess = 0, loops = 0;
        Duration longest_loop{};
        std::size_t most_direct = 0, most_fed = 0, depth = 0;  // at the end: by an owner, by another node, from an owner
    };

    // The first `streams` of the world are hot: every node pulls them, most of the time.
    SimulatedPulls(PulledWorld& world, std::size_t nodes, std::size_t streams, std::size_t direct_max)
        : world_(world), direct_max_(direct_max), streams_(streams), choices_(streams, direct_max) {
        for (std::size_t i = 0; i < nodes; ++i)
            nodes_.push_back({PullerTree(direct_max), std::vector<Pull>(streams), {}, {}});
        for (std::size_t i = 0; i < nodes; ++i)
            for (std::size_t s = 0; s < streams; ++s) {
                world_.later(milliseconds(world_.draw(10'000)), [this, i, s] { nodes_[i].pulls[s].is_wanted = true; });
                look_later(i, s);
            }
    }

    void set_published(std::size_t node, std::size_t stream) {
        if (stream < streams_)
            nodes_[node].published.insert(stream);
    }
    // The connections of the node end.
    void set_unpublished(std::size_t node, std::size_t stream) {
        if (stream < streams_ && nodes_[node].published.erase(stream) > 0)
            end_connections(node, stream);
    }
    void crash(std::size_t node) {
        for (std::size_t s = 0; s < streams_; ++s) {
            end_connections(node, s);
            hang_up(node, s);
        }
        nodes_[node].published.clear();
        nodes_[node].tree = PullerTree(direct_max_);
    }
    void look_again(std::size_t node, std::size_t stream) {
        if (stream < streams_)
            nodes_[node].pulls[stream].looks_again = true;
    }
    // The last player leaves, or another one joins.
    void change_mind(std::size_t node, std::size_t stream) {
        if (stream < streams_)
            nodes_[node].pulls[stream].is_wanted ^= true;
    }
    void want_all() {
        for (Node& node : nodes_)
            for (Pull& pull : node.pulls)
                pull.is_wanted = true;
    }
    // Reports whether the ticket is one of these pulls.
    bool take_found(std::size_t node, const FindDecided& found) {
        for (std::size_t s = 0; s < streams_; ++s)
            if (Pull& pull = nodes_[node].pulls[s]; pull.ticket == found.ticket && pull.ticket != 0) {
                pull.ticket = 0;
                on_found(node, s, found.where);
                return true;
            }
        return false;
    }

    // Checks the pulls after a while without injected faults. Returns the fault found; empty: none.
    std::string check() {
        for (std::size_t s = 0; s < streams_; ++s) {
            std::vector<std::size_t> direct(nodes_.size()), fed(nodes_.size());
            for (std::size_t i = 0; i < nodes_.size(); ++i) {
                if (publishes(i, s))
                    continue;
                const auto depth = depth_of(i, s);
                if (!depth)
                    return "n" + std::to_string(i) + " does not get " + world_.name_of_stream(s) + ":" + way_of(i, s);
                figures_.depth = std::max(figures_.depth, *depth);
                const Pull& pull = nodes_[i].pulls[s];
                direct[pull.from] += pull.place == Pull::Place::direct ? 1 : 0;
                fed[pull.from] += pull.place == Pull::Place::branch ? 1 : 0;
                figures_.excess += pull.place == Pull::Place::excess ? 1 : 0;
            }
            const std::size_t most_direct = *std::ranges::max_element(direct), most_fed = *std::ranges::max_element(fed);
            figures_.most_direct = std::max(figures_.most_direct, most_direct);
            figures_.most_fed = std::max(figures_.most_fed, most_fed);
            if (most_direct > direct_max_ || most_fed > fed_max(s))
                return "one node feeds " + std::to_string(most_direct) + " or " + std::to_string(most_fed) + " with " +
                       world_.name_of_stream(s);
        }
        return {};
    }
    const std::string& problem() const { return problem_; }
    const Figures& figures() const { return figures_; }

private:
    enum class Step : std::uint8_t { idle, finding, calling, served };
    struct Pull {
        bool is_wanted = false;
        Step step = Step::idle;
        std::uint64_t turn = 0;    // actions of an earlier turn are ignored
        std::uint64_t ticket = 0;  // of an unanswered look-up
        TimePoint since{}, not_before{};
        std::string asked;     // the owner in the registry
        std::size_t from = 0;  // the node that serves it
        std::string client;    // the connection to it
        // How the node found its server. `excess`: the owner had no other node for a redirect.
        enum class Place : std::uint8_t { branch, direct, excess } place = Place::branch;
        bool has_ended = false;
        bool looks_again = false;
        bool had_media = false;
        TimePoint media_at{};
        Duration silence{};
        TimePoint circle_since{};  // 0: not in a circle
        TimePoint second{};
        std::size_t in_second = 0;
    };
    struct Node {
        PullerTree tree;
        std::vector<Pull> pulls;
        std::set<std::size_t> published;
        std::unordered_map<std::string, std::size_t> clients;  // of its streams, by connection
    };

    bool publishes(std::size_t node, std::size_t stream) const { return nodes_[node].published.contains(stream); }
    bool is_linked(std::size_t one, std::size_t other) const { return !world_.is_apart(one) && !world_.is_apart(other); }
    bool has_pullers(std::size_t node, std::size_t stream) const {
        return std::ranges::any_of(nodes_, [&](const Node& other) {
            const Pull& pull = other.pulls[stream];
            return pull.step == Step::served && pull.from == node && !pull.has_ended;
        });
    }
    // An owner redirects each further node to the node with the fewest pulls. Only listed nodes are targets: while some of them
    // are paused, the others get more.
    std::size_t fed_max(std::size_t stream) const { return 2 * std::max(direct_max_, nodes_.size() / choices_[stream]); }
    void note_choice(std::size_t owner, std::size_t stream) {
        const std::span<const NodeRecord> listed = world_.cluster_node_of(owner)->neighbours();
        const auto can_be_named = [&](const NodeRecord& node) {
            const Pull& pull = nodes_[number_of(node.id)].pulls[stream];
            return pull.step == Step::served && pull.from == owner && pull.place != Pull::Place::branch;
        };
        const auto count = static_cast<std::size_t>(std::ranges::count_if(listed, can_be_named));
        choices_[stream] = std::clamp<std::size_t>(count, 1, choices_[stream]);
    }

    // Connections from the publisher, while media arrive.
    std::optional<std::size_t> depth_of(std::size_t node, std::size_t stream) const {
        for (std::size_t depth = 0; depth <= nodes_.size(); ++depth) {
            if (world_.cluster_node_of(node) == nullptr || (depth > 0 && world_.is_paused(node)))
                return std::nullopt;
            if (publishes(node, stream))
                return world_.has_publisher(node, stream) ? std::optional(depth) : std::nullopt;
            const Pull& pull = nodes_[node].pulls[stream];
            if (pull.step != Step::served || pull.has_ended || !is_linked(node, pull.from))
                return std::nullopt;
            node = pull.from;
        }
        return std::nullopt;
    }
    bool is_in_circle(std::size_t node, std::size_t stream) const {
        std::size_t at = node;
        for (std::size_t depth = 0; depth <= nodes_.size(); ++depth) {
            const Pull& pull = nodes_[at].pulls[stream];
            if (publishes(at, stream) || pull.step != Step::served)
                return false;
            at = pull.from;
            if (at == node)
                return true;
        }
        return false;
    }
    std::string way_of(std::size_t node, std::size_t stream) const {
        std::string text;
        for (std::size_t depth = 0; depth <= nodes_.size() && depth < 8; ++depth) {
            const Pull& pull = nodes_[node].pulls[stream];
            text += " n" + std::to_string(node) +
                    (publishes(node, stream) ? " publishes" : " step " + std::to_string(int(pull.step)));
            if (publishes(node, stream) || pull.step != Step::served)
                break;
            node = pull.from;
        }
        return text;
    }
    void fail(const std::string& what) {
        if (problem_.empty())
            problem_ = what;
    }

    void look_later(std::size_t node, std::size_t stream) {
        world_.later(kLook + milliseconds(world_.draw(20)), [this, node, stream] {
            if (world_.cluster_node_of(node) != nullptr && !world_.is_paused(node))
                look(node, stream);
            look_later(node, stream);
        });
    }
    void look(std::size_t node, std::size_t stream) {
        Pull& pull = nodes_[node].pulls[stream];
        const bool is_needed = !publishes(node, stream) && (pull.is_wanted || has_pullers(node, stream));
        if (!is_needed)
            return hang_up(node, stream);
        if (pull.step == Step::idle && world_.moment() >= pull.not_before)
            return begin(node, stream);
        if (pull.step == Step::finding && world_.moment() - pull.since > kSilenceMin)
            return hang_up(node, stream);
        if (pull.step == Step::calling && pull.looks_again)
            return begin(node, stream);
        if (pull.step == Step::calling && world_.moment() - pull.since > kStartLimit)
            return fall_back(node, stream);
        if (pull.step == Step::served)
            watch(node, stream);
    }
    void watch(std::size_t node, std::size_t stream) {
        Pull& pull = nodes_[node].pulls[stream];
        note_circle(node, stream);
        if (pull.has_ended && is_linked(node, pull.from))
            return hang_up(node, stream);
        if (std::exchange(pull.looks_again, false))
            ask(node, stream);
        if (depth_of(node, stream)) {
            pull.had_media = true;
            pull.media_at = world_.moment();
        } else if (pull.had_media && world_.moment() - pull.media_at > pull.silence) {
            hang_up(node, stream);
        } else if (!pull.had_media && pull.place == Pull::Place::branch && world_.moment() - pull.since > kSilenceMax) {
            fall_back(node, stream);
        }
    }
    void note_circle(std::size_t node, std::size_t stream) {
        Pull& pull = nodes_[node].pulls[stream];
        if (!is_in_circle(node, stream)) {
            pull.circle_since = {};
            return;
        }
        if (pull.circle_since == TimePoint()) {
            ++figures_.loops;
            pull.circle_since = world_.moment();
        }
        figures_.longest_loop = std::max(figures_.longest_loop, world_.moment() - pull.circle_since);
        if (world_.moment() - pull.circle_since > kCircleMax)
            fail("a circle of pulls:" + way_of(node, stream));
    }

    void ask(std::size_t node, std::size_t stream) { world_.look_up(node, stream, nodes_[node].pulls[stream].ticket); }
    void begin(std::size_t node, std::size_t stream) {
        Pull& pull = nodes_[node].pulls[stream];
        ++pull.turn;
        pull.step = Step::finding;
        pull.since = world_.moment();
        pull.looks_again = false;
        ask(node, stream);
    }
    void on_found(std::size_t node, std::size_t stream, const StreamLocation& where) {
        Pull& pull = nodes_[node].pulls[stream];
        const auto* there = std::get_if<There>(&where);
        if (pull.step == Step::served) {
            if (there != nullptr && there->node.id != pull.asked)
                hang_up(node, stream);
            return;
        }
        if (pull.step != Step::finding)
            return;
        const ClusterNode& cluster_node = *world_.cluster_node_of(node);
        if (there != nullptr)
            pull.asked = there->node.id;
        else if (std::holds_alternative<Unknown>(where) && !cluster_node.is_up() && !cluster_node.neighbours().empty())
            pull.asked = cluster_node.neighbours()[world_.draw(cluster_node.neighbours().size())].id;
        else
            return fall_back(node, stream);
        const std::size_t target = number_of(pull.asked);
        if (target == node)
            return fall_back(node, stream);
        call(node, stream, target, false);
    }
    static std::size_t number_of(const std::string& id) { return std::stoul(id.substr(1)); }

    // `is_branch`: the owner has sent it there.
    void call(std::size_t node, std::size_t stream, std::size_t target, bool is_branch) {
        Pull& pull = nodes_[node].pulls[stream];
        pull.step = Step::calling;
        pull.since = world_.moment();
        const std::uint64_t turn = ++pull.turn;
        ++figures_.calls;
        if (world_.moment() - pull.second >= std::chrono::seconds(1)) {
            pull.second = world_.moment();
            pull.in_second = 0;
        }
        if (++pull.in_second > 10)
            fail("n" + std::to_string(node) + " calls " + std::to_string(pull.in_second) + " times in a second");
        world_.later(milliseconds(2 + world_.draw(30)), [this, node, stream, target, is_branch, turn] {
            if (nodes_[node].pulls[stream].turn != turn || !is_linked(node, target))
                return;
            if (world_.cluster_node_of(target) == nullptr)
                return fall_back(node, stream);
            world_.within(target, [this, node, stream, target, is_branch, turn] {
                if (nodes_[node].pulls[stream].turn == turn && is_linked(node, target))
                    serve(node, stream, target, is_branch);
            });
        });
    }
    // On the called node.
    void serve(std::size_t node, std::size_t stream, std::size_t target, bool is_branch) {
        Pull& pull = nodes_[node].pulls[stream];
        const std::string client = "c" + std::to_string(++clients_);
        if (publishes(target, stream)) {
            const NodeRecord* other = nodes_[target].tree.enter(world_.name_of_stream(stream), "n" + std::to_string(node), client,
                                                                world_.cluster_node_of(target)->neighbours());
            if (other != nullptr) {
                ++figures_.handed_on;
                note_choice(target, stream);
                // A second redirect is not followed.
                return is_branch ? fall_back(node, stream) : call(node, stream, number_of(other->id), true);
            }
            nodes_[target].clients.emplace(client, stream);
            const bool is_full = nodes_[target].tree.direct(world_.name_of_stream(stream)) > direct_max_;
            pull.place = is_full ? Pull::Place::excess : Pull::Place::direct;
        } else {
            pull.place = Pull::Place::branch;
            const Pull& there = nodes_[target].pulls[stream];
            const bool is_playing = there.step == Step::served && there.had_media;
            if (!is_playing && !(is_branch && there.step != Step::idle))
                return fall_back(node, stream);
        }
        pull.step = Step::served;
        pull.from = target;
        pull.client = client;
        pull.has_ended = pull.had_media = false;
        pull.silence = kSilenceMin + milliseconds(world_.draw(kSilenceMax.count() - kSilenceMin.count()));
    }
    void fall_back(std::size_t node, std::size_t stream) {
        hang_up(node, stream);
        nodes_[node].pulls[stream].not_before = world_.moment() + kRefusedPause;
    }
    void hang_up(std::size_t node, std::size_t stream) {
        Pull& pull = nodes_[node].pulls[stream];
        ++pull.turn;
        pull.ticket = 0;
        if (pull.step == Step::served) {
            // Over a cut link, the end is not detected.
            const milliseconds delay(is_linked(node, pull.from) ? 1 + world_.draw(30) : 5'000 + world_.draw(25'000));
            world_.later(delay, [this, from = pull.from, client = pull.client] { leave(from, client); });
        }
        pull.step = Step::idle;
    }
    void leave(std::size_t owner, const std::string& client) {
        if (const auto found = nodes_[owner].clients.extract(client))
            nodes_[owner].tree.leave(world_.name_of_stream(found.mapped()), client);
    }
    void end_connections(std::size_t node, std::size_t stream) {
        for (Node& other : nodes_)
            if (Pull& pull = other.pulls[stream]; pull.step == Step::served && pull.from == node)
                pull.has_ended = true;
        std::vector<std::string> ended;
        for (const auto& [client, of] : nodes_[node].clients)
            if (of == stream)
                ended.push_back(client);
        for (const std::string& client : ended)
            leave(node, client);
    }

    PulledWorld& world_;
    const std::size_t direct_max_;
    const std::size_t streams_;
    std::vector<std::size_t> choices_;  // by stream: the fewest that an owner could name
    std::vector<Node> nodes_;
    std::uint64_t clients_ = 0;
    std::string problem_;
    Figures figures_;
};

}  // namespace live::engine::cluster
