// A cluster of many nodes, publishers and players over a model of the registry, with seeded faults: nodes crash and pause, links
// are cut, connections are lost, events are lost, late and out of order, clocks are minutes apart, the registry pauses and
// restarts empty. All nodes pull a few hot streams. The same seed gives the same run.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/cluster/cluster_node.hpp"
#include "engine/cluster/model_registry_fixture.hpp"
#include "engine/cluster/simulated_pulls_fixture.hpp"

namespace live::engine::cluster {

struct SimulationSize {
    std::size_t nodes = 12;
    std::size_t streams = 60;
    // The hot streams, which all nodes pull; and how many pullers an owner serves itself.
    std::size_t hot = 2;
    std::size_t direct_max = 3;
    std::chrono::seconds faults{60};
    // Without faults, so that the cluster can recover.
    std::chrono::seconds quiet{30};
};

class Simulation final : public PulledWorld {
public:
    // With odd seeds the nodes have a secret.
    Simulation(std::uint64_t seed, SimulationSize size) : size_(size), random_(seed), secret_(seed % 2 == 1 ? "hush" : "") {
        for (std::size_t i = 0; i < size.nodes; ++i) {
            nodes_.push_back(std::make_unique<Node>());
            nodes_.back()->name = "n" + std::to_string(i);
            nodes_.back()->skew = milliseconds(below(1'200'000)) - milliseconds(600'000);
            start(i);
        }
        for (std::size_t i = 0; i < size.streams; ++i) {
            publishers_.emplace_back();
            at(milliseconds(below(3'000)), [this, i] { try_publish(i); });
        }
        pulls_.emplace(*this, size.nodes, size.hot, size.direct_max);
    }

    // Runs the simulation. Returns the fault found; empty: none.
    std::string run() {
        const TimePoint calm = now_ + size_.faults;
        at(milliseconds(1'000), [this, calm] { make_faults(calm); });
        at(milliseconds(500), [this, calm] { ask_at_random(calm + size_.quiet - milliseconds(1'000)); });
        run_until(calm);
        for (auto& node : nodes_)
            node->is_cut = false;
        pulls_->want_all();
        run_until(calm + size_.quiet);
        return check();
    }
    // The registry answers nothing for this long, while encoders change their nodes. The cluster must recover within
    // `right_within`.
    std::string run_without_registry(Duration length, Duration right_within) {
        are_faults_on_ = false;
        run_until(now_ + size_.quiet);
        registry_paused_until_ = now_ + length;
        move_publishers(registry_paused_until_ - std::chrono::seconds(10));
        run_until(registry_paused_until_ + right_within);
        return check();
    }
    const SimulatedPulls::Figures& pulls() const { return pulls_->figures(); }
    std::uint64_t commands() const { return commands_; }
    std::size_t most_per_second() const { return most_per_second_; }
    std::uint64_t lost() const { return lost_; }
    std::uint64_t faults() const { return faults_; }

private:
    using milliseconds = std::chrono::milliseconds;
    static constexpr TimePoint kStart{std::chrono::hours(100)};

    struct Question {
        TimePoint asked;
        std::size_t stream = 0;
        bool is_publish = false;
    };
    struct Node {
        std::string name;
        std::unique_ptr<ClusterNode> cluster_node;  // nullptr: it has crashed
        std::uint64_t run = 0;
        Duration skew{};
        std::uint64_t connection = 0;  // 0: none
        TimePoint paused_until{};
        bool is_cut = false;
        bool is_deaf = false;
        TimePoint last_sent{}, last_received{};  // of this connection, which keeps the order
        std::deque<std::pair<std::uint64_t, TimePoint>> unanswered;
        TimePoint wake_at = TimePoint::max();
        std::unordered_map<std::uint64_t, Question> questions;
        TimePoint second{};
        std::size_t in_second = 0, asked_in_second = 0, asked_before = 0;
    };
    // One encoder for each stream: it tries one node after the other until it is admitted.
    struct Publisher {
        std::size_t node = 0;
        enum class Step : std::uint8_t { idle, asking, on } step = Step::idle;
        std::uint64_t turn = 0;  // answers for an earlier turn are ignored
    };
    struct Due {
        TimePoint when;
        std::uint64_t number;
        std::function<void()> act;
        bool operator>(const Due& other) const { return when > other.when || (when == other.when && number > other.number); }
    };

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    bool one_in(std::uint64_t count) { return below(count) == 0; }
    void at(Duration from_now, std::function<void()> act) { due_.push({now_ + from_now, ++numbers_, std::move(act)}); }
    void fail(const std::string& what) {
        if (problem_.empty() && !what.empty())
            problem_ = std::to_string((now_ - kStart) / milliseconds(1)) + " ms: " + what;
    }
    void run_until(TimePoint end) {
        while (!due_.empty() && due_.top().when <= end && problem_.empty()) {
            const auto act = due_.top().act;
            now_ = due_.top().when;
            due_.pop();
            act();
            if (!pulls_->problem().empty())
                fail(pulls_->problem());
        }
        now_ = end;
    }
    TimePoint local(const Node& node) const { return now_ + node.skew; }

    TimePoint moment() const override { return now_; }
    std::uint64_t draw(std::uint64_t limit) override { return below(limit); }
    void later(Duration from_now, std::function<void()> act) override { at(from_now, std::move(act)); }
    void within(std::size_t node, std::function<void()> act) override { in_node(node, std::move(act)); }
    const ClusterNode* cluster_node_of(std::size_t node) const override { return nodes_[node]->cluster_node.get(); }
    bool is_paused(std::size_t node) const override { return nodes_[node]->paused_until > now_; }
    bool is_apart(std::size_t node) const override { return nodes_[node]->is_cut; }
    bool has_publisher(std::size_t node, std::size_t stream) const override {
        return publishers_[stream].node == node && publishers_[stream].step == Publisher::Step::on;
    }
    std::string name_of_stream(std::size_t stream) const override { return stream_of(stream); }
    void look_up(std::size_t index, std::size_t stream, std::uint64_t& ticket) override {
        Node& node = *nodes_[index];
        ++node.asked_in_second;
        ticket = node.cluster_node->find(stream_of(stream), local(node));
        node.questions.emplace(ticket, Question{now_, stream, false});
        settle(index);
    }

    // Wall clocks differ by at most two minutes.
    std::int64_t wall(const Node& node) const {
        return 1'790'000'000'000 + std::chrono::duration_cast<milliseconds>(now_.time_since_epoch() + node.skew / 5).count();
    }
    std::string stream_of(std::size_t number) const { return "/live/s" + std::to_string(number); }
    static std::size_t number_of(const std::string& stream) { return std::stoul(stream.substr(7)); }

    void start(std::size_t index) {
        Node& node = *nodes_[index];
        ++node.run;
        NodeRecord self;
        self.id = node.name;
        self.run = node.run * 1'000 + index;
        self.host = "192.0.2.1";
        self.rtmp_port = 1935;
        ClusterNodeOptions options;
        options.secret = secret_;
        node.cluster_node = std::make_unique<ClusterNode>(options, self, random_());
        node.cluster_node->set_self(self, wall(node), local(node));
        node.paused_until = {};
        reconnect(index, milliseconds(below(300)));
    }
    void crash(std::size_t index) {
        Node& node = *nodes_[index];
        node.cluster_node.reset();
        pulls_->crash(index);
        node.connection = 0;
        node.questions.clear();
        node.wake_at = TimePoint::max();
        for (std::size_t i = 0; i < publishers_.size(); ++i)
            if (publishers_[i].node == index && publishers_[i].step != Publisher::Step::idle)
                retry(i, milliseconds(300 + below(1'000)));
        at(milliseconds(500 + below(10'000)), [this, index] { start(index); });
    }

    // A paused node does nothing; its sockets keep the arrived bytes.
    void in_node(std::size_t index, std::function<void()> act) {
        Node& node = *nodes_[index];
        if (node.paused_until > now_)
            at(node.paused_until - now_, [this, index, act] { in_node(index, act); });
        else if (node.cluster_node != nullptr)
            act();
    }

    void reconnect(std::size_t index, Duration pause) {
        at(pause, [this, index, run = nodes_[index]->run] {
            in_node(index, [this, index, run] {
                Node& node = *nodes_[index];
                if (node.run != run || node.connection != 0)
                    return;
                if (node.is_cut || is_down_)
                    return reconnect(index, milliseconds(500 + below(500)));
                node.connection = ++numbers_;
                node.last_sent = node.last_received = now_;
                node.unanswered.clear();
                node.cluster_node->handle_connected(local(node));
                settle(index);
            });
        });
    }
    void disconnect(std::size_t index) {
        Node& node = *nodes_[index];
        if (node.connection == 0)
            return;
        node.connection = 0;
        in_node(index, [this, index] {
            Node& here = *nodes_[index];
            if (here.connection == 0) {
                here.cluster_node->handle_disconnected(local(here));
                settle(index);
            }
        });
        reconnect(index, milliseconds(200 + below(600)));
    }

    // Delivers the commands and notices of a node after each input.
    void settle(std::size_t index) {
        Node& node = *nodes_[index];
        while (auto command = node.cluster_node->poll_command()) {
            count(node);
            transmit(index, *std::move(command));
        }
        while (auto notice = node.cluster_node->poll_notice())
            on_notice(index, *notice);
        if (!node.unanswered.empty() && now_ - node.unanswered.front().second > std::chrono::seconds(8))
            disconnect(index);
        const auto next = node.cluster_node->next_timeout();
        const TimePoint when = next ? *next - node.skew : TimePoint::max();
        if (when < node.wake_at && when != TimePoint::max()) {
            node.wake_at = when;
            at(std::max<Duration>(when - now_, {}), [this, index, when] { wake(index, when); });
        }
    }
    void wake(std::size_t index, TimePoint when) {
        in_node(index, [this, index, when] {
            Node& node = *nodes_[index];
            if (node.wake_at != when)
                return;
            node.wake_at = TimePoint::max();
            node.cluster_node->handle_timeout(local(node));
            settle(index);
        });
    }
    void count(Node& node) {
        ++commands_;
        if (now_ - node.second >= std::chrono::seconds(1)) {
            node.second = now_;
            node.in_second = 0;
            node.asked_before = std::exchange(node.asked_in_second, 0);
        }
        most_per_second_ = std::max(most_per_second_, ++node.in_second);
        // Each stream is announced and withdrawn at most once in a second; other commands are few.
        if (node.in_second > 40 + 3 * size_.streams / size_.nodes * 4 + 3 * (node.asked_in_second + node.asked_before) +
                                 3 * node.cluster_node->streams().size())
            fail(node.name + " sends " + std::to_string(node.in_second) + " commands in a second");
    }

    void transmit(std::size_t index, Command command) {
        Node& node = *nodes_[index];
        node.unanswered.emplace_back(command.id, now_);
        const std::uint64_t connection = node.connection;
        node.last_sent = std::max(node.last_sent + std::chrono::microseconds(1), now_ + milliseconds(1 + below(15)));
        at(node.last_sent - now_, [this, index, connection, command] { arrive(index, connection, command); });
    }
    void arrive(std::size_t index, std::uint64_t connection, const Command& command) {
        Node& node = *nodes_[index];
        if (node.connection != connection || node.is_cut)
            return;
        // A resumed registry processes the waiting commands in order.
        if (registry_paused_until_ > now_) {
            at(registry_paused_until_ - now_, [this, index, connection, command] { arrive(index, connection, command); });
            return;
        }
        const Answer answer = registry_.execute(command, now_);
        for (const std::string& event : registry_.take_events())
            publish_event(event);
        node.last_received = std::max(node.last_received + std::chrono::microseconds(1), now_ + milliseconds(1 + below(15)));
        at(node.last_received - now_, [this, index, connection, id = command.id, answer] {
            in_node(index, [this, index, connection, id, answer] {
                Node& here = *nodes_[index];
                if (here.connection != connection || here.is_cut)
                    return;
                if (!here.unanswered.empty())
                    here.unanswered.pop_front();
                here.cluster_node->handle_answer(id, answer, local(here));
                settle(index);
            });
        });
    }
    // Lost, late and in any order while there are faults.
    void publish_event(const std::string& event) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i]->connection == 0 || nodes_[i]->is_cut || nodes_[i]->is_deaf)
                continue;
            if (are_faults_on_ && one_in(20)) {
                lose_events(i);
                continue;
            }
            at(milliseconds(1 + below(are_faults_on_ ? 400 : 20)), [this, i, event] {
                in_node(i, [this, i, event] {
                    nodes_[i]->cluster_node->handle_event(event, local(*nodes_[i]));
                    settle(i);
                });
            });
        }
    }

    // The subscriber loses its connection with the event, and all events until it has reconnected.
    void lose_events(std::size_t index) {
        nodes_[index]->is_deaf = true;
        at(milliseconds(500 + below(2'000)), [this, index] {
            nodes_[index]->is_deaf = false;
            in_node(index, [this, index] {
                nodes_[index]->cluster_node->handle_events_missed(local(*nodes_[index]));
                settle(index);
            });
        });
    }

    void retry(std::size_t number, Duration pause) {
        Publisher& publisher = publishers_[number];
        publisher.step = Publisher::Step::idle;
        ++publisher.turn;
        at(pause, [this, number, turn = publisher.turn] {
            if (publishers_[number].turn == turn)
                try_publish(number);
        });
    }
    void try_publish(std::size_t number) {
        Publisher& publisher = publishers_[number];
        const std::size_t index = below(nodes_.size());
        Node& node = *nodes_[index];
        if (node.cluster_node == nullptr || node.paused_until > now_)
            return retry(number, milliseconds(300 + below(500)));
        publisher.node = index;
        publisher.step = Publisher::Step::asking;
        ++publisher.turn;
        ++node.asked_in_second;
        const std::uint64_t ticket = node.cluster_node->publish(stream_of(number), one_in(4), wall(node), local(node));
        node.questions.emplace(ticket, Question{now_, number, true});
        settle(index);
    }
    void leave(std::size_t number) {
        const std::size_t index = publishers_[number].node;
        retry(number, milliseconds(below(3'000)));
        in_node(index, [this, index, number] { end_publication(index, number); });
    }
    // Moves an encoder to another node while the old node still publishes its stream.
    void jump(std::size_t number) {
        const std::size_t index = publishers_[number].node;
        at(milliseconds(below(6'000)),
           [this, index, number] { in_node(index, [this, index, number] { end_publication(index, number); }); });
        retry(number, milliseconds(below(1'000)));
    }
    // Ends the publication of a publisher that has left, unless it has already returned to this node.
    void end_publication(std::size_t index, std::size_t number) {
        if (publishers_[number].node == index && publishers_[number].step == Publisher::Step::on)
            return;
        ++nodes_[index]->asked_in_second;
        nodes_[index]->cluster_node->unpublish(stream_of(number), local(*nodes_[index]));
        pulls_->set_unpublished(index, number);
        settle(index);
    }

    void on_notice(std::size_t index, const Notice& notice) {
        Node& node = *nodes_[index];
        if (const auto* decided = std::get_if<PublishDecided>(&notice))
            on_published(index, *decided);
        else if (const auto* found = std::get_if<FindDecided>(&notice))
            on_found(index, *found);
        else if (const auto* lost = std::get_if<Lost>(&notice))
            on_lost(index, number_of(lost->stream));
        else if (const auto* moved = std::get_if<Moved>(&notice))
            pulls_->look_again(index, number_of(moved->stream));
        if (node.cluster_node == nullptr)
            fail("a notice without a node");
    }
    std::optional<Question> take_question(Node& node, std::uint64_t ticket) {
        const auto asked = node.questions.extract(ticket);
        if (asked.empty())
            return std::nullopt;  // of an earlier turn
        const Duration waited = now_ - asked.mapped().asked;
        const Duration slept = node.paused_until > asked.mapped().asked ? node.paused_until - asked.mapped().asked : Duration();
        if (waited > ClusterNode::kWaitMax + milliseconds(1) + std::max<Duration>(slept, {}))
            fail(node.name + " has waited for " + std::to_string(waited / milliseconds(1)) + " ms");
        return asked.mapped();
    }
    void on_published(std::size_t index, const PublishDecided& decided) {
        Node& node = *nodes_[index];
        const auto question = take_question(node, decided.ticket);
        if (!question)
            return;
        const std::size_t number = question->stream;
        Publisher& publisher = publishers_[number];
        const bool is_current = publisher.node == index && publisher.step == Publisher::Step::asking;
        const bool is_in = decided.verdict == Verdict::granted || decided.verdict == Verdict::unregistered;
        if (!is_current)
            return;  // its encoder has left, so it is not confirmed
        if (!is_in)
            return retry(number, milliseconds(300 + below(1'000)));
        publisher.step = Publisher::Step::on;
        pulls_->set_published(index, number);
        node.cluster_node->confirm(stream_of(number), wall(node), local(node));
    }
    void on_found(std::size_t index, const FindDecided& found) {
        Node& node = *nodes_[index];
        take_question(node, found.ticket);
        pulls_->take_found(index, found);
        const auto* there = std::get_if<There>(&found.where);
        if (there != nullptr && there->node.id == node.name)
            fail(node.name + " would pull from itself");
    }
    void on_lost(std::size_t index, std::size_t number) {
        ++lost_;
        pulls_->set_unpublished(index, number);
        Publisher& publisher = publishers_[number];
        if (publisher.node == index && publisher.step == Publisher::Step::on)
            retry(number, milliseconds(300 + below(1'000)));
    }

    void ask_at_random(TimePoint until) {
        for (int i = 0; i < 3; ++i) {
            const std::size_t index = below(nodes_.size());
            Node& node = *nodes_[index];
            if (node.cluster_node == nullptr || node.paused_until > now_)
                continue;
            ++node.asked_in_second;
            const std::size_t number = below(publishers_.size());
            const std::uint64_t ticket = node.cluster_node->find(stream_of(number), local(node));
            node.questions.emplace(ticket, Question{now_, number, false});
            settle(index);
        }
        if (now_ < until)
            at(milliseconds(20), [this, until] { ask_at_random(until); });
    }

    void move_publishers(TimePoint until) {
        if (now_ >= until)
            return;
        if (const std::size_t number = below(publishers_.size()); publishers_[number].step == Publisher::Step::on)
            jump(number);
        at(milliseconds(below(10'000)), [this, until] { move_publishers(until); });
    }
    void make_faults(TimePoint until) {
        are_faults_on_ = now_ < until;
        if (!are_faults_on_)
            return;
        ++faults_;
        make_fault(below(nodes_.size()), below(publishers_.size()), until);
        at(milliseconds(100 + below(900)), [this, until] { make_faults(until); });
    }
    void make_fault(std::size_t index, std::size_t number, TimePoint until) {
        Node& node = *nodes_[index];
        const Duration rest = until - now_;
        switch (below(11)) {
            case 0:
                if (node.cluster_node != nullptr)
                    crash(index);
                break;
            case 1:
            case 2:
                node.paused_until = std::max(node.paused_until, now_ + std::min<Duration>(milliseconds(below(15'000)), rest));
                break;
            case 3: cut(1 + below(nodes_.size()), std::min<Duration>(milliseconds(below(20'000)), rest)); break;
            case 4: disconnect(index); break;
            case 5:
                // A running pause keeps its length, so that waiting commands arrive in order.
                if (registry_paused_until_ <= now_)
                    registry_paused_until_ = now_ + std::min<Duration>(milliseconds(below(12'000)), rest);
                break;
            case 6:
                if (one_in(3))
                    restart_registry(std::min<Duration>(milliseconds(below(8'000)), rest));
                break;
            case 7: pulls_->change_mind(index, below(size_.hot)); break;
            case 8:
                if (publishers_[number].step == Publisher::Step::on)
                    leave(number);
                break;
            default:
                if (publishers_[number].step == Publisher::Step::on)
                    jump(number);
                break;
        }
    }
    void cut(std::size_t count, Duration length) {
        for (; count > 0; --count) {
            const std::size_t index = below(nodes_.size());
            nodes_[index]->is_cut = true;
            at(length, [this, index] {
                nodes_[index]->is_cut = false;
                disconnect(index);
            });
        }
    }
    void restart_registry(Duration length) {
        registry_.clear();
        is_down_ = true;
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            disconnect(i);
        at(length, [this] { is_down_ = false; });
    }

    std::string check() {
        if (problem_.empty())
            check_end();
        if (problem_.empty())
            fail(pulls_->check());
        return problem_;
    }
    void check_end() {
        for (std::size_t number = 0; number < publishers_.size(); ++number) {
            const std::string stream = stream_of(number);
            std::string owners;
            for (const auto& node : nodes_)
                if (node->cluster_node != nullptr && node->cluster_node->streams().contains(stream))
                    owners += " " + node->name;
            const Publisher& publisher = publishers_[number];
            const std::string expected = nodes_[publisher.node]->name;
            if (publisher.step != Publisher::Step::on)
                return fail(stream + "'s publisher is not in; owners:" + owners);
            if (owners != " " + expected)
                return fail(stream + " has owners:" + owners + ", expected " + expected);
            const auto owner = registry_.owner(stream, now_);
            if (!owner || owner->node != expected)
                return fail(stream + " is registered for " + (owner ? owner->node : "nobody") + ", expected " + expected);
            check_found(number, expected);
        }
        for (const auto& node : nodes_)
            for (const auto& [ticket, question] : node->questions)
                if (now_ - question.asked > ClusterNode::kWaitMax + milliseconds(1))
                    return fail(node->name + " waits for ever");
    }
    // Acts as a player's node would now: it pulls from the owner at once, and the owner does not pull.
    void check_found(std::size_t number, const std::string& owner) {
        Node& node = *nodes_[below(nodes_.size())];
        ClusterNode& cluster_node = *node.cluster_node;
        cluster_node.find(stream_of(number), local(node));
        while (auto command = cluster_node.poll_command())
            cluster_node.handle_answer(command->id, registry_.execute(*command, now_), local(node));
        std::string place;
        while (auto notice = cluster_node.poll_notice())
            if (const auto* found = std::get_if<FindDecided>(&*notice)) {
                const auto* there = std::get_if<There>(&found->where);
                place = there != nullptr ? there->node.id : std::holds_alternative<Here>(found->where) ? node.name : "?";
            }
        if (place != owner)
            fail(node.name + " finds " + stream_of(number) + " at " + place + ", expected " + owner);
    }

    const SimulationSize size_;
    std::mt19937_64 random_;
    const std::string secret_;
    TimePoint now_ = kStart;
    ModelRegistry registry_;
    bool is_down_ = false;
    bool are_faults_on_ = true;
    TimePoint registry_paused_until_{};
    std::vector<std::unique_ptr<Node>> nodes_;
    std::vector<Publisher> publishers_;
    std::optional<SimulatedPulls> pulls_;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    std::uint64_t numbers_ = 0;
    std::string problem_;
    std::uint64_t commands_ = 0, lost_ = 0, faults_ = 0;
    std::size_t most_per_second_ = 0;
};

}  // namespace live::engine::cluster
