// Seal: authenticates the records of a cluster's nodes in the registry by a MAC with a secret that only the nodes have. An
// attacker who can write to the registry can still remove records and trigger lookups, but cannot name a place to pull streams
// from or send players to.
//
// Signed text may be replayed later, so each signature is bound to a moment: a node's record to the time of the signature,
// ownership to its epoch, or to its beginning until the registry has counted one, a drain to the run of its node, and a kick to
// the beginning of its publisher. Without a secret all records are valid. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/cluster/records.hpp"

namespace live::engine::cluster {

class Seal {
public:
    explicit Seal(std::string secret) : secret_(std::move(secret)) {}

    // The greatest difference between the clocks of two nodes. A record is valid for as long after its node has ended.
    static constexpr std::chrono::milliseconds kWindow{300'000};

    bool is_on() const { return !secret_.empty(); }
    // Sets the record's MAC; leaves it empty without a secret. `wall`: milliseconds of the wall clock.
    void put_on(NodeRecord& node, std::int64_t wall) const;
    void put_on(OwnRecord& own, std::string_view stream) const;
    void put_on(Event& event) const;

    bool is_good(const NodeRecord& node, std::int64_t wall) const;
    bool is_good(const OwnRecord& own, std::string_view stream) const;
    // Reports whether this is the claim of a new publisher, signed with epoch 0: the registry counts the epoch, and then its node
    // signs again. Such a claim locates a stream, but does not take it from another owner.
    bool is_good_claim(OwnRecord own, std::string_view stream, std::int64_t wall) const;
    bool is_good(const Event& event) const;

private:
    std::string mac_of(std::string_view kind, std::string_view text) const;
    std::string mac_of(NodeRecord node) const;
    std::string mac_of(const OwnRecord& own, std::string_view stream) const;
    std::string mac_of(Event event) const;
    bool is_same(std::string_view mac, std::string_view wanted) const;

    const std::string secret_;
};

}  // namespace live::engine::cluster
