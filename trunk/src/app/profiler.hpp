// The profilers that `configure --gperf=on --gcp|--gmp|--gmc|--gmd=on` link in: started before the configuration is read, stopped
// when the process returns from main. In an ordinary build this does nothing. gprof needs no help: the compiler writes gmon.out.
#pragma once

#include <string>
#include <vector>

namespace live::app {

// What this build profiles, and what its environment lacks.
struct ProfilerPlan {
    bool cpu = false;          // gperf.srs.gcp
    bool heap = false;         // gperf.srs.gmp.NNNN.heap
    bool leaks = false;        // the library's own check at exit, asked for by HEAPCHECK
    bool page_fences = false;  // the debug allocator, asked for by TCMALLOC_PAGE_FENCE
};

ProfilerPlan built_in_profilers();

// A sentence for each variable that a plan wants and the process does not have. `get` is getenv or a test's stand-in.
std::vector<std::string> missing_environment(const ProfilerPlan& plan, const char* (*get)(const char* name));

// Writes a heap profile now, in builds that take them: what is held while the server works is gone when the process ends.
void dump_heap_profile(const char* why);

// Profiles while it lives. Files are written to the folder that is current when it is made. One for a process.
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
