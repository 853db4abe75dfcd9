// OriginHealth: which origins answer, and the choice of the origin to pull a stream from. Health belongs to an origin, not to a
// stream: all pulls share one OriginHealth. Dry: the caller supplies time and random numbers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/backoff.hpp"
#include "base/time.hpp"
#include "engine/relay/left_origins.hpp"

namespace live::engine::relay {

class OriginHealth {
public:
    static constexpr std::chrono::milliseconds kBackoffFirst{300};
    static constexpr std::chrono::milliseconds kBackoffMax{10'000};
    // At this limit, a new origin replaces the least recently used one.
    static constexpr std::size_t kOriginsMax = 1024;

    struct Record {
        bool is_up = true;
        std::uint64_t tries = 0;
        std::uint64_t failures = 0;
        std::string last_error;
        TimePoint since{};     // when is_up last changed
        TimePoint retry_at{};  // while it is down
        Duration rtt{};        // from dialling to the response to play, on the newest connection
    };

    struct Choice {
        std::size_t index = 0;  // index into the candidates
        Duration wait{};        // until it may be tried
    };

    // Returns the preferred candidate that may be tried now. If all are down, returns the one whose backoff ends first and the
    // time until then. Preference depends only on the stream (rendezvous hashing): all nodes prefer the same origin for a stream,
    // and streams are spread over origins. Candidates in `left` come last among origins that are up, in the order in which they
    // were left. Returns nullopt without candidates.
    std::optional<Choice> choose(std::span<const std::string> candidates, std::string_view stream, const LeftOrigins& left,
                                 TimePoint now) const;

    void report_up(const std::string& origin, Duration rtt, TimePoint now);
    // Many pulls may report one outage: only a failure after `retry_at` lengthens the backoff. `random` must be uniformly
    // distributed over all values.
    void report_down(const std::string& origin, std::string error, TimePoint now, std::uint32_t random);

    // Media of any stream arrived from the origin.
    void note_media(const std::string& origin, TimePoint now);
    // Reports whether media of any stream arrived from the origin after that time.
    bool has_media_after(const std::string& origin, TimePoint time) const;

    // Returns nullptr for an origin that has not been used.
    const Record* find(const std::string& origin) const;
    std::size_t size() const { return entries_.size(); }
    template <class Each>
    void for_each(Each&& each) const {
        for (const auto& [origin, entry] : entries_)
            each(origin, entry.record);
    }

private:
    struct Entry {
        Record record;
        Backoff backoff{kBackoffFirst, kBackoffMax};
        TimePoint used{};
        TimePoint media_at{};
    };
    Entry& entry(const std::string& origin, TimePoint now);

    std::unordered_map<std::string, Entry> entries_;
};

}  // namespace live::engine::relay
