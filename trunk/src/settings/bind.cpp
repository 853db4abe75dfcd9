// The one place where all rows are put to work on directives. On its own because it is slow to compile.
#include "settings/rows.hpp"
#include "settings/tools.hpp"

namespace live::settings {

Result<void> bind_settings(Settings& settings, const config::Directive& root, config::Loading& loading) {
    return config::bind_rows(kSettingsRows, settings, root, loading);
}

}  // namespace live::settings
