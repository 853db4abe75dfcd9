// The one place where all rows are put to work on directives. On its own because it is slow to compile.
#include "main/settings_rows.hpp"
#include "main/settings_tools.hpp"

namespace live::main_ {

Result<void> bind_settings(Settings& settings, const config::Directive& root, config::Loading& loading) {
    return config::bind_rows(kSettingsRows, settings, root, loading);
}

}  // namespace live::main_
