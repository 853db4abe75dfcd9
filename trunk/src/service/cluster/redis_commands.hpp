// Translates the commands of a cluster's registry to Redis and Valkey, and their replies back. Each is a script, which the
// registry executes as a whole. Dry.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/registry.hpp"
#include "engine/redis/reply.hpp"

namespace live::service::cluster {

// Keys and the channel of events begin with it.
inline constexpr std::string_view kPrefix = "millrace:";
inline constexpr std::string_view kEventChannel = "millrace:events";
// An ownership that is not renewed for this long expires: its node has ended without a withdrawal.
inline constexpr std::chrono::hours kOwnershipAge{1};

std::vector<std::string> words_of(const engine::cluster::Command& command);
// Returns a Refusal for anything that is not an answer of the script.
engine::cluster::Answer answer_of(const engine::cluster::Command& command, const engine::redis::Reply& reply);

// A page of the streams in the registry, for operators: SCAN from a cursor, "0" at first. At most some hundreds.
std::vector<std::string> scan_words(std::string_view cursor);
struct ScanPage {
    std::string cursor{};                // "0": it was the last one
    std::vector<std::string> streams{};  // names
};
Result<ScanPage> parse_scan(const engine::redis::Reply& reply);
// Returns the command that reads the owners, in that order.
std::vector<std::string> owner_words(const std::vector<std::string>& streams);

}  // namespace live::service::cluster
