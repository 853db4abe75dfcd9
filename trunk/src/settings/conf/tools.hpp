// Queries on the rows: reading a tree of directives, a description of every option, the values of a tree as text, and the changes
// of a reload.
#pragma once

#include <string>
#include <vector>

#include "base/config/directive.hpp"
#include "base/config/facts.hpp"
#include "base/config/loading.hpp"
#include "base/result.hpp"
#include "settings/conf/tree.hpp"

namespace live::settings {

// Reads a tree of current directives into `settings`, over the existing values.
Result<void> bind_settings(Settings& settings, const config::Directive& root, config::Loading& loading);

// Every option of the conf file in row order, blocks before their contents.
std::vector<config::RowInfo> describe_settings();

// Every value of a tree. Paths name virtual hosts: "vhost[live.example.com].play.gop_cache".
std::vector<config::ValueInfo> show_settings(const Settings& settings);

struct Change {
    std::string path;
    // Empty when that tree has no such value, as for a new virtual host. Secrets are shown as ***.
    std::string before;
    std::string after;
    config::Reload takes_effect = config::Reload::restart;
};

// The changes of a reload from one tree to the other, in row order.
std::vector<Change> changes_between(const Settings& before, const Settings& after);

// A change that a running server cannot make at all: a virtual host between origin and edge. Errc::conflict; the process exits
// with code 2023.
Result<void> check_reload(const Settings& before, const Settings& after);

}  // namespace live::settings
