// Waiters: requests that wait for something not yet available. Their fibers own the signals.
#pragma once

#include <vector>

#include "base/signal.hpp"

namespace live::service::files {

class Waiters {
public:
    void add(Signal& signal) { signals_.push_back(&signal); }
    void remove(Signal& signal) { std::erase(signals_, &signal); }
    void raise() {
        for (Signal* signal : signals_)
            signal->raise();
    }

private:
    std::vector<Signal*> signals_;
};

}  // namespace live::service::files
