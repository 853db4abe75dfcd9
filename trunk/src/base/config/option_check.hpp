// OptionCheck: a rule of a room for the options of one block together. It is declared beside their rows, and runs after all
// options are read. So settings need no function of the room.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace live::config {

// The settings around a block.
struct CheckContext {
    std::string_view vhost{};   // empty for a block of the server
    bool has_registry = false;  // this server is a node of a cluster
};

// Sentences for the operator.
struct Findings {
    std::string error{};  // a setting that cannot work, which keeps the server from starting; empty: all can
    std::vector<std::string> warnings{};

    static Findings broken(std::string sentence) { return {std::move(sentence), {}}; }
};

template <class Options>
struct OptionCheck {
    Findings (*check)(const Options& options, const CheckContext& around);
    // Disabled virtual hosts are checked too: the rule needs no option of another block.
    bool is_for_disabled = false;
};

}  // namespace live::config
