#include "settings/conf/tools.hpp"

#include <fmt/format.h>

#include <map>

#include "settings/conf/rows.hpp"

namespace live::settings {

namespace {

std::string shown(const config::ValueInfo& value) { return value.secret && !value.text.empty() ? "***" : value.text; }

}  // namespace

std::vector<config::RowInfo> describe_settings() {
    std::vector<config::RowInfo> rows;
    kSettingsRows.describe(Settings{}, config::Describing{rows});
    return rows;
}

std::vector<config::ValueInfo> show_settings(const Settings& settings) {
    std::vector<config::ValueInfo> values;
    kSettingsRows.show(settings, config::Showing{values});
    return values;
}

std::vector<Change> changes_between(const Settings& before, const Settings& after) {
    const std::vector<config::ValueInfo> old_values = show_settings(before);
    std::map<std::string_view, const config::ValueInfo*> old_by_path;
    for (const config::ValueInfo& value : old_values)
        old_by_path.emplace(value.path, &value);
    std::vector<Change> changes;
    const std::vector<config::ValueInfo> new_values = show_settings(after);
    for (const config::ValueInfo& value : new_values) {
        const auto old = old_by_path.find(value.path);
        if (old == old_by_path.end()) {
            changes.push_back({value.path, "", shown(value), value.reload});
            continue;
        }
        if (old->second->text != value.text)
            changes.push_back({value.path, shown(*old->second), shown(value), value.reload});
        old_by_path.erase(old);
    }
    for (const config::ValueInfo& value : old_values) {
        if (old_by_path.contains(value.path))
            changes.push_back({value.path, shown(value), "", value.reload});
    }
    return changes;
}

Result<void> check_reload(const Settings& before, const Settings& after) {
    for (const Vhost& vhost : after.vhosts) {
        for (const Vhost& old : before.vhosts) {
            if (old.name == vhost.name && old.cluster.mode != vhost.cluster.mode) {
                return Error(
                    Errc::conflict,
                    fmt::format("vhost {}: cluster.mode cannot change between local and remote while running", vhost.name));
            }
        }
    }
    return {};
}

}  // namespace live::settings
