// What is written down once about an option: its name, when a change takes effect, whether it does anything yet, and one
// sentence. Everything that is known about an option elsewhere is generated from these (base/config/row.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace live::config {

// When a changed value takes effect.
enum class Reload : std::uint8_t {
    live,          // at the reload, for everybody
    next_session,  // for sessions that begin after the reload
    restart,       // at the next start
};

enum class Support : std::uint8_t {
    works,
    pending,  // accepted and checked, does nothing yet
    ignored,  // accepted, and never will do anything
};

std::string_view name_of(Reload reload);
std::string_view name_of(Support support);

struct Facts {
    std::string_view name;
    Reload reload = Reload::restart;
    std::string_view doc;
    Support support = Support::works;
    // False: the directive, or all of the block, cannot be set by an environment variable.
    bool in_environment = true;
    // A whole variable name that is heard too, such as "SRS_LOG_TANK".
    std::string_view environment_alias = {};
    // What full.conf shows when the default is empty.
    std::string_view example = {};
    // The value is not shown to anybody.
    bool secret = false;
};

// One row as documents and tools see it, in the order of the rows.
struct RowInfo {
    Facts facts;
    // "vhost.play.gop_cache".
    std::string path;
    // Blocks around it; 0 at the root.
    std::size_t depth = 0;
    bool is_block = false;
    bool repeatable = false;
    // What stands between a block's name and its brace, such as "name"; empty for most.
    std::string argument;
    // "on or off", "integer", "seconds", "a list", "one of full, zero, off".
    std::string type;
    // "128..65536" or empty.
    std::string range;
    // The default as it would be written, empty when there is none.
    std::string by_default;
    // Names of the variables that set it, none when not available.
    std::vector<std::string> environment;
};

// One value of a tree, for comparing two trees and for showing one.
struct ValueInfo {
    // "vhost[live.example.com].play.gop_cache".
    std::string path;
    std::string text;
    Reload reload = Reload::restart;
    bool secret = false;
};

// "SRS_" and the path in capitals with _ for each dot: the variable of "vhost.hls.hls_fragment" is SRS_VHOST_HLS_HLS_FRAGMENT.
std::string environment_name(std::string_view path);

// A value as it must be written to be read back as one argument: in quotes when it holds a separator. Text that cannot be written
// (it holds both kinds of quote, or a newline) loses what stands in the way.
std::string quoted(std::string_view text);

}  // namespace live::config
