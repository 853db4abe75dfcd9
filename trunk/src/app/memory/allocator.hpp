// The allocator of builds with gperftools: its statistics for the API, and how eagerly it returns memory to the system.
#pragma once

#include <memory>

#include "api/debug/allocator_handler.hpp"
#include "base/log/log.hpp"

namespace live::app {

// nullptr in ordinary builds. `release_rate` from 0 (never) to 10.
std::unique_ptr<api::Allocator> make_allocator_figures(double release_rate, const Log& log);

}  // namespace live::app
