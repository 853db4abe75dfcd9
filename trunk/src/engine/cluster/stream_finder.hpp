// StreamFinder: the locations of other nodes' streams: a cache of the registry's answers, and the callers that wait for one. Dry.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/time.hpp"
#include "engine/cluster/notices.hpp"
#include "engine/cluster/registry_queue.hpp"

namespace live::engine::cluster {

class StreamFinder {
public:
    // How long an answer is cached: an owner, and the absence of one.
    static constexpr std::chrono::seconds kCacheAge{5};
    static constexpr std::chrono::seconds kNowhereAge{1};
    // How long a cached answer is used while the registry is away.
    static constexpr std::chrono::minutes kOldAge{10};
    static constexpr std::size_t kCacheMax = 65'536;
    static constexpr std::size_t kWaitersMax = 10'000;

    // The references must outlive this.
    StreamFinder(RegistryQueue& queue, NoticeQueue& notices) : queue_(queue), notices_(notices) {}

    // Answers the ticket with a FindDecided, at the latest when the answer of the registry is late. While it is late, further
    // requests are answered at once, and no command is repeated.
    void find(const std::string& stream, std::uint64_t ticket, TimePoint now);
    // The next find() sends a command.
    void forget(const std::string& stream);
    void forget_all();

    // The registry has answered.
    void handle_location(const std::string& stream, const StreamLocation& where, TimePoint now);
    // The answer is late, or does not arrive: callers get the cached location.
    void handle_failure(const std::string& stream, TimePoint now);
    void note_late(const std::string& stream) { late_.insert(stream); }
    void note_answered(const std::string& stream) { late_.erase(stream); }
    void handle_disconnected() { late_.clear(); }

    // Records the epoch of a stream's owner.
    void note_epoch(const std::string& stream, std::uint64_t epoch) { cached(stream).epoch = epoch; }
    // Returns an epoch above the highest known one.
    std::uint64_t next_epoch(const std::string& stream) const;

private:
    struct Cached {
        StreamLocation where;
        std::uint64_t epoch = 0;  // the highest known one
        TimePoint at{};
        bool is_stale = false;  // to be looked up if the registry answers
    };

    Cached& cached(const std::string& stream);
    void answer(const std::string& stream, const StreamLocation& where);
    StreamLocation old_location(const std::string& stream, TimePoint now) const;

    RegistryQueue& queue_;
    NoticeQueue& notices_;
    std::unordered_map<std::string, Cached> cache_;
    std::unordered_map<std::string, std::vector<std::uint64_t>> waiting_;  // tickets
    std::size_t waiting_count_ = 0;
    std::unordered_set<std::string> late_;  // unanswered and without waiters: at most RegistryQueue::kInFlightMax
};

}  // namespace live::engine::cluster
