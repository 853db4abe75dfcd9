#include "session/limits/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::session {
namespace {

using Kind = MemoryBudget::Kind;

constexpr std::size_t kMax = 4'000;
constexpr std::size_t kUnfinishedMax = kMax / MemoryBudget::kUnfinishedPart;

struct Hoarder final : MemoryBudget::Holder {
    Hoarder(MemoryBudget& memory, std::string from, Kind kind = Kind::unfinished)
        : ip(std::move(from)), use(memory, kind, *this) {}
    std::string_view address() const override { return ip; }
    void lose_memory(std::string said) override { why = std::move(said); }
    bool has_lost() const { return !why.empty(); }

    std::string ip;
    std::string why;
    MemoryBudget::Use use;
};

struct MemoryBudgetTest : ::testing::Test {
    MemoryBudgetTest() { memory.set_max(kMax); }
    Log log;
    ConnectionLimits places{10, log};
    MemoryBudget& memory = places.memory();
};

MemoryHolding held(std::size_t bytes, std::uint8_t group) {
    IpAddress address;
    address.bytes[15] = group;
    return {bytes, address};
}

TEST(Greediest, IsTheLargestOfTheAddressThatHoldsMost) {
    EXPECT_EQ(greediest({}), std::nullopt);
    EXPECT_EQ(greediest(std::vector{held(0, 1)}), std::nullopt);
    EXPECT_EQ(greediest(std::vector{held(5, 1), held(7, 2), held(6, 3)}), 1U);
    EXPECT_EQ(greediest(std::vector{held(9, 1), held(4, 2), held(6, 2)}), 2U) << "many small ones of one address are worse";
    EXPECT_EQ(greediest(std::vector{MemoryHolding{9, {}}, MemoryHolding{8, {}}, held(10, 1)}), 2U)
        << "the trusted do not count together";
}

TEST_F(MemoryBudgetTest, AWorkerHasTheRestAndAtLeastItsShare) {
    memory.set_max(3'000, 1'000);
    EXPECT_EQ(memory.max(), 3'000U);
    memory.set_others(500);
    EXPECT_EQ(memory.max(), 2'500U);
    memory.set_others(2'700);
    EXPECT_EQ(memory.max(), 1'000U);
    memory.set_others(99'000);
    EXPECT_EQ(memory.max(), 1'000U);
    EXPECT_EQ(memory.whole(), 3'000U);
    memory.set_max(6'000, 2'000);
    EXPECT_EQ(memory.max(), 2'000U);
    memory.set_max(kMax);
    memory.set_others(0);
    EXPECT_EQ(memory.max(), kMax);
}

TEST_F(MemoryBudgetTest, CountsHeldAndReleasedMemory) {
    {
        Hoarder first(memory, "192.0.2.1");
        Hoarder second(memory, "192.0.2.2", Kind::buffers);
        first.use.set(100);
        second.use.set(50);
        first.use.set(70);
        EXPECT_EQ(memory.bytes(Kind::unfinished), 70U);
        EXPECT_EQ(memory.bytes(Kind::buffers), 50U);
        memory.set_streams(1'000, 400);
        EXPECT_EQ(memory.used(), 1'120U);
        EXPECT_EQ(memory.uses().size(), 2U);
    }
    EXPECT_EQ(memory.used(), 1'000U);
    EXPECT_TRUE(memory.uses().empty());
}

TEST_F(MemoryBudgetTest, OnlyTheLargestHoldingLosesAboveTheBoundOfUnfinished) {
    Hoarder small(memory, "192.0.2.1");
    Hoarder greedy(memory, "192.0.2.2");
    Hoarder buffered(memory, "192.0.2.3", Kind::buffers);
    buffered.use.set(3'000);
    small.use.set(200);
    greedy.use.set(kUnfinishedMax - 200);
    EXPECT_FALSE(greedy.has_lost());
    small.use.set(201);
    EXPECT_TRUE(greedy.has_lost());
    EXPECT_NE(greedy.why.find("memory_budget"), std::string::npos) << greedy.why;
    EXPECT_FALSE(small.has_lost() || buffered.has_lost());
    EXPECT_EQ(memory.bytes(Kind::unfinished), 201U) << "what was lost is on its way back";
    EXPECT_EQ(memory.losses(), 1U);
    greedy.use.set(5'000);
    EXPECT_EQ(memory.bytes(Kind::unfinished), 201U);
}

TEST_F(MemoryBudgetTest, ManyConnectionsOfOneAddressLoseBeforeALargerOneAlone) {
    Hoarder alone(memory, "198.51.100.1");
    alone.use.set(300);
    std::vector<std::unique_ptr<Hoarder>> many;
    for (int i = 0; i < 20; ++i) {
        many.push_back(std::make_unique<Hoarder>(memory, "192.0.2.9"));
        many.back()->use.set(100);
    }
    EXPECT_FALSE(alone.has_lost());
    EXPECT_EQ(std::ranges::count_if(many, [](const auto& client) { return client->has_lost(); }), 13);
    EXPECT_LE(memory.bytes(Kind::unfinished), kUnfinishedMax);
}

TEST_F(MemoryBudgetTest, IsTightFromSevenTenths) {
    memory.set_streams(2'800, 0);
    EXPECT_FALSE(memory.is_tight());
    memory.set_streams(2'801, 0);
    EXPECT_TRUE(memory.is_tight());
    EXPECT_FALSE(memory.is_exceeded());
    memory.set_streams(3'001, 0);
    EXPECT_TRUE(memory.is_exceeded());
    memory.set_streams(2'000, 0);
    memory.set_resident(3'000);
    EXPECT_EQ(memory.overhead(), 1'000U);
    EXPECT_EQ(memory.limit(), 3'000U);
    EXPECT_FALSE(memory.is_tight());
    memory.set_resident(1'000);
    EXPECT_EQ(memory.overhead(), 0U) << "less is resident than counted";
    memory.set_resident(2'000 + kMax);
    EXPECT_EQ(memory.limit(), kMax / 2) << "a half is never taken away";
    EXPECT_TRUE(memory.is_too_small());
    EXPECT_TRUE(memory.is_exceeded());
    memory.set_streams(kMax + 1, 0);
    memory.forget_stream(kMax);
    EXPECT_EQ(memory.used(), 1U);
    EXPECT_EQ(memory.losses(), 1U);
    EXPECT_FALSE(memory.is_exceeded());
}

TEST_F(MemoryBudgetTest, MemoryBeingReleasedFillsTheBudgetOnce) {
    memory.set_streams(3'000, 0);
    EXPECT_FALSE(memory.has_filled_up());
    memory.forget_stream(2'000);
    memory.set_streams(1'000, 0);
    EXPECT_EQ(memory.held(), 3'000U);
    EXPECT_FALSE(memory.has_filled_up());
    memory.set_streams(1'001, 0);
    EXPECT_TRUE(memory.has_filled_up());
    EXPECT_FALSE(memory.has_filled_up()) << "nobody else loses for what the last one gives back";
    memory.set_streams(1'200, 0);
    EXPECT_FALSE(memory.has_filled_up());
    memory.set_streams(1'201, 0);
    EXPECT_TRUE(memory.has_filled_up()) << "it has grown by a twentieth";
    memory.set_leaving(0);
    EXPECT_FALSE(memory.has_filled_up());
    memory.set_leaving(1'900);
    EXPECT_TRUE(memory.has_filled_up());
}

TEST_F(MemoryBudgetTest, MemoryBeingReleasedDelaysPublishersAndClosesNone) {
    memory.set_streams(3'000, 0);
    memory.forget_stream(2'900);
    EXPECT_TRUE(memory.is_tight());
    EXPECT_TRUE(memory.is_filling()) << "its release is followed closely";
    EXPECT_FALSE(memory.is_crowded() || memory.is_exceeded());
    memory.set_leaving(2'000);
    EXPECT_FALSE(memory.is_tight());
    EXPECT_FALSE(memory.is_filling());
}

TEST_F(MemoryBudgetTest, SmallHoldingsAreSparedWhileMemoryIsReleased) {
    memory.set_streams(kMax, 0);
    EXPECT_TRUE(memory.is_exceeded());
    EXPECT_EQ(memory.worth_taking(), 0U) << "many may hold little";
    memory.forget_stream(kMax - 100);
    EXPECT_TRUE(memory.has_filled_up());
    EXPECT_EQ(memory.worth_taking(), kMax / 20);
}

TEST_F(MemoryBudgetTest, AnUnfinishedMessageLosesWhenThereIsNoRoomForIt) {
    Hoarder client(memory, "192.0.2.1");
    memory.set_streams(kMax - 300, 0);
    client.use.set(300);
    EXPECT_FALSE(client.has_lost());
    client.use.set(301);
    EXPECT_TRUE(client.has_lost()) << "without waiting for the next check";
    Hoarder second(memory, "192.0.2.2");
    memory.set_streams(kMax - 600, 0);
    memory.set_leaving(300);
    second.use.set(300);
    EXPECT_FALSE(second.has_lost());
    memory.set_resident(kMax + 1);
    second.use.set(301);
    EXPECT_TRUE(second.has_lost());
}

TEST_F(MemoryBudgetTest, SparesASmallUnfinishedMessageWhenStreamsTakeTheMemory) {
    constexpr std::size_t kSpared = kMax / MemoryBudget::kSparedPart;
    Hoarder small(memory, "192.0.2.1");
    Hoarder large(memory, "192.0.2.2");
    memory.set_streams(kMax - 100, 0);
    large.use.set(90);
    memory.set_streams(kMax + 1, 0);
    small.use.set(kSpared);
    EXPECT_TRUE(large.has_lost());
    EXPECT_FALSE(small.has_lost());
    small.use.set(kSpared + 1);
    EXPECT_TRUE(small.has_lost());
}

// A process with overhead, under attack: its resident memory is the overhead and all held memory. A stream that loses continues
// for a moment, and then takes time to be freed.
struct AttackedProcess {
    struct Stream {
        double mib = 0;
        int leaves_at = 0;  // ms; 0: published
    };
    static constexpr double kMiB = 1 << 20;
    static constexpr int kUntilUnpublished = 150;
    static constexpr double kFreedPerMs = 0.2;

    AttackedProcess(MemoryBudget& of, double own_mib, std::uint32_t seed) : budget(of), own(own_mib), random(seed) {
        for (std::size_t i = 0; i < streams.size(); ++i)
            rates.push_back(static_cast<double>(10 + random() % 40) / 1'000);
    }
    std::size_t bytes(double mib) const { return static_cast<std::size_t>(mib * kMiB); }

    void step() {
        ++now;
        for (std::size_t i = 0; i < streams.size(); ++i)
            grow(streams[i], rates[i]);
        if (now % 300 == 0 && !budget.is_tight())
            hoards.push_back(std::make_unique<Hoarder>(budget, "192.0.2.7"));
        for (const auto& hoard : hoards)
            if (!hoard->has_lost())
                hoard->use.set(std::min(hoard->use.bytes() + bytes(0.5), bytes(9)));
        std::erase_if(hoards, [this](const auto& hoard) { return hoard->has_lost() && random() % 10 == 0; });
        if (now >= look_at)
            look();
    }
    void grow(Stream& stream, double rate) {
        if (stream.leaves_at == 0 && (stream.mib > 0 || (random() % 200 == 0 && !budget.is_tight())))
            stream.mib = std::min(stream.mib + rate, 100.0);
        else if (stream.leaves_at != 0 && now >= stream.leaves_at && look_at - now <= 20)
            stream.mib = std::max(stream.mib - kFreedPerMs, 0.0);
        if (stream.mib == 0)
            stream.leaves_at = 0;
    }
    // As app/memory_keeper does.
    void look() {
        double used = 0, leaving = 0;
        std::vector<MemoryHolding> holdings;
        std::vector<MemoryBudget::Use*> uses(budget.uses().begin(), budget.uses().end());
        for (const MemoryBudget::Use* use : uses)
            holdings.push_back(budget.holding(*use));
        for (std::size_t i = 0; i < streams.size(); ++i) {
            const bool is_leaving = streams[i].leaves_at != 0;
            (is_leaving ? leaving : used) += streams[i].mib;
            holdings.push_back(held(is_leaving ? 0 : bytes(streams[i].mib), static_cast<std::uint8_t>(100 + i)));
        }
        budget.set_streams(bytes(used), 0);
        budget.set_leaving(bytes(leaving));
        budget.set_resident(bytes(resident()));
        const bool is_full = budget.has_filled_up();
        const auto loser = greediest(holdings);
        if ((budget.is_exceeded() || is_full) && loser && holdings[*loser].bytes >= budget.worth_taking()) {
            if (*loser < uses.size()) {
                budget.take_away(*uses[*loser]);
            } else {
                Stream& stream = streams[*loser - uses.size()];
                stream.leaves_at = now + kUntilUnpublished;
                budget.forget_stream(bytes(stream.mib));
            }
        }
        look_at = now + (budget.is_filling() ? 20 : 250);
    }
    double resident() const {
        double sum = own;
        for (const Stream& stream : streams)
            sum += stream.mib;
        for (const auto& hoard : hoards)
            sum += static_cast<double>(hoard->use.bytes()) / kMiB;
        return sum;
    }

    MemoryBudget& budget;
    double own;
    std::mt19937 random;
    std::array<Stream, 3> streams;
    std::vector<double> rates;
    std::vector<std::unique_ptr<Hoarder>> hoards;
    int now = 0;
    int look_at = 250;
};

TEST_F(MemoryBudgetTest, KeepsTheProcessWithinTheBudgetForAnyOverhead) {
    for (const double own_mib : {20.0, 50.0, 70.0, 100.0, 125.0}) {
        for (std::uint32_t seed = 0; seed < rounds(4U, 10U); ++seed) {
            ConnectionLimits others{10, log};
            MemoryBudget& budget = others.memory();
            budget.set_max(std::size_t{256} << 20);
            AttackedProcess process(budget, own_mib, seed);
            double peak = 0;
            for (int ms = 0; ms < 30'000; ++ms) {
                process.step();
                peak = std::max(peak, process.resident());
            }
            EXPECT_LE(peak, 256) << own_mib << " MiB of its own, seed " << seed;
            EXPECT_GT(peak, 180) << "it is used";
            EXPECT_GT(budget.losses(), 0U);
        }
    }
}

// Compares with plain sums and a linear search.
TEST_F(MemoryBudgetTest, AgreesWithANaiveModel) {
    std::mt19937 random(7);
    const auto upto = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    std::vector<std::unique_ptr<Hoarder>> clients;
    for (int step = 0; step < 20'000; ++step) {
        if (clients.size() < 12 && upto(4) == 0)
            clients.push_back(std::make_unique<Hoarder>(memory, "192.0.2." + std::to_string(upto(5)),
                                                        upto(5) == 0 ? Kind::buffers : Kind::unfinished));
        if (clients.empty())
            continue;
        const std::size_t which = upto(clients.size());
        if (upto(10) == 0)
            clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(which));
        else
            clients[which]->use.set(upto(3) == 0 ? 0 : upto(500));
        std::size_t all = 0;
        std::size_t holders = 0;
        for (const auto& client : clients) {
            if (client->has_lost() || client->use.bytes() == 0)
                continue;
            ++holders;
            all += client->use.bytes();
        }
        ASSERT_EQ(memory.used(), all);
        ASSERT_EQ(memory.uses().size(), holders);
        ASSERT_LE(memory.bytes(Kind::unfinished), kUnfinishedMax);
    }
    EXPECT_GT(memory.losses(), 0U);
    clients.clear();
    EXPECT_EQ(memory.used(), 0U);
}

}  // namespace
}  // namespace live::session
