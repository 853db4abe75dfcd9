// The mark in the query of a player that a node has redirected: millrace_hop=NODE. It prevents loops: a node does not redirect a
// player that has been there before. A client that forges the mark is only served by this node. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace live::service::cluster {

inline constexpr std::string_view kHopMark = "millrace_hop";
// A player that was redirected this often is served.
inline constexpr std::size_t kHopsMax = 4;

// The mark in the query of a node that the owner of a stream has redirected to another node: millrace_branch=OWNER. That node has
// the stream, or pulls it. A node that forges the mark waits like a player, in vain.
inline constexpr std::string_view kBranchMark = "millrace_branch";
bool has_branch_mark(std::string_view query);
std::string branch_mark(std::string_view node);

// Returns the nodes that have redirected a player, from the query of its request, with or without '?'. At most kHopsMax; skips
// malformed names.
std::vector<std::string> hops_of(std::string_view query);
// Returns the text that a node adds to the query: "millrace_hop=NODE". A query may have several.
std::string hop_mark(std::string_view node);

}  // namespace live::service::cluster
