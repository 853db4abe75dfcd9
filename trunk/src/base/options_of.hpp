// OptionsOf: a virtual host's options for one feature, from the current settings. The settings implement it; services query it on
// each use, so a reload takes effect immediately.
#pragma once

#include <string>

namespace live {

template <class Options>
class OptionsOf {
public:
    // Options of the virtual host that serves the client-supplied name `vhost`; nullptr when there is none or the feature is off.
    // Must not suspend; the pointer is valid until the next suspension.
    virtual const Options* find(const std::string& vhost) const = 0;

protected:
    ~OptionsOf() = default;
};

}  // namespace live
