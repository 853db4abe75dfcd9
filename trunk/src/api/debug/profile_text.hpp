// The output formats of a CPU profile: for pprof, and one line per stack for flame graphs. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "io/process/cpu_profile.hpp"

namespace live::api {

// The binary format of gperftools' profiler ("CPU profile format"): a header, the samples, a trailer, and the process's mappings,
// /proc/self/maps, by which pprof finds the program and its libraries.
std::string pprof_text(const io::CpuProfile& profile, std::string_view mappings);

// "outermost;...;innermost times", one line per distinct stack, sorted by text.
std::string folded_text(const io::CpuProfile& profile, const std::function<std::string(std::uintptr_t)>& name_of);

}  // namespace live::api
