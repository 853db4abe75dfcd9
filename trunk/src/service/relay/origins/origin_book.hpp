// OriginBook: the health of origins, and the choice of the origin to pull a stream from. Health belongs to an origin, not to a
// stream, so all pulls share what one pull observes. Dry: the caller supplies time and random numbers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/backoff.hpp"
#include "base/time.hpp"

namespace live::service::relay {

// The origins that a pull or a push has left since it last had what it wants, in that order, so that each gets its turn.
class LeftOrigins {
public:
    // Beyond this the first is forgotten.
    static constexpr std::size_t kMax = 64;

    void add(const std::string& origin) {
        std::erase(names_, origin);
        names_.push_back(origin);
        if (names_.size() > kMax)
            names_.erase(names_.begin());
    }
    void clear() { names_.clear(); }
    // 0: not left; the greater, the later.
    std::size_t rank_of(std::string_view origin) const {
        const auto at = std::ranges::find(names_, origin);
        return at == names_.end() ? 0 : static_cast<std::size_t>(at - names_.begin()) + 1;
    }

private:
    std::vector<std::string> names_;
};

class OriginBook {
public:
    static constexpr std::chrono::milliseconds kBackoffFirst{300};
    static constexpr std::chrono::milliseconds kBackoffMax{10'000};
    // Origins remembered; beyond this the least recently used one is forgotten.
    static constexpr std::size_t kOriginsMax = 1024;

    struct Health {
        bool is_up = true;  // as far as known
        std::uint64_t tries = 0;
        std::uint64_t failures = 0;
        std::string last_error;
        TimePoint since{};     // when it came up or went down
        TimePoint retry_at{};  // while it is down
        Duration rtt{};        // of the newest connection: from dialing to the response to play
    };

    struct Choice {
        std::size_t index = 0;  // index into the candidates
        Duration wait{};        // until it may be tried
    };

    // The preferred candidate that may be tried now; if all are down, the one whose backoff ends first, with the time until then.
    // Preference depends only on the stream (rendezvous hashing): all nodes prefer the same origin for a stream, and streams are
    // spread over origins. But those that were left come last among origins that are up, in the order in which they were left.
    // None when there are no candidates.
    std::optional<Choice> choose(std::span<const std::string> candidates, std::string_view stream, const LeftOrigins& left,
                                 TimePoint now) const;

    void report_up(const std::string& origin, Duration rtt, TimePoint now);
    // All that was connected to it may report the same outage: only a new try that fails makes the wait longer. `random` must be
    // uniformly distributed over all values.
    void report_down(const std::string& origin, std::string error, TimePoint now, std::uint32_t random);

    // Media of any stream have come from it.
    void note_heard(const std::string& origin, TimePoint now);
    // Whether any have come after that time: whoever has had none since then misses its own stream only.
    bool is_heard_after(const std::string& origin, TimePoint time) const;

    // nullptr when it has not been used.
    const Health* find(const std::string& origin) const;
    std::size_t size() const { return entries_.size(); }
    template <class Each>
    void for_each(Each&& each) const {
        for (const auto& [origin, known] : entries_)
            each(origin, known.health);
    }

private:
    struct Entry {
        Health health;
        Backoff backoff{kBackoffFirst, kBackoffMax};
        TimePoint used{};
        TimePoint heard{};
    };
    Entry& entry(const std::string& origin, TimePoint now);

    std::unordered_map<std::string, Entry> entries_;
};

}  // namespace live::service::relay
