// NodeIdentity: the record of this node, its wall clock, and the signatures of its cluster.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.hpp"
#include "engine/cluster/seal.hpp"

namespace live::engine::cluster {

class NodeIdentity {
public:
    NodeIdentity(std::string secret, NodeRecord self) : seal_(std::move(secret)), self_(std::move(self)) {}

    // Replaces all but the id and the run. `wall` is the wall clock in milliseconds, which dates signed records.
    void set_self(NodeRecord self, std::int64_t wall, TimePoint now) {
        self.id = self_.id;
        self.run = self_.run;
        self_ = std::move(self);
        wall_ = wall;
        wall_at_ = now;
    }
    const NodeRecord& self() const { return self_; }
    const NodeRecord& signed_self(TimePoint now) {
        seal_.put_on(self_, wall(now));
        return self_;
    }
    // Reports whether an owner or an event is this run of this node.
    bool is_self(std::string_view node, std::uint64_t run) const { return node == self_.id && run == self_.run; }

    const Seal& seal() const { return seal_; }
    std::int64_t wall(TimePoint now) const {
        return wall_ + std::chrono::duration_cast<std::chrono::milliseconds>(now - wall_at_).count();
    }
    // Reports whether a node of this cluster has written the record of a stream's owner.
    bool believes(const OwnRecord& own, std::string_view stream, TimePoint now) const {
        return seal_.is_good(own, stream) || seal_.is_good_claim(own, stream, wall(now));
    }

private:
    const Seal seal_;
    NodeRecord self_;
    std::int64_t wall_ = 0;
    TimePoint wall_at_{};
};

}  // namespace live::engine::cluster
