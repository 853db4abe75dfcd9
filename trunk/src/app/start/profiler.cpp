#include "app/start/profiler.hpp"

#include <climits>
#include <string_view>

#include <unistd.h>

// gperftools' C interface, as declared in its headers. Weak: an ordinary build links no profiler and has none of these.
extern "C" {
__attribute__((weak)) int ProfilerStart(const char* file);
__attribute__((weak)) void ProfilerStop();
__attribute__((weak)) void HeapProfilerStart(const char* prefix);
__attribute__((weak)) void HeapProfilerDump(const char* reason);
__attribute__((weak)) void HeapProfilerStop();
}

namespace live::app {

namespace {

#ifdef LIVE_GCP
constexpr bool kCpu = true;
#else
constexpr bool kCpu = false;
#endif
#ifdef LIVE_GMP
constexpr bool kHeap = true;
#else
constexpr bool kHeap = false;
#endif
#ifdef LIVE_GMC
constexpr bool kLeaks = true;
#else
constexpr bool kLeaks = false;
#endif
#ifdef LIVE_GMD
constexpr bool kPageFences = true;
#else
constexpr bool kPageFences = false;
#endif

// Absolute, because `work_dir` may change the working directory later and a heap profile opens a file at each dump.
std::string in_current_folder(std::string_view name) {
    char folder[PATH_MAX];
    if (::getcwd(folder, sizeof folder) == nullptr)
        return std::string(name);
    return std::string(folder) + "/" + std::string(name);
}

}  // namespace

ProfilerPlan built_in_profilers() { return {kCpu, kHeap, kLeaks, kPageFences}; }

std::vector<std::string> missing_environment(const ProfilerPlan& plan, const char* (*get)(const char* name)) {
    std::vector<std::string> missing;
    if (plan.leaks && get("HEAPCHECK") == nullptr)
        missing.emplace_back(
            "HEAPCHECK is not set, no leak will be reported: env HEAPCHECK=normal PPROF_PATH=./objs/pprof ./objs/srs ...");
    const char* fence = plan.page_fences ? get("TCMALLOC_PAGE_FENCE") : "1";
    if (fence == nullptr || std::string_view(fence) != "1")
        missing.emplace_back(
            "TCMALLOC_PAGE_FENCE=1 is not set, overruns will not be caught: env TCMALLOC_PAGE_FENCE=1 ./objs/srs ...");
    return missing;
}

void dump_heap_profile(const char* why) {
    if (kHeap && HeapProfilerDump != nullptr)
        HeapProfilerDump(why);
}

Profiler::Profiler(const ProfilerPlan& plan) {
    if (plan.cpu && ProfilerStart != nullptr)
        cpu_ = ProfilerStart(in_current_folder("gperf.srs.gcp").c_str()) != 0;
    if (plan.heap && HeapProfilerStart != nullptr) {
        HeapProfilerStart(in_current_folder("gperf.srs.gmp").c_str());
        heap_ = true;
    }
}

Profiler::~Profiler() {
    if (heap_) {
        HeapProfilerDump("the process stops");
        HeapProfilerStop();
    }
    if (cpu_)
        ProfilerStop();
}

}  // namespace live::app
