#include "api/system/system_handlers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/json_text.hpp"

namespace live::api {

namespace {

using Json = nlohmann::ordered_json;
using session::http::Reply;
using session::http::Request;

// The fields after the state, in the kernel's order (proc(5)).
constexpr std::array kSelfStatNames = {"ppid",        "pgrp",        "session",
                                       "tty_nr",      "tpgid",       "flags",
                                       "minflt",      "cminflt",     "majflt",
                                       "cmajflt",     "utime",       "stime",
                                       "cutime",      "cstime",      "priority",
                                       "nice",        "num_threads", "itrealvalue",
                                       "starttime",   "vsize",       "rss",
                                       "rsslim",      "startcode",   "endcode",
                                       "startstack",  "kstkesp",     "kstkeip",
                                       "signal",      "blocked",     "sigignore",
                                       "sigcatch",    "wchan",       "nswap",
                                       "cnswap",      "exit_signal", "processor",
                                       "rt_priority", "policy",      "delayacct_blkio_ticks",
                                       "guest_time",  "cguest_time"};

// Some are negative, some use all 64 bits.
Json json_number(std::string_view text) {
    if (text.starts_with('-')) {
        std::int64_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

bool is_sampled(const SystemFigures& figures) { return figures.sampled_at.count() > 0; }

std::string rusages(const SystemFigures& figures) {
    const ResourceUsage& usage = figures.resources;
    const Json data = {{"ok", is_sampled(figures)},      {"sample_time", figures.sampled_at.count()},
                       {"ru_utime", usage.user_seconds}, {"ru_stime", usage.system_seconds},
                       {"ru_maxrss", usage.maxrss},      {"ru_ixrss", usage.ixrss},
                       {"ru_idrss", usage.idrss},        {"ru_isrss", usage.isrss},
                       {"ru_minflt", usage.minflt},      {"ru_majflt", usage.majflt},
                       {"ru_nswap", usage.nswap},        {"ru_inblock", usage.inblock},
                       {"ru_oublock", usage.oublock},    {"ru_msgsnd", usage.msgsnd},
                       {"ru_msgrcv", usage.msgrcv},      {"ru_nsignals", usage.nsignals},
                       {"ru_nvcsw", usage.nvcsw},        {"ru_nivcsw", usage.nivcsw}};
    return text_of(data);
}

std::string self_proc_stats(const SystemFigures& figures) {
    const SelfStat& stat = figures.self_stat;
    Json data = {{"ok", figures.is_complete},
                 {"sample_time", figures.sampled_at.count()},
                 {"percent", figures.self_cpu_share},
                 {"pid", json_number(stat.pid)},
                 {"comm", stat.command},
                 {"state", stat.state}};
    for (std::size_t i = 0; i < kSelfStatNames.size(); ++i)
        data[kSelfStatNames[i]] = json_number(i < stat.numbers.size() ? std::string_view(stat.numbers[i]) : "");
    return text_of(data);
}

std::string system_proc_stats(const SystemFigures& figures) {
    const CpuTicks& cpu = figures.cpu;
    const Json data = {{"ok", figures.is_complete},
                       {"sample_time", figures.sampled_at.count()},
                       {"percent", figures.cpu_share},
                       {"user", cpu.user},
                       {"nice", cpu.nice},
                       {"sys", cpu.system},
                       {"idle", cpu.idle_alone},
                       {"iowait", cpu.io_wait},
                       {"irq", cpu.irq},
                       {"softirq", cpu.soft_irq},
                       {"steal", cpu.steal},
                       {"guest", cpu.guest}};
    return text_of(data);
}

std::string meminfos(const SystemFigures& figures) {
    const Memory& memory = figures.memory;
    const std::uint64_t active = memory.total_kbyte - std::min(memory.free_kbyte, memory.total_kbyte);
    const std::uint64_t real = active - std::min(memory.buffers_kbyte + memory.cached_kbyte, active);
    const Json data = {{"ok", is_sampled(figures)},
                       {"sample_time", figures.sampled_at.count()},
                       {"percent_ram", figures.memory_share},
                       {"percent_swap", figures.swap_share},
                       {"MemActive", active},
                       {"RealInUse", real},
                       {"NotInUse", memory.total_kbyte - real},
                       {"MemTotal", memory.total_kbyte},
                       {"MemFree", memory.free_kbyte},
                       {"Buffers", memory.buffers_kbyte},
                       {"Cached", memory.cached_kbyte},
                       {"SwapTotal", memory.swap_total_kbyte},
                       {"SwapFree", memory.swap_free_kbyte}};
    return text_of(data);
}

}  // namespace

Reply FiguresHandler::handle(const Request& request, io::Deadline) {
    return json_reply(request, envelope(server_, "data", write_(sampler_.figures())));
}

void add_system(Endpoints& endpoints, const SystemSampler& sampler) {
    const ServerInfo& server = endpoints.server();
    endpoints.add<FiguresHandler>("/api/v1/rusages", server, sampler, rusages);
    endpoints.add<FiguresHandler>("/api/v1/self_proc_stats", server, sampler, self_proc_stats);
    endpoints.add<FiguresHandler>("/api/v1/system_proc_stats", server, sampler, system_proc_stats);
    endpoints.add<FiguresHandler>("/api/v1/meminfos", server, sampler, meminfos);
}

}  // namespace live::api
