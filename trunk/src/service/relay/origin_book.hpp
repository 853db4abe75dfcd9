// OriginBook: what is known of the health of origins, and which of them a stream is pulled from. Health belongs to an origin, not
// to a stream: what one pull learns, all others use. Dry: the caller supplies time and random numbers.
#pragma once

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

class OriginBook {
public:
    static constexpr std::chrono::milliseconds kBackoffFirst{300};
    static constexpr std::chrono::milliseconds kBackoffMax{10'000};
    // Origins that are remembered; beyond that the one that was used longest ago is forgotten.
    static constexpr std::size_t kOriginsMax = 1024;

    struct Health {
        bool is_up = true;  // so far as is known
        std::uint64_t tries = 0;
        std::uint64_t failures = 0;
        std::string last_error;
        TimePoint since{};     // it is up, or down
        TimePoint retry_at{};  // while it is down
        Duration rtt{};        // of the newest connection: from the dial to the answer to play
    };

    struct Choice {
        std::size_t index = 0;  // of the candidates
        Duration wait{};        // until it may be tried
    };

    // The preferred one of the candidates that may be tried now; if all are down, the one whose backoff ends first, with the time
    // until then. The order of preference depends on the stream alone (rendezvous hashing): all nodes prefer the same origin, and
    // streams are spread. `avoid` comes last among those that are up. None when there are no candidates.
    std::optional<Choice> choose(std::span<const std::string> candidates, std::string_view stream, std::string_view avoid,
                                 TimePoint now) const;

    void report_up(const std::string& origin, Duration rtt, TimePoint now);
    // `random` must be uniformly distributed over all values.
    void report_down(const std::string& origin, std::string error, TimePoint now, std::uint32_t random);

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
    };
    Entry& entry(const std::string& origin, TimePoint now);

    std::unordered_map<std::string, Entry> entries_;
};

}  // namespace live::service::relay
