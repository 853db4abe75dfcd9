// The record of one fiber: its name, its function, its owner. Internal to the io room; the rest of the server uses Scope, and
// list_fibers() for listings.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "io/fibers/deadline.hpp"

struct _st_thread;

namespace live::io {

class Scope;
namespace st {
class Park;
}

struct Fiber {
    explicit Fiber(std::string fiber_name) : name(std::move(fiber_name)) {}

    std::string name;
    std::function<void(Deadline)> body;
    Scope* scope = nullptr;
    std::string_view scope_name;  // valid while the fiber is in the scope
    _st_thread* thread = nullptr;
    st::Park* park = nullptr;  // set while it sleeps
    Fiber* next_in_scope = nullptr;
    Fiber* previous_in_scope = nullptr;
    Fiber* next = nullptr;
    Fiber* previous = nullptr;
    TimePoint started{};
    std::uint64_t id = 0;
    std::uint32_t shields = 0;  // existing CancelShield guards
    bool cancelled = false;
    bool cancel_seen = false;  // a sleep has already reported it
};

}  // namespace live::io
