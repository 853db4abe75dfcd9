#include "session/limits/per_address_limits.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace live::session {
namespace {

using Entry = PerAddressLimits::Answer;
using Pace = PerAddressLimits::Pace;
using Use = PerAddressLimits::Use;

const TimePoint kStart = TimePoint() + 1h;

IpAddress at(std::string_view text) { return PerAddressLimits::group_of(parse_ip(text).value()); }

IpAddress numbered(std::uint32_t number) {
    IpAddress address = parse_ip("2001:db8::").value();
    for (std::size_t i = 0; i < 4; ++i)
        address.bytes[4 + i] = static_cast<std::uint8_t>(number >> 8 * i);
    return address;
}

TEST(PerAddressLimits, AnIpv6AddressIsItsNetworkOf64BitsAndAnIpv4AddressItself) {
    EXPECT_EQ(at("2001:db8:0:7::1"), at("2001:db8:0:7:ffff::2"));
    EXPECT_NE(at("2001:db8:0:7::1"), at("2001:db8:0:8::1"));
    EXPECT_NE(at("192.0.2.1"), at("192.0.2.2"));
    EXPECT_EQ(at("192.0.2.1"), at("::ffff:192.0.2.1"));
}

TEST(PerAddressLimits, EachUseHasItsOwnBoundAndIsGivenBack) {
    PerAddressLimits book;
    book.set_bounds(Use::connection, {2, 0});
    book.set_bounds(Use::viewer, {1, 0});
    const IpAddress who = at("192.0.2.1");
    EXPECT_EQ(book.enter(who, Use::connection, Pace::counts, kStart), Entry::taken);
    EXPECT_EQ(book.enter(who, Use::connection, Pace::counts, kStart), Entry::taken);
    EXPECT_EQ(book.enter(who, Use::connection, Pace::counts, kStart), Entry::too_many);
    EXPECT_EQ(book.enter(who, Use::viewer, Pace::counts, kStart), Entry::taken);
    EXPECT_EQ(book.enter(at("192.0.2.2"), Use::connection, Pace::counts, kStart), Entry::taken);
    book.leave(who, Use::connection);
    EXPECT_EQ(book.in_use(who, Use::connection), 1U);
    EXPECT_EQ(book.enter(who, Use::connection, Pace::counts, kStart), Entry::taken);
}

TEST(PerAddressLimits, AQuietAddressMayHaveTenSecondsWorthAtOnceAndThenItsRate) {
    PerAddressLimits book;
    book.set_bounds(Use::connection, {1000, 5});
    const IpAddress who = at("192.0.2.1");
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(book.enter(who, Use::connection, Pace::counts, kStart), Entry::taken) << i;
        book.leave(who, Use::connection);
    }
    EXPECT_EQ(book.enter(who, Use::connection, Pace::counts, kStart), Entry::too_fast);
    EXPECT_EQ(book.enter(who, Use::connection, Pace::is_free, kStart), Entry::taken);
    EXPECT_EQ(book.enter(who, Use::connection, Pace::counts, kStart + 199ms), Entry::too_fast);
    EXPECT_EQ(book.enter(who, Use::connection, Pace::counts, kStart + 200ms), Entry::taken);
    EXPECT_EQ(book.enter(who, Use::connection, Pace::counts, kStart + 201ms), Entry::too_fast);
}

TEST(PerAddressLimits, ManyShortLivedAddressesDoNotGrowIt) {
    PerAddressLimits book;
    book.set_bounds(Use::connection, {1, 1});
    for (std::uint32_t i = 0; i < 4 * PerAddressLimits::kRestingMax; ++i) {
        EXPECT_EQ(book.enter(numbered(i), Use::connection, Pace::counts, kStart), Entry::taken);
        book.leave(numbered(i), Use::connection);
    }
    EXPECT_EQ(book.size(), PerAddressLimits::kRestingMax);
    EXPECT_LT(book.bytes(), 4U << 20);
    // Entries with counts are kept, and so are those that became idle last.
    EXPECT_EQ(book.enter(numbered(1), Use::connection, Pace::counts, kStart), Entry::taken);
    for (std::uint32_t i = 0; i < 9; ++i) {
        const IpAddress last = numbered(4 * PerAddressLimits::kRestingMax - 1);
        ASSERT_EQ(book.enter(last, Use::connection, Pace::counts, kStart), Entry::taken);
        book.leave(last, Use::connection);
    }
    EXPECT_EQ(book.enter(numbered(4 * PerAddressLimits::kRestingMax - 1), Use::connection, Pace::counts, kStart),
              Entry::too_fast);
    // It shrinks over time, by two for each new one.
    for (std::uint32_t i = 0; i < PerAddressLimits::kRestingMax; ++i) {
        const TimePoint later = kStart + 1min;
        ASSERT_EQ(book.enter(numbered(9'000'000 + i), Use::connection, Pace::counts, later), Entry::taken);
        book.leave(numbered(9'000'000 + i), Use::connection);
    }
    EXPECT_EQ(book.in_use(numbered(1), Use::connection), 1U);
    EXPECT_LE(book.size(), PerAddressLimits::kRestingMax + 1);
}

// Keeps the whole history, and counts from scratch for each request.
class NaiveBook {
public:
    void set_bounds(Use use, PerAddressLimits::Bounds bounds) { bounds_[static_cast<std::size_t>(use)] = bounds; }
    Entry enter(std::uint32_t who, Use use, Pace pace, TimePoint now) {
        const auto& bounds = bounds_[static_cast<std::size_t>(use)];
        if (in_use(who, use) >= bounds.at_once)
            return Entry::too_many;
        if (pace == Pace::counts && bounds.per_second > 0) {
            // Remaining cost of the requests, each of which expires in its share of a second.
            const Duration price = Duration(1s) / bounds.per_second;
            Duration debt{};
            TimePoint then = kStart;
            for (const Asked& asked : asked_) {
                if (asked.who != who || asked.use != use)
                    continue;
                debt = std::max(debt - (asked.when - then), Duration(0)) + price;
                then = asked.when;
            }
            if (std::max(debt - (now - then), Duration(0)) + price > Duration(10s))
                return Entry::too_fast;
            asked_.push_back({who, use, now});
        }
        held_.push_back({who, use, now});
        return Entry::taken;
    }
    std::size_t in_use(std::uint32_t who, Use use) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(held_, [&](const Asked& held) { return held.who == who && held.use == use; }));
    }

    struct Asked {
        std::uint32_t who;
        Use use;
        TimePoint when;
    };
    std::vector<Asked> held_;

private:
    std::array<PerAddressLimits::Bounds, PerAddressLimits::kUses> bounds_{};
    std::vector<Asked> asked_;
};

TEST(PerAddressLimits, AnswersAsANaiveOneDoes) {
    std::mt19937 random(7);
    const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
    for (int round = 0; round < 40; ++round) {
        PerAddressLimits book;
        NaiveBook naive;
        for (const Use use : {Use::connection, Use::half_open, Use::viewer}) {
            const PerAddressLimits::Bounds bounds{1 + below(8), below(3)};
            book.set_bounds(use, bounds);
            naive.set_bounds(use, bounds);
        }
        TimePoint now = kStart;
        for (int step = 0; step < 400; ++step) {
            now += std::chrono::milliseconds(below(3) == 0 ? below(4000) : 0);
            const std::uint32_t who = below(4);
            const auto use = static_cast<Use>(below(PerAddressLimits::kUses));
            if (below(2) == 0 && !naive.held_.empty()) {
                const auto gone = naive.held_.begin() + below(static_cast<std::uint32_t>(naive.held_.size()));
                book.leave(numbered(gone->who), gone->use);
                naive.held_.erase(gone);
            } else {
                const Pace pace = below(4) == 0 ? Pace::is_free : Pace::counts;
                ASSERT_EQ(book.enter(numbered(who), use, pace, now), naive.enter(who, use, pace, now)) << round << ' ' << step;
            }
            for (std::uint32_t i = 0; i < 4; ++i)
                for (const Use each : {Use::connection, Use::half_open, Use::viewer})
                    ASSERT_EQ(book.in_use(numbered(i), each), naive.in_use(i, each));
            ASSERT_LE(book.size(), 4U);
        }
    }
}

}  // namespace
}  // namespace live::session
