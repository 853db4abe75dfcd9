// Forms of older generations of the conf file, rewritten in the tree of directives to today's before rows read it. It knows names
// and shapes, no values.
#pragma once

#include "base/config/directive.hpp"
#include "base/config/loading.hpp"

namespace live::settings {

// Rewrites the whole tree in place; each form that is found gives one warning for each place. Where the new form is there too, it
// wins.
void rewrite_legacy(config::Directive& root, config::Loading& loading);

}  // namespace live::settings
