// OptionsOf: the options that a virtual host has for one thing, from the settings of the moment. The settings implement it; a
// service asks it each time, so a reload counts at once.
#pragma once

#include <string>

namespace live {

template <class Options>
class OptionsOf {
public:
    // Of the virtual host that serves `vhost`, a name that a client said; nullptr when none does or it is switched off. Must not
    // suspend; the answer is good until the next suspension.
    virtual const Options* find(const std::string& vhost) const = 0;

protected:
    ~OptionsOf() = default;
};

}  // namespace live
