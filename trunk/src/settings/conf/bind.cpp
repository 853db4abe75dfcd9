// The only place that applies all rows to directives. A separate file because it is slow to compile.
#include "settings/conf/rows.hpp"
#include "settings/conf/tools.hpp"

namespace live::settings {

Result<void> bind_settings(Settings& settings, const config::Directive& root, config::Loading& loading) {
    return config::bind_rows(kSettingsRows, settings, root, loading);
}

}  // namespace live::settings
