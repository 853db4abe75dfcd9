// Rewrites old forms of conf files in the tree of directives to the current ones before the rows read it. It handles names and
// shapes, not values.
#pragma once

#include "base/config/directive.hpp"
#include "base/config/loading.hpp"

namespace live::settings {

// Rewrites the whole tree in place; each old form gives one warning per place. Where the new form is present too, it wins.
void rewrite_legacy(config::Directive& root, config::Loading& loading);

}  // namespace live::settings
