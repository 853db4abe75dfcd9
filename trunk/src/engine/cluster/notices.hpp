// The decisions and notices of a ClusterNode, for its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "engine/cluster/records.hpp"

namespace live::engine::cluster {

// The location of a stream: this node, another node, or no node.
struct Here {};
struct There {
    OwnRecord own;
    NodeRecord node;
};
struct Nowhere {};
// The registry does not answer, and the owner is unknown.
struct Unknown {};
using StreamLocation = std::variant<Here, There, Nowhere, Unknown>;

// The answer to a publisher's request.
enum class Verdict : std::uint8_t {
    granted,
    unregistered,  // the registry does not answer: the stream is published, and announced later
    refused,       // another node owns the stream
    too_many,      // OwnedStreams::kStreamsMax
};

struct PublishDecided {
    std::uint64_t ticket = 0;
    Verdict verdict = Verdict::granted;
    std::string holder{};  // the node that owns the stream, after `refused`
};
struct FindDecided {
    std::uint64_t ticket = 0;
    StreamLocation where;
};
// Another node has taken a stream that this node had announced. The owner must close its publisher; players are served from
// there.
struct Lost {
    std::string stream;
    std::string to;
};
// The owner of a stream may have changed.
struct Moved {
    std::string stream;
};
// An operator ends a stream.
struct Kicked {
    std::string stream;
};
using Notice = std::variant<PublishDecided, FindDecided, Lost, Moved, Kicked>;

class NoticeQueue {
public:
    static constexpr std::size_t kNoticesMax = 65'536;

    // Drops a Moved notice when the queue is full: the pull detects the move later.
    void push(Notice notice) {
        if (notices_.size() < kNoticesMax || !std::holds_alternative<Moved>(notice))
            notices_.push_back(std::move(notice));
    }
    std::optional<Notice> poll() {
        if (notices_.empty())
            return std::nullopt;
        Notice notice = std::move(notices_.front());
        notices_.pop_front();
        return notice;
    }

private:
    std::deque<Notice> notices_;
};

struct ClusterCounts {
    std::uint64_t commands = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t refusals = 0;
    std::uint64_t malformed = 0;           // malformed records and events in the registry
    std::uint64_t lost = 0;                // streams
    std::uint64_t duplicate_node_ids = 0;  // heartbeats that found the lease held by another process
};

}  // namespace live::engine::cluster
