// The profilers linked in by `configure --gperf=on --gcp|--gmp|--gmc|--gmd=on`: started before the configuration is read, stopped
// when the process returns from main. Does nothing in an ordinary build. gprof needs no support here: the compiler writes
// gmon.out.
#pragma once

#include <string>
#include <vector>

namespace live::app {

// The profilers of this build.
struct ProfilerPlan {
    bool cpu = false;          // gperf.srs.gcp
    bool heap = false;         // gperf.srs.gmp.NNNN.heap
    bool leaks = false;        // the library's own check at exit, enabled by HEAPCHECK
    bool page_fences = false;  // the debug allocator, enabled by TCMALLOC_PAGE_FENCE
};

ProfilerPlan built_in_profilers();

// A sentence for each variable that the plan needs and the environment lacks. `get` is getenv or a test's stand-in.
std::vector<std::string> missing_environment(const ProfilerPlan& plan, const char* (*get)(const char* name));

// Writes a heap profile now, in builds with heap profiling: at process exit the memory of operation is freed.
void dump_heap_profile(const char* why);

// Profiles during its lifetime. Files go to the folder that is current when it is created. One per process.
class Profiler {
public:
    explicit Profiler(const ProfilerPlan& plan);
    ~Profiler();
    Profiler(const Profiler&) = delete;
    Profiler& operator=(const Profiler&) = delete;

private:
    bool cpu_ = false;
    bool heap_ = false;
};

}  // namespace live::app
