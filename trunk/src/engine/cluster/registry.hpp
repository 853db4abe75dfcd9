// The commands of a node to the registry, and its answers: the interface between ClusterNode, which decides, and the code that
// moves the bytes. A registry executes a command as a whole, in the order in which one connection sends them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/cluster/records.hpp"

namespace live::engine::cluster {

// Renews the lease of a node.
struct Beat {
    NodeRecord node;
    std::chrono::milliseconds lease{};
};
// Sets the owner of a stream without another owner. An owner whose lease with its run has ended owns nothing; its epoch still
// counts. A fresh claim is that of a new publisher: it gets an epoch above all earlier ones, and takes the stream over from a
// living owner only with `replaces`, or if that owner is `dead` or drains. Any other claim repeats an earlier one: of two living
// owners the higher one keeps the stream.
struct Claim {
    std::string stream;
    OwnRecord own;
    bool is_fresh = false;
    bool replaces = false;
    // A run of a node that is known to have ended before its lease. The stream is taken from this run only.
    std::optional<NodeRun> dead{};
};
// Removes exactly this ownership.
struct Withdraw {
    std::string stream;
    OwnRecord own;
};
// Looks up a stream's owner and the record of that node.
struct StreamLookup {
    std::string stream;
};
// Lists all nodes with a living lease.
struct ListNodes {};

struct Command {
    std::uint64_t id = 0;
    std::variant<Beat, Claim, Withdraw, StreamLookup, ListNodes> what;
};

// Texts are the raw contents of the registry.
struct BeatDone {
    bool was_known = false;  // the lease had not ended
    bool is_shared = false;  // another run of the node has it: the previous one, or another node with the same id
};
struct ClaimDone {
    bool is_granted = false;
    std::uint64_t epoch = 0;  // of the granted claim
    std::string holder{};     // the record of the owner that keeps it
};
struct WithdrawDone {};
struct StreamLookupDone {
    std::string own{};   // empty: no owner
    std::string node{};  // empty: its lease has ended
};
struct NodesDone {
    std::vector<std::pair<std::string, std::string>> nodes{};  // id and record
};
// The registry cannot execute the command.
struct Refusal {
    std::string why;
};
using Answer = std::variant<BeatDone, ClaimDone, WithdrawDone, StreamLookupDone, NodesDone, Refusal>;

}  // namespace live::engine::cluster
