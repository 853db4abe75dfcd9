// State that is passed along while rows read a tree of directives: the environment, the current path, and the warnings so far.
// One Loading is one load.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config/directive.hpp"
#include "base/config/environment.hpp"
#include "base/config/facts.hpp"
#include "base/result.hpp"

namespace live::config {

// How a repeated block with the same argument is handled.
enum class SameName : std::uint8_t {
    keeps_both,
    first_wins,  // with a warning for the later one
    is_error,
};

struct BlockRule {
    // The name of the argument in error sentences, such as "name"; empty when the block takes none.
    std::string_view argument;
    bool argument_needed = false;
    SameName same_name = SameName::keeps_both;
};

// The value of one row in the file, or in the environment, which overrides it. Must not be moved: `found` may point into it.
struct Said {
    Said(const Directive& block, std::string_view name, std::optional<Directive> environment);
    Said(const Said&) = delete;
    Said& operator=(const Said&) = delete;

    std::vector<const Directive*> found;
    std::optional<Directive> from_environment;
};

class Loading {
public:
    explicit Loading(const Environment& environment) : environment_(environment) {}

    // One further entry reports that there are more warnings; the rest are dropped.
    static constexpr std::size_t kWarningsMax = 100;

    void warn(const Place& at, std::string_view sentence) { warn(at.sentence(sentence)); }
    void warn(std::string sentence);
    std::vector<std::string>& warnings() { return warnings_; }
    // Names of the variables that were used.
    const std::set<std::string, std::less<>>& environment_used() const { return environment_used_; }
    // Names of all variables that rows looked up, used or not.
    const std::set<std::string, std::less<>>& environment_known() const { return environment_known_; }

    // "vhost.hls.hls_fragment" for a name in the current block.
    std::string path_of(std::string_view name) const;
    // The directive that the environment gives for this row, overriding the file; nullopt when unset, empty or not available
    // here. `splits`: the value is a list, split at spaces.
    std::optional<Directive> from_environment(const Facts& facts, bool splits);
    // The directives with the row's name in the block, or the environment's in their place. Warns when a single-valued one is
    // repeated.
    Said said(const Directive& block, const Facts& facts, bool repeats, bool splits);
    // The first block with that name, or nullptr. A directive without braces is an error, a second block a warning.
    Result<const Directive*> find_block(const Directive& around, std::string_view name);
    // Whether to read a repeatable block, given those admitted before it.
    Result<bool> admit_block(const Directive& block, std::span<const Directive* const> before, const BlockRule& rule);
    // Warns about a second directive where only one counts.
    void warn_duplicate(const Directive& later, const Directive& first);
    // "illegal directive xyz", "illegal http_api.xyz", "illegal vhost.hls.xyz of live.example.com", with the nearest known name.
    Error unknown(const Directive& directive, std::span<const std::string_view> known) const;
    // Warns once per load that this option is not implemented yet, unless the enclosing block already has.
    void not_yet(const Facts& facts, const Place& at);

    // Enters a block for the lifetime of the object.
    class Block {
    public:
        Block(Loading& loading, const Facts& facts, std::string_view argument);
        ~Block();
        Block(const Block&) = delete;
        Block& operator=(const Block&) = delete;

    private:
        Loading& loading_;
        std::string path_before_;
        std::string vhost_before_;
        bool in_environment_before_;
        bool quiet_before_;
    };

private:
    const Environment& environment_;
    std::vector<std::string> warnings_;
    std::set<std::string, std::less<>> environment_used_;
    std::set<std::string, std::less<>> environment_known_;
    std::set<std::string, std::less<>> said_not_yet_;
    std::string path_;
    // The argument of the outermost block that has one: the virtual host's name.
    std::string vhost_;
    bool in_environment_ = true;
    bool quiet_ = false;
};

}  // namespace live::config
