// UpgradeListener: the messages of an upgrade that a process receives from its master.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace live::supervisor {

// No function may suspend.
class UpgradeListener {
public:
    // The master requests copies of this process's sockets. The process answers with gifts.
    virtual void on_give() = 0;
    // The new program serves as process `pid`; none: it does not, and `why` is the reason.
    virtual void on_upgraded(std::optional<std::uint32_t> pid, const std::string& why) = 0;
    // The old processes take no new clients.
    virtual void on_take() = 0;

protected:
    ~UpgradeListener() = default;
};

}  // namespace live::supervisor
