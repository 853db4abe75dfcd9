#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "engine/cluster/simulation_fixture.hpp"

namespace live::engine::cluster {
namespace {

std::uint64_t said(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// CLUSTER_SEED=first CLUSTER_SEEDS=count CLUSTER_NODES=200 CLUSTER_STREAMS=20000 make it longer; CLUSTER_SEED alone repeats one.
TEST(ClusterSimulation, ComesRightAfterEveryFault) {
    SimulationSize size;
    size.nodes = said("CLUSTER_NODES", size.nodes);
    size.streams = said("CLUSTER_STREAMS", size.streams);
    const std::uint64_t first = said("CLUSTER_SEED", 1);
    const std::uint64_t count = said("CLUSTER_SEEDS", std::getenv("CLUSTER_SEED") == nullptr ? 40 : 1);
    std::uint64_t commands = 0, lost = 0, faults = 0;
    std::size_t most = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        Simulation simulation(seed, size);
        const std::string problem = simulation.run();
        ASSERT_EQ(problem, "") << "CLUSTER_SEED=" << seed << " CLUSTER_NODES=" << size.nodes
                               << " CLUSTER_STREAMS=" << size.streams;
        commands += simulation.commands();
        lost += simulation.lost();
        faults += simulation.faults();
        most = std::max(most, simulation.most_per_second());
    }
    EXPECT_GT(faults, 0U);
    if (count >= 40) {
        EXPECT_GT(lost, 0U) << "the faults make no conflicts";
    }
    std::cout << count << " seeds: " << faults << " faults, " << lost << " streams lost, " << commands << " commands, at most "
              << most << " of a node in a second\n";
}

TEST(ClusterSimulation, ASeedGivesTheSameRun) {
    const auto run = [] {
        Simulation simulation(7, {});
        const std::string problem = simulation.run();
        return problem + std::to_string(simulation.commands()) + " " + std::to_string(simulation.lost());
    };
    EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace live::engine::cluster
