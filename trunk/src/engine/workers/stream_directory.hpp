// StreamDirectory: which worker publishes which stream, in the master. A claim makes a worker the stream's owner before it admits
// the publisher. An announcement reports that it publishes, and is forwarded to the other workers. If two workers announce a
// stream, its owner keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/workers/message.hpp"

namespace live::engine::workers {

class StreamDirectory {
public:
    // Per worker. Beyond this, claims are refused.
    static constexpr std::size_t kStreamsMax = 100'000;

    struct Outgoing {
        Worker to = 0;
        Message message;
    };
    struct Owner {
        Worker worker = 0;
        std::uint64_t epoch = 0;
    };

    // Some of them may not be there.
    explicit StreamDirectory(Worker workers) : workers_(workers), counts_(workers + std::size_t{1}) {}

    // Handles a message of worker 1..workers. Kinds that are not about streams are ignored.
    std::vector<Outgoing> handle(Worker from, const Message& message);
    // Removes the streams of a worker that has died.
    void forget(Worker worker);

    // For the directory that replaces this one: owners keep their numbers and their order.
    const std::unordered_map<std::string, Owner>& owners() const { return owners_; }
    // Ignored when the stream has an owner here, or the worker too many.
    void restore(const std::string& url, const Owner& owner);

    std::optional<Owner> find(const std::string& url) const;
    std::size_t streams() const { return owners_.size(); }
    std::size_t streams(Worker worker) const { return counts_[worker]; }

private:
    std::vector<Outgoing> claim(Worker from, const Message& message);
    std::vector<Outgoing> announce(Worker from, const Message& message);
    void withdraw(Worker from, const std::string& url);
    void give(const std::string& url, Worker worker);

    const Worker workers_;
    std::unordered_map<std::string, Owner> owners_;  // by the stream's url
    std::vector<std::size_t> counts_;                // by worker
    std::uint64_t next_epoch_ = 1;
};

}  // namespace live::engine::workers
