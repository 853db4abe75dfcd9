// Seal: how the nodes of a cluster know each other's records in the registry: a MAC by the secret that only they have. Somebody
// who can write to the registry can still remove records and make nodes ask it, but not name a place that streams are pulled from
// or players sent to. Without a secret everything is good. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/cluster/records.hpp"

namespace live::engine::cluster {

class Seal {
public:
    explicit Seal(std::string secret) : secret_(std::move(secret)) {}

    bool is_on() const { return !secret_.empty(); }
    // Sets the record's MAC; leaves it empty without a secret.
    void put_on(NodeRecord& node) const;
    // The epoch is not covered: the registry sets it.
    void put_on(OwnRecord& own, std::string_view stream) const;
    void put_on(Event& event) const;

    bool is_good(const NodeRecord& node) const;
    bool is_good(const OwnRecord& own, std::string_view stream) const;
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
