#include "base/config/directive.hpp"

namespace live::config {

const Directive* Directive::find(std::string_view child_name) const {
    for (const Directive& child : children) {
        if (child.name == child_name)
            return &child;
    }
    return nullptr;
}

Directive* Directive::find(std::string_view child_name) {
    return const_cast<Directive*>(static_cast<const Directive*>(this)->find(child_name));
}

}  // namespace live::config
