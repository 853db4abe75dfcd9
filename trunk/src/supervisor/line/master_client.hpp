// MasterClient: this process as a member of a master, implemented by a service of a higher room.
#pragma once

#include "base/result.hpp"
#include "supervisor/line/master_line.hpp"

namespace live::supervisor {

// No function may suspend.
class MasterClient {
public:
    // Reports whether this process has a master.
    virtual bool is_on() const = 0;
    // Joins the master at the other end of `line`, which outlives this. The process must be alone.
    virtual Result<void> attach(MasterLine& line) = 0;

protected:
    ~MasterClient() = default;
};

}  // namespace live::supervisor
