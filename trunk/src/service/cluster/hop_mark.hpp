// The mark in the query of a player that a node has sent on: millrace_hop=NODE. It ends circles: a player comes to a node
// that it has been at only to stay. A client that makes it up only has itself served where it is. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace live::service::cluster {

inline constexpr std::string_view kHopMark = "millrace_hop";
// A player that has been sent on so often stays.
inline constexpr std::size_t kHopsMax = 4;

// The mark in the query of a node that the owner of a stream has sent to another node: millrace_branch=OWNER. That one has the
// stream, or is about to. A node that makes it up waits in vain for as long as a player does.
inline constexpr std::string_view kBranchMark = "millrace_branch";
bool has_branch_mark(std::string_view query);
std::string branch_mark(std::string_view node);

// The nodes that have sent a player on, by the query of its request, with or without '?'. At most kHopsMax; names that are none
// are left out.
std::vector<std::string> hops_of(std::string_view query);
// What a node adds to the query: "millrace_hop=NODE". A query may have several.
std::string hop_mark(std::string_view node);

}  // namespace live::service::cluster
