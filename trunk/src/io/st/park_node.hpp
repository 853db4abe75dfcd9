// Links a sleeping fiber to the descriptors it waits for. The engine handles these nodes and never a fiber.
#pragma once

#include <cstdint>

namespace live::io::st {

// A waiter for a descriptor.
class Sleeper {
public:
    // Makes it runnable; the reason is in a node. No effect when it is already awake.
    virtual void wake() = 0;

protected:
    ~Sleeper() = default;
};

// One descriptor a sleeper waits for. `wanted` and `got` are EPOLL* bits.
struct ParkNode {
    int fd = -1;
    std::uint32_t wanted = 0;
    std::uint32_t got = 0;
    Sleeper* sleeper = nullptr;
    ParkNode* next = nullptr;
    ParkNode* previous = nullptr;
};

}  // namespace live::io::st
