// The hand-written facts about an option: its name, when a change takes effect, whether it is implemented, and one sentence.
// Everything else about the option is generated from these (base/config/row.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace live::config {

// When a changed value takes effect.
enum class Reload : std::uint8_t {
    live,          // at the reload, for all sessions
    next_session,  // for sessions that start after the reload
    restart,       // at the next start
};

enum class Support : std::uint8_t {
    works,
    pending,  // accepted and validated, not implemented yet
    ignored,  // accepted, has no effect and never will
};

std::string_view name_of(Reload reload);
std::string_view name_of(Support support);

struct Facts {
    std::string_view name;
    Reload reload = Reload::restart;
    std::string_view doc;
    Support support = Support::works;
    // False: environment variables cannot set the directive, or anything in the block.
    bool in_environment = true;
    // An alternative full variable name, such as "SRS_LOG_TANK".
    std::string_view environment_alias = {};
    // Shown in full.conf when the default is empty.
    std::string_view example = {};
    // The value is never displayed.
    bool secret = false;
    // Another name for the value of a row before this one: not shown a second time.
    bool is_alias = false;
};

// One row as documents and tools see it, in row order.
struct RowInfo {
    Facts facts;
    // "vhost.play.gop_cache".
    std::string path;
    // Number of enclosing blocks; 0 at the root.
    std::size_t depth = 0;
    bool is_block = false;
    bool repeatable = false;
    // Placeholder between a block's name and its brace, such as "name"; usually empty.
    std::string argument;
    // "on or off", "integer", "seconds", "a list", "one of full, zero, off".
    std::string type;
    // "128..65536" or empty.
    std::string range;
    // The default as written in a conf file; empty if missing.
    std::string by_default;
    // Environment variables that set it; empty when not available.
    std::vector<std::string> environment;
};

// One value of a settings tree, for comparing and displaying trees.
struct ValueInfo {
    // "vhost[live.example.com].play.gop_cache".
    std::string path;
    std::string text;
    Reload reload = Reload::restart;
    bool secret = false;
};

// "SRS_" and the path in capitals with _ for each dot: the variable of "vhost.hls.hls_fragment" is SRS_VHOST_HLS_HLS_FRAGMENT.
std::string environment_name(std::string_view path);

// Writes a value so that it reads back as one argument: quoted when it contains a separator. Text that cannot be written (it
// contains both kinds of quotes, or a newline) loses the offending characters.
std::string quoted(std::string_view text);

}  // namespace live::config
