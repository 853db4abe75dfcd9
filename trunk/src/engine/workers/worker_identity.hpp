// WorkerIdentity: which of several workers a process is, and its number at its master.
#pragma once

#include "engine/workers/message.hpp"

namespace live::engine::workers {

struct WorkerIdentity {
    // 1..count; 0: the process is not a worker.
    Worker number = 0;
    Worker count = 0;
    // The number in the master's list, where it differs from `number`: during an upgrade. The ids of workers that start together
    // are consecutive and follow a multiple of their count.
    Worker id = 0;

    bool is_worker() const { return number != 0; }
    // Reports whether this process does the work that must be done once: it is alone, or the first worker.
    bool is_first() const { return number <= 1; }
    Worker address() const { return id != 0 ? id : number; }
    // Returns the address of a worker of the same start.
    Worker address_of(Worker other) const { return static_cast<Worker>(address() - number + other); }
    // Reports whether the process with that address belongs to the same start.
    bool is_mate(Worker other) const { return is_worker() && other > address() - number && other <= address() - number + count; }
    // Reports whether the process with that address has, or had, the same ports before or after an upgrade.
    bool shares_ports_with(Worker other) const {
        return !is_worker() || (!is_mate(other) && other != 0 && (other - 1) % count == number - 1);
    }
};

}  // namespace live::engine::workers
