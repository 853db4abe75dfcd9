#include "engine/cluster/cluster_node.hpp"

#include <gtest/gtest.h>

#include "engine/cluster/model_registry_fixture.hpp"

namespace live::engine::cluster {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kStart{std::chrono::hours(1)};

NodeRecord record_of(const std::string& id, std::uint64_t run = 1) {
    NodeRecord node;
    node.id = id;
    node.run = run;
    node.host = "192.0.2.1";
    node.rtmp_port = 1935;
    return node;
}

// Nodes at one registry, which answers at once unless it is stopped.
class Cluster {
public:
    struct Node {
        explicit Node(const std::string& id, std::uint64_t run = 1, const std::string& secret = {})
            : cluster_node({std::chrono::seconds(2), std::chrono::seconds(8), secret}, record_of(id, run), run) {}
        ClusterNode cluster_node;
        std::vector<Notice> notices;
        std::vector<Command> unanswered;
        std::size_t commands = 0;
    };

    Node& add(const std::string& id, std::uint64_t run = 1, const std::string& secret = {}) {
        nodes.push_back(std::make_unique<Node>(id, run, secret));
        nodes.back()->cluster_node.set_self(record_of(id, run), 5, now);
        nodes.back()->cluster_node.handle_connected(now);
        settle();
        return *nodes.back();
    }
    // Runs all that is due now.
    void settle() {
        for (bool any = true; any;) {
            any = false;
            for (const auto& node : nodes) {
                while (auto command = node->cluster_node.poll_command()) {
                    any = true;
                    ++node->commands;
                    if (is_silent)
                        node->unanswered.push_back(*std::move(command));
                    else
                        node->cluster_node.handle_answer(command->id, registry.execute(*command, now), now);
                }
                while (auto notice = node->cluster_node.poll_notice())
                    node->notices.push_back(*std::move(notice));
            }
            for (const std::string& event : registry.take_events())
                for (const auto& node : nodes)
                    if (hears_events)
                        node->cluster_node.handle_event(event, now);
        }
    }
    void run(Duration length) {
        const TimePoint end = now + length;
        for (; now < end; now += milliseconds(10)) {
            for (const auto& node : nodes)
                node->cluster_node.handle_timeout(now);
            settle();
        }
    }
    Verdict publish(Node& node, const std::string& stream, bool replaces = false, const std::optional<NodeRun>& dead = {}) {
        const std::uint64_t ticket = node.cluster_node.publish(stream, replaces, 5, now, dead);
        settle();
        if (is_silent)
            run(ClusterNode::kWaitMax + milliseconds(20));
        const auto* decided = newest<PublishDecided>(node);
        EXPECT_TRUE(decided != nullptr && decided->ticket == ticket);
        if (decided->verdict == Verdict::granted || decided->verdict == Verdict::unregistered)
            node.cluster_node.confirm(stream, 5, now);
        settle();
        return decided->verdict;
    }
    StreamLocation find(Node& node, const std::string& stream) {
        const std::uint64_t ticket = node.cluster_node.find(stream, now);
        settle();
        if (is_silent)
            run(ClusterNode::kWaitMax + milliseconds(20));
        const auto* decided = newest<FindDecided>(node);
        EXPECT_TRUE(decided != nullptr && decided->ticket == ticket);
        return decided->where;
    }
    template <class Kind>
    static const Kind* newest(const Node& node) {
        for (auto notice = node.notices.rbegin(); notice != node.notices.rend(); ++notice)
            if (const auto* found = std::get_if<Kind>(&*notice))
                return found;
        return nullptr;
    }

    TimePoint now = kStart;
    ModelRegistry registry;
    std::vector<std::unique_ptr<Node>> nodes;
    bool is_silent = false;
    bool hears_events = true;
};

std::string place_of(const StreamLocation& where) {
    if (const auto* there = std::get_if<There>(&where))
        return there->node.id;
    return std::holds_alternative<Here>(where) ? "here" : std::holds_alternative<Nowhere>(where) ? "nowhere" : "unknown";
}

TEST(ClusterNode, PublishesAndFinds) {
    Cluster cluster;
    auto& a = cluster.add("a");
    auto& b = cluster.add("b");
    EXPECT_EQ(place_of(cluster.find(b, "/live/cam")), "nowhere");
    EXPECT_EQ(cluster.publish(a, "/live/cam"), Verdict::granted);
    EXPECT_NE(Cluster::newest<Moved>(b), nullptr);
    EXPECT_EQ(place_of(cluster.find(b, "/live/cam")), "a") << "the event invalidated the old answer";
    EXPECT_EQ(place_of(cluster.find(a, "/live/cam")), "here");
    a.cluster_node.unpublish("/live/cam", cluster.now);
    cluster.settle();
    EXPECT_EQ(place_of(cluster.find(b, "/live/cam")), "nowhere");
    EXPECT_EQ(cluster.registry.streams(), 0U);
}

TEST(ClusterNode, SecondPublisherIsRefusedOrTakesOver) {
    Cluster cluster;
    auto& a = cluster.add("a");
    auto& b = cluster.add("b");
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::granted);
    EXPECT_EQ(cluster.publish(b, "s"), Verdict::refused);
    EXPECT_EQ(Cluster::newest<PublishDecided>(b)->holder, "a");
    EXPECT_FALSE(b.cluster_node.streams().contains("s"));
    EXPECT_EQ(cluster.publish(b, "s", true), Verdict::granted);
    cluster.run(milliseconds(200));
    const auto* lost = Cluster::newest<Lost>(a);
    ASSERT_NE(lost, nullptr);
    EXPECT_EQ(lost->stream + " " + lost->to, "s b");
    EXPECT_FALSE(a.cluster_node.streams().contains("s"));
    EXPECT_EQ(cluster.registry.owner("s", cluster.now)->epoch, 2U);
}

// A killed process keeps its lease for some seconds.
TEST(ClusterNode, DeadOwnerLosesStreams) {
    Cluster cluster;
    auto& a = cluster.add("a", 7);
    auto& b = cluster.add("b");
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::granted);
    EXPECT_EQ(cluster.publish(b, "s", false, NodeRun{"a", 6}), Verdict::refused) << "another run is dead";
    EXPECT_EQ(cluster.publish(b, "s", false, NodeRun{"c", 7}), Verdict::refused) << "another node is dead";
    EXPECT_EQ(cluster.publish(b, "s", false, NodeRun{"a", 7}), Verdict::granted);
    auto& c = cluster.add("c");
    EXPECT_EQ(cluster.publish(c, "s", false, NodeRun{"a", 7}), Verdict::refused) << "b was faster, and its process runs";
    EXPECT_EQ(cluster.registry.owner("s", cluster.now)->node, "b");
}

// Its publishers are requested to continue elsewhere, and join there before they leave here.
TEST(ClusterNode, DrainingNodeLosesStreamsToPublishers) {
    Cluster cluster;
    auto& a = cluster.add("a");
    auto& b = cluster.add("b");
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::granted);
    EXPECT_EQ(cluster.publish(b, "s"), Verdict::refused);
    NodeRecord self = a.cluster_node.self();
    self.state = NodeRecord::State::draining;
    a.cluster_node.set_self(self, 0, cluster.now);
    a.cluster_node.announce_state(cluster.now);
    cluster.settle();
    EXPECT_EQ(cluster.publish(b, "s"), Verdict::granted) << "at once";
    cluster.run(milliseconds(200));
    ASSERT_NE(Cluster::newest<Lost>(a), nullptr);
    EXPECT_EQ(Cluster::newest<Lost>(a)->to, "b");
}

TEST(ClusterNode, EndedLeaseOwnsNothing) {
    Cluster cluster;
    auto& a = cluster.add("a");
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::granted);
    auto& b = cluster.add("b");
    // Another run of the same node does not own what the first one did.
    cluster.nodes.erase(cluster.nodes.begin());
    auto& again = cluster.add("a", 2);
    EXPECT_EQ(place_of(cluster.find(b, "s")), "nowhere");
    EXPECT_EQ(cluster.publish(b, "s"), Verdict::granted);
    EXPECT_EQ(place_of(cluster.find(again, "s")), "b");
}

TEST(ClusterNode, PublishesAndPlaysWithoutARegistry) {
    Cluster cluster;
    auto& a = cluster.add("a");
    auto& b = cluster.add("b");
    EXPECT_EQ(cluster.publish(a, "old"), Verdict::granted);
    EXPECT_EQ(place_of(cluster.find(b, "old")), "a");
    cluster.is_silent = true;
    EXPECT_EQ(cluster.publish(a, "new"), Verdict::unregistered);
    cluster.run(std::chrono::seconds(10));
    EXPECT_FALSE(a.cluster_node.is_up());
    const TimePoint asked = cluster.now;
    b.cluster_node.find("old", asked);
    cluster.settle();
    EXPECT_EQ(place_of(Cluster::newest<FindDecided>(b)->where), "a") << "at once, from what was known";
    b.cluster_node.find("new", asked);
    cluster.settle();
    EXPECT_EQ(place_of(Cluster::newest<FindDecided>(b)->where), "unknown");
    EXPECT_TRUE(a.cluster_node.streams().contains("old") && a.cluster_node.streams().contains("new"));
    EXPECT_EQ(a.cluster_node.streams().unannounced(), 1U);
    // The connection is lost, and the registry restarts empty.
    cluster.registry.clear();
    cluster.is_silent = false;
    for (const auto& node : cluster.nodes) {
        node->unanswered.clear();
        node->cluster_node.handle_disconnected(cluster.now);
        node->cluster_node.handle_connected(cluster.now);
    }
    cluster.run(std::chrono::seconds(2));
    EXPECT_EQ(cluster.registry.streams(), 2U);
    EXPECT_EQ(place_of(cluster.find(b, "new")), "a");
    EXPECT_EQ(a.cluster_node.streams().unannounced(), 0U);
}

// Its kernel accepts the commands, and the registry answers none.
TEST(ClusterNode, RecoversAfterTenMinutesWithoutAnswers) {
    Cluster cluster;
    auto& a = cluster.add("a");
    auto& b = cluster.add("b");
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(cluster.publish(a, "s" + std::to_string(i)), Verdict::granted);
    EXPECT_EQ(place_of(cluster.find(b, "s0")), "a");
    cluster.is_silent = true;
    cluster.run(std::chrono::minutes(9));
    EXPECT_EQ(place_of(cluster.find(b, "s0")), "a") << "from the cache";
    EXPECT_EQ(cluster.publish(b, "late"), Verdict::unregistered);
    const std::size_t before = a.commands;
    cluster.run(std::chrono::minutes(1));
    EXPECT_LE(a.commands - before, 34U) << "heartbeats only";
    cluster.is_silent = false;
    for (const auto& node : cluster.nodes)
        for (const Command& command : std::exchange(node->unanswered, {}))
            node->cluster_node.handle_answer(command.id, cluster.registry.execute(command, cluster.now), cluster.now);
    cluster.run(std::chrono::seconds(10));
    EXPECT_EQ(a.cluster_node.streams().size(), 50U);
    EXPECT_EQ(a.cluster_node.streams().unannounced() + b.cluster_node.streams().unannounced(), 0U);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(cluster.registry.owner("s" + std::to_string(i), cluster.now)->node, "a");
    EXPECT_EQ(cluster.registry.owner("late", cluster.now)->node, "b");
    EXPECT_TRUE(Cluster::newest<Lost>(a) == nullptr && Cluster::newest<Lost>(b) == nullptr);
}

// Answers that a paused registry sends when it resumes.
TEST(ClusterNode, AcceptsLateAnswers) {
    Cluster cluster;
    auto& a = cluster.add("a");
    cluster.is_silent = true;
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::unregistered);
    cluster.run(std::chrono::seconds(7));
    EXPECT_FALSE(a.cluster_node.is_up());
    cluster.is_silent = false;
    for (const Command& command : std::exchange(a.unanswered, {}))
        a.cluster_node.handle_answer(command.id, cluster.registry.execute(command, cluster.now), cluster.now);
    EXPECT_TRUE(a.cluster_node.is_up());
    EXPECT_EQ(a.cluster_node.streams().unannounced(), 0U);
    cluster.run(std::chrono::seconds(3));
    EXPECT_EQ(cluster.registry.owner("s", cluster.now)->node, "a");
}

// The machine of the registry is busy: only unconfirmed streams are announced again.
TEST(ClusterNode, SendsOnlyPostponedAnnouncementsToLateRegistry) {
    Cluster cluster;
    auto& a = cluster.add("a");
    auto& b = cluster.add("b");
    for (int i = 0; i < 1'000; ++i)
        EXPECT_EQ(cluster.publish(a, "s" + std::to_string(i)), Verdict::granted);
    cluster.run(std::chrono::seconds(1));
    cluster.is_silent = true;
    for (int i = 0; i < RegistryQueue::kTimeoutsMax; ++i)
        cluster.find(a, "other" + std::to_string(i));
    EXPECT_FALSE(a.cluster_node.is_up());
    EXPECT_EQ(cluster.publish(a, "late"), Verdict::unregistered);
    // An event that names another owner of one stream.
    a.cluster_node.handle_event("moved|b|1|9|s7", cluster.now);
    cluster.run(milliseconds(500));
    cluster.is_silent = false;
    const std::size_t before = a.commands;
    for (const auto& node : {&a, &b})
        for (const Command& command : std::exchange(node->unanswered, {}))
            node->cluster_node.handle_answer(command.id, cluster.registry.execute(command, cluster.now), cluster.now);
    cluster.run(std::chrono::seconds(3));
    EXPECT_TRUE(a.cluster_node.is_up());
    EXPECT_EQ(a.cluster_node.streams().unannounced(), 0U);
    EXPECT_EQ(cluster.registry.owner("late", cluster.now)->node, "a");
    EXPECT_GE(a.commands, before + 2) << "late and s7";
    EXPECT_LE(a.commands, before + 12);
}

TEST(ClusterNode, AnnouncesAgainAfterLossOfData) {
    Cluster cluster;
    auto& a = cluster.add("a");
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(cluster.publish(a, "s" + std::to_string(i)), Verdict::granted);
    cluster.run(std::chrono::seconds(5));
    cluster.registry.clear();
    cluster.run(std::chrono::seconds(4));
    EXPECT_EQ(cluster.registry.streams(), 100U);
}

TEST(ClusterNode, DetectsDuplicateNodeIds) {
    Cluster cluster;
    auto& a = cluster.add("a", 1);
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(cluster.publish(a, "s" + std::to_string(i)), Verdict::granted);
    cluster.run(std::chrono::seconds(3));
    EXPECT_EQ(a.cluster_node.counts().duplicate_node_ids, 0U);
    const std::size_t before = a.commands;
    auto& again = cluster.add("a", 2);
    cluster.run(std::chrono::seconds(10));
    EXPECT_GE(a.cluster_node.counts().duplicate_node_ids, 3U);
    EXPECT_GE(again.cluster_node.counts().duplicate_node_ids, 3U)
        << "the first heartbeat of a process may find its predecessor's lease";
    EXPECT_LE(a.commands, before + 10) << "its streams are not announced at each heartbeat";
}

TEST(ClusterNode, HigherClaimWinsAfterPartition) {
    Cluster cluster;
    auto& a = cluster.add("a");
    auto& b = cluster.add("b");
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::granted);
    a.cluster_node.handle_disconnected(cluster.now);
    // b waits for the length of the lease.
    EXPECT_EQ(cluster.publish(b, "s"), Verdict::refused);
    cluster.run(std::chrono::seconds(9));
    EXPECT_EQ(cluster.publish(b, "s"), Verdict::granted);
    EXPECT_TRUE(a.cluster_node.streams().contains("s"));
    a.cluster_node.handle_connected(cluster.now);
    cluster.run(std::chrono::seconds(2));
    EXPECT_FALSE(a.cluster_node.streams().contains("s"));
    EXPECT_TRUE(b.cluster_node.streams().contains("s"));
    ASSERT_NE(Cluster::newest<Lost>(a), nullptr);
    EXPECT_EQ(Cluster::newest<Lost>(a)->to, "b");
    EXPECT_EQ(Cluster::newest<Lost>(b), nullptr);
}

TEST(ClusterNode, HigherNodeWinsBetweenTwoAdmittedWithoutRegistry) {
    Cluster cluster;
    auto& a = cluster.add("a");
    auto& b = cluster.add("b");
    for (const auto& node : cluster.nodes)
        node->cluster_node.handle_disconnected(cluster.now);
    EXPECT_EQ(cluster.publish(b, "s"), Verdict::unregistered);
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::unregistered);
    for (const auto& node : cluster.nodes)
        node->cluster_node.handle_connected(cluster.now);
    cluster.run(std::chrono::seconds(3));
    EXPECT_TRUE(b.cluster_node.streams().contains("s") && !a.cluster_node.streams().contains("s"));
}

// A forged event costs at most one command.
TEST(ClusterNode, TreatsEventsAsHints) {
    Cluster cluster;
    auto& a = cluster.add("a");
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::granted);
    const std::size_t before = a.commands;
    for (int i = 0; i < 1'000; ++i)
        a.cluster_node.handle_event("moved|evil|1|9007199254740992|s", cluster.now);
    for (const char* text : {"", "moved", "moved|a b|1|1|s", "\xFF"})
        a.cluster_node.handle_event(text, cluster.now);
    cluster.run(milliseconds(300));
    EXPECT_TRUE(a.cluster_node.streams().contains("s"));
    EXPECT_LE(a.commands, before + 2);
    EXPECT_EQ(a.cluster_node.counts().malformed, 4U);
    a.cluster_node.handle_event("kick|a|1|0|s", cluster.now);
    cluster.settle();
    EXPECT_NE(Cluster::newest<Kicked>(a), nullptr);
}

TEST(ClusterNode, TreatsMalformedAnswersAsNowhere) {
    Cluster cluster;
    auto& a = cluster.add("a");
    cluster.is_silent = true;
    const std::pair<const char*, const char*> wrong[] = {{"x", "1|h|1|1|1||up|0|0|"},
                                                         {"b|1|1|1", "x"},
                                                         {"b|1|1|1", "2|h|1|1|1||up|0|0|"},
                                                         {"b|1|1|1", ""},
                                                         {"a|1|1|1", "1|h|1|1|1||up|0|0|"}};
    int number = 0;
    for (const auto& [own, node] : wrong) {
        a.unanswered.clear();
        a.cluster_node.find("s" + std::to_string(number++), cluster.now);
        cluster.settle();
        ASSERT_EQ(a.unanswered.size(), 1U);
        a.cluster_node.handle_answer(a.unanswered[0].id, StreamLookupDone{own, node}, cluster.now);
        cluster.settle();
        EXPECT_EQ(place_of(Cluster::newest<FindDecided>(a)->where), "nowhere") << own << " " << node;
    }
    // An answer to another command is ignored.
    a.unanswered.clear();
    a.cluster_node.find("t", cluster.now);
    cluster.settle();
    a.cluster_node.handle_answer(a.unanswered.at(0).id, BeatDone{true}, cluster.now);
    cluster.settle();
    EXPECT_EQ(place_of(Cluster::newest<FindDecided>(a)->where), "unknown");
}

TEST(ClusterNode, NodesWithASecretAcceptOnlySignedRecords) {
    Cluster cluster;
    auto& a = cluster.add("a", 1, "hush");
    auto& b = cluster.add("b", 1, "hush");
    auto& stranger = cluster.add("stranger", 1, "guessed");
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::granted);
    EXPECT_EQ(place_of(cluster.find(b, "s")), "a");
    EXPECT_EQ(place_of(cluster.find(stranger, "s")), "nowhere");
    EXPECT_EQ(cluster.publish(stranger, "t"), Verdict::granted) << "by its own rule";
    EXPECT_EQ(place_of(cluster.find(b, "t")), "nowhere") << "no player is sent to a stranger";
    cluster.run(std::chrono::seconds(20));
    ASSERT_EQ(b.cluster_node.neighbours().size(), 1U);
    EXPECT_EQ(b.cluster_node.neighbours()[0].id, "a");
    EXPECT_GT(b.cluster_node.counts().malformed, 0U);
    // Orders are signed too.
    b.cluster_node.handle_event("drain|a|1|0|", cluster.now);
    EXPECT_EQ(b.cluster_node.neighbours()[0].state, NodeRecord::State::up);
    a.cluster_node.handle_event("kick|a|1|0|s", cluster.now);
    cluster.settle();
    EXPECT_EQ(Cluster::newest<Kicked>(a), nullptr);
    Event drain{Event::Kind::drain, "a", 1, 0, {}};
    a.cluster_node.seal().put_on(drain);
    b.cluster_node.handle_event(text_of(drain), cluster.now);
    EXPECT_EQ(b.cluster_node.neighbours()[0].state, NodeRecord::State::draining);
}

// A client of the registry without the secret replays signed records.
TEST(ClusterNode, IgnoresReplayedRecords) {
    Cluster cluster;
    auto& a = cluster.add("a", 1, "hush");
    auto& b = cluster.add("b", 1, "hush");
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::granted);
    cluster.run(milliseconds(100));
    const StreamLookupDone old = std::get<StreamLookupDone>(cluster.registry.execute({0, StreamLookup{"s"}}, cluster.now));
    const OwnRecord first = MUST(parse_own(old.own));
    EXPECT_TRUE(a.cluster_node.seal().is_good(first, "s")) << "signed with the epoch that was counted";
    a.cluster_node.unpublish("s", cluster.now);
    cluster.settle();
    EXPECT_EQ(cluster.publish(b, "s"), Verdict::granted);
    cluster.run(milliseconds(100));
    // With another epoch, it would take the stream from its owner.
    OwnRecord forged = first;
    forged.epoch = 1'000;
    cluster.registry.put("s", forged);
    b.cluster_node.handle_event("moved|a|1|1000|s", cluster.now);
    cluster.run(std::chrono::seconds(10));
    EXPECT_EQ(b.cluster_node.counts().lost, 0U);
    EXPECT_TRUE(b.cluster_node.streams().contains("s"));
    EXPECT_EQ(cluster.registry.owner("s", cluster.now)->node, "b") << "its node writes the record again";
    // A node that has ended; another host may have its address.
    cluster.nodes.erase(cluster.nodes.begin());
    cluster.run(Seal::kWindow + std::chrono::seconds(10));
    cluster.registry.put(MUST(parse_node("a", old.node)), cluster.now + std::chrono::hours(1));
    cluster.run(std::chrono::seconds(20));
    EXPECT_TRUE(b.cluster_node.neighbours().empty());
    cluster.registry.put("t", first);
    EXPECT_EQ(place_of(cluster.find(b, "t")), "nowhere");
}

TEST(ClusterNode, KickEndsOnePublisher) {
    Cluster cluster;
    auto& a = cluster.add("a", 1, "hush");
    EXPECT_EQ(cluster.publish(a, "s"), Verdict::granted);
    Event kick{Event::Kind::kick, "a", 1, static_cast<std::uint64_t>(a.cluster_node.streams().find("s")->since), "s"};
    a.cluster_node.seal().put_on(kick);
    a.cluster_node.handle_event(text_of(kick), cluster.now);
    cluster.settle();
    EXPECT_NE(Cluster::newest<Kicked>(a), nullptr);
    a.cluster_node.unpublish("s", cluster.now);
    cluster.settle();
    a.notices.clear();
    a.cluster_node.publish("s", false, 6, cluster.now);
    cluster.settle();
    ASSERT_TRUE(a.cluster_node.streams().contains("s"));
    a.cluster_node.handle_event(text_of(kick), cluster.now);
    cluster.settle();
    EXPECT_EQ(Cluster::newest<Kicked>(a), nullptr) << "it was for another publisher";
}

TEST(ClusterNode, SharesOneCommandBetweenLookups) {
    Cluster cluster;
    auto& a = cluster.add("a");
    cluster.is_silent = true;
    const std::size_t before = a.commands;
    for (int i = 0; i < 1'000; ++i)
        a.cluster_node.find("s", cluster.now);
    cluster.settle();
    EXPECT_EQ(a.commands, before + 1);
    a.notices.clear();
    cluster.run(ClusterNode::kWaitMax + milliseconds(20));
    EXPECT_EQ(a.notices.size(), 1'000U) << "all are answered in time";
}

// A join looks the stream up three times: where to send the player, whether to pull, and where from.
TEST(ClusterNode, AnswersAtOnceWhileAnAnswerIsLate) {
    Cluster cluster;
    auto& a = cluster.add("a");
    auto& b = cluster.add("b");
    EXPECT_EQ(cluster.publish(b, "s"), Verdict::granted);
    cluster.is_silent = true;
    EXPECT_EQ(place_of(cluster.find(a, "s")), "unknown");
    EXPECT_TRUE(a.cluster_node.is_up());
    const std::size_t before = a.commands;
    a.notices.clear();
    a.cluster_node.find("s", cluster.now);
    cluster.settle();
    ASSERT_NE(Cluster::newest<FindDecided>(a), nullptr) << "at once";
    EXPECT_EQ(a.commands, before);
    // The late answer arrives.
    cluster.is_silent = false;
    for (const Command& command : std::exchange(a.unanswered, {}))
        a.cluster_node.handle_answer(command.id, cluster.registry.execute(command, cluster.now), cluster.now);
    EXPECT_EQ(place_of(cluster.find(a, "s")), "b");
    // The answer does not arrive, and the connection is lost.
    cluster.is_silent = true;
    a.cluster_node.forget("s");
    EXPECT_EQ(place_of(cluster.find(a, "s")), "b") << "from the cache";
    cluster.is_silent = false;
    a.cluster_node.handle_disconnected(cluster.now);
    a.cluster_node.handle_connected(cluster.now);
    cluster.settle();
    const std::size_t asked = a.commands;
    EXPECT_EQ(place_of(cluster.find(a, "s")), "b");
    EXPECT_EQ(a.commands, asked + 1);
}

TEST(ClusterNode, BoundsUnansweredCommands) {
    Cluster cluster;
    auto& a = cluster.add("a");
    cluster.is_silent = true;
    for (std::size_t i = 0; i < 2 * RegistryQueue::kInFlightMax; ++i)
        a.cluster_node.find("s" + std::to_string(i), cluster.now);
    cluster.settle();
    EXPECT_EQ(a.unanswered.size(), RegistryQueue::kInFlightMax);
    EXPECT_EQ(a.notices.size(), RegistryQueue::kInFlightMax) << "the others are answered at once";
}

TEST(ClusterNode, RemovesUnconfirmedPublisher) {
    Cluster cluster;
    auto& a = cluster.add("a");
    a.cluster_node.publish("s", false, 5, cluster.now);
    cluster.run(OwnedStreams::kConfirmWithin + std::chrono::seconds(1));
    EXPECT_FALSE(a.cluster_node.streams().contains("s"));
    EXPECT_EQ(cluster.registry.streams(), 0U);
}

TEST(ClusterNode, IdleNodeSendsFewCommands) {
    Cluster cluster;
    auto& a = cluster.add("a");
    for (int i = 0; i < 1'000; ++i)
        cluster.publish(a, "s" + std::to_string(i));
    cluster.run(std::chrono::seconds(2));
    const std::size_t before = a.commands;
    cluster.run(std::chrono::seconds(60));
    EXPECT_GE(a.commands - before, 30U);
    EXPECT_LE(a.commands - before, 30U + 12 + 4) << "heartbeats, lists and announcements";
}

TEST(ClusterNode, ListsNeighbours) {
    Cluster cluster;
    auto& a = cluster.add("a");
    cluster.add("b");
    cluster.run(std::chrono::seconds(20));
    ASSERT_EQ(a.cluster_node.neighbours().size(), 1U);
    EXPECT_EQ(a.cluster_node.neighbours()[0].id, "b");
    a.cluster_node.handle_event("drain|b|1|0|", cluster.now);
    EXPECT_EQ(a.cluster_node.neighbours()[0].state, NodeRecord::State::draining);
}

}  // namespace
}  // namespace live::engine::cluster
