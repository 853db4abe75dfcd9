#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/rounds_fixture.hpp"
#include "engine/cluster/simulation_fixture.hpp"

namespace live::engine::cluster {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void add(SimulatedPulls::Figures& sum, const SimulatedPulls::Figures& one) {
    sum.calls += one.calls;
    sum.handed_on += one.handed_on;
    sum.loops += one.loops;
    sum.excess += one.excess;
    sum.longest_loop = std::max(sum.longest_loop, one.longest_loop);
    sum.most_direct = std::max(sum.most_direct, one.most_direct);
    sum.most_fed = std::max(sum.most_fed, one.most_fed);
    sum.depth = std::max(sum.depth, one.depth);
}

// CLUSTER_SEED=first CLUSTER_SEEDS=count CLUSTER_NODES=200 CLUSTER_STREAMS=20000 make it longer; CLUSTER_SEED alone repeats one
// seed.
TEST(ClusterSimulation, RecoversFromEveryFault) {
    SimulationSize size;
    size.nodes = number_from("CLUSTER_NODES", size.nodes);
    size.streams = number_from("CLUSTER_STREAMS", size.streams);
    if (size.nodes > 2 * PullerTree::kDirectMax)
        size.direct_max = PullerTree::kDirectMax;
    const std::uint64_t first = number_from("CLUSTER_SEED", 1);
    const std::uint64_t count = number_from("CLUSTER_SEEDS", std::getenv("CLUSTER_SEED") == nullptr ? rounds(6U, 200U) : 1);
    std::uint64_t commands = 0, lost = 0, faults = 0;
    std::size_t most = 0;
    SimulatedPulls::Figures pulls;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        Simulation simulation(seed, size);
        const std::string problem = simulation.run();
        ASSERT_EQ(problem, "") << "CLUSTER_SEED=" << seed << " CLUSTER_NODES=" << size.nodes
                               << " CLUSTER_STREAMS=" << size.streams;
        commands += simulation.commands();
        lost += simulation.lost();
        faults += simulation.faults();
        most = std::max(most, simulation.most_per_second());
        add(pulls, simulation.pulls());
    }
    EXPECT_GT(faults, 0U);
    if (count >= 6) {
        EXPECT_GT(lost, 0U) << "the faults make no conflicts";
    }
    std::cout << count << " seeds: " << faults << " faults, " << lost << " streams lost, " << commands << " commands, at most "
              << most << " of a node in a second; " << pulls.calls << " calls for hot streams, " << pulls.handed_on
              << " handed on, " << pulls.excess << " in excess at the end, " << pulls.loops << " in circles for a while (at most "
              << pulls.longest_loop / std::chrono::milliseconds(1) << " ms), at most " << pulls.most_direct
              << " nodes fed by an owner and " << pulls.most_fed << " by another one, depth " << pulls.depth << "\n";
}

TEST(ClusterSimulation, RecoversWithinTenSecondsAfterTenMinutesWithoutARegistry) {
    for (std::uint64_t seed = 1; seed <= rounds(2U, 4U); ++seed) {
        Simulation simulation(seed, {});
        EXPECT_EQ(simulation.run_without_registry(std::chrono::minutes(10), std::chrono::seconds(10)), "") << seed;
    }
}

TEST(ClusterSimulation, RepeatsSeed) {
    const auto run = [] {
        Simulation simulation(7, {});
        const std::string problem = simulation.run();
        return problem + std::to_string(simulation.commands()) + " " + std::to_string(simulation.lost());
    };
    EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace live::engine::cluster
