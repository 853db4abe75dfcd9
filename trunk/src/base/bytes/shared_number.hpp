// A number in memory that other threads or processes change at the same moment.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"

namespace live {

// At `offset`, where its alignment allows it.
template <class Number>
std::atomic_ref<Number> shared_number(MutBytes memory, std::size_t offset) {
    CHECK(offset + sizeof(Number) <= memory.size() && offset % sizeof(Number) == 0);
    return std::atomic_ref<Number>(*reinterpret_cast<Number*>(memory.data() + offset));
}

}  // namespace live
