// What goes along while rows read a tree of directives: the environment, the path to where we are, and the warnings gathered so
// far. One Loading is one load.
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

// What happens when a repeatable block comes twice with the same argument.
enum class SameName : std::uint8_t {
    keeps_both,
    first_wins,  // a warning for the later one
    is_error,
};

struct BlockRule {
    // How error sentences call the argument, such as "name"; empty when the block takes none.
    std::string_view argument;
    bool argument_needed = false;
    SameName same_name = SameName::keeps_both;
};

// What the file, or in its place the environment, says for one row. It must stay where it is: `found` may point into it.
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

    // One more than this says that there are more; the rest is not kept.
    static constexpr std::size_t kWarningsMax = 100;

    void warn(const Place& at, std::string_view sentence) { warn(at.sentence(sentence)); }
    void warn(std::string sentence);
    std::vector<std::string>& warnings() { return warnings_; }
    // Names of the variables that were taken.
    const std::set<std::string, std::less<>>& environment_used() const { return environment_used_; }
    // Names of all variables that rows asked for, taken or not.
    const std::set<std::string, std::less<>>& environment_known() const { return environment_known_; }

    // "vhost.hls.hls_fragment" for a name in the block we are in.
    std::string path_of(std::string_view name) const;
    // The directive that the environment says for this row, in place of the file's; none when unset, empty or not available here.
    // `splits`: a list, cut at spaces.
    std::optional<Directive> from_environment(const Facts& facts, bool splits);
    // The directives of the row's name in the block, or the environment's in their place. Warns when a single one comes twice.
    Said said(const Directive& block, const Facts& facts, bool repeats, bool splits);
    // The first block of that name, or nullptr. A directive without braces is an error, a second block a warning.
    Result<const Directive*> find_block(const Directive& around, std::string_view name);
    // Whether a repeatable block is to be read, given those that were admitted before it.
    Result<bool> admit_block(const Directive& block, std::span<const Directive* const> before, const BlockRule& rule);
    // A second directive where only one counts.
    void warn_duplicate(const Directive& later, const Directive& first);
    // "illegal directive xyz", "illegal http_api.xyz", "illegal vhost.hls.xyz of live.example.com", with the nearest known name.
    Error unknown(const Directive& directive, std::span<const std::string_view> known) const;
    // Says once per load that this option does nothing yet, unless the block around it has said so.
    void not_yet(const Facts& facts, const Place& at);

    // Enters a block for its life.
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
