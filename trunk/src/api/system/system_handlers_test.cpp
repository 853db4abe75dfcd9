#include "api/system/system_handlers.hpp"

#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::api {
namespace {

using HandlerFixture = HandlerFixtureOf<nlohmann::ordered_json>;

class NoCounters final : public ServerCounters {
public:
    Totals totals() const override { return {}; }
};

struct SystemApiTest : HandlerFixture {
    SystemApiTest() { add_system(endpoints, sampler); }
    void sample() { MUST(sampler.sample(io::Deadline::after(io::kSoon))); }

    NoCounters counters;
    SystemSampler sampler{counters, {}};
};

const HandlerFixture::Fields kUsage = {
    {"ok", HandlerFixture::kBool},           {"sample_time", HandlerFixture::kWhole}, {"ru_utime", HandlerFixture::kWhole},
    {"ru_stime", HandlerFixture::kWhole},    {"ru_maxrss", HandlerFixture::kWhole},   {"ru_ixrss", HandlerFixture::kWhole},
    {"ru_idrss", HandlerFixture::kWhole},    {"ru_isrss", HandlerFixture::kWhole},    {"ru_minflt", HandlerFixture::kWhole},
    {"ru_majflt", HandlerFixture::kWhole},   {"ru_nswap", HandlerFixture::kWhole},    {"ru_inblock", HandlerFixture::kWhole},
    {"ru_oublock", HandlerFixture::kWhole},  {"ru_msgsnd", HandlerFixture::kWhole},   {"ru_msgrcv", HandlerFixture::kWhole},
    {"ru_nsignals", HandlerFixture::kWhole}, {"ru_nvcsw", HandlerFixture::kWhole},    {"ru_nivcsw", HandlerFixture::kWhole}};

TEST_F(SystemApiTest, SamplerRunsByItself) {
    io::Scope scope("test");
    MUST(scope.start("sampler", [this](io::Deadline forever) { sampler.run(forever); }));
    io::wait_until([this] { return ask_json("/api/v1/rusages")["data"]["ok"] == true; });
    MUST(scope.stop(io::Deadline::after(io::kSoon)));
}

TEST_F(SystemApiTest, ResourceUsageHasEveryField) {
    expect_fields(ask_json("/api/v1/rusages")["data"], kUsage);
    EXPECT_EQ(ask_json("/api/v1/rusages")["data"]["ok"], false);
    sample();
    const Json data = ask_json("/api/v1/rusages")["data"];
    expect_fields(data, kUsage);
    EXPECT_EQ(data["ok"], true);
    EXPECT_GT(data["ru_maxrss"], 0);
    EXPECT_GT(data["sample_time"], 1'700'000'000'000);
}

TEST_F(SystemApiTest, TheProcessHasEveryFieldOfTheKernel) {
    sample();
    sample();
    const Json data = ask_json("/api/v1/self_proc_stats")["data"];
    Fields fields = {{"ok", kBool},   {"sample_time", kWhole}, {"percent", kReal},
                     {"pid", kWhole}, {"comm", kText},         {"state", kText}};
    for (const char* name : {"ppid",        "pgrp",        "session",
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
                             "guest_time",  "cguest_time"})
        fields.emplace_back(name, kWhole);
    expect_fields(data, fields);
    EXPECT_EQ(data["ok"], true);
    EXPECT_EQ(data["pid"], ::getpid());
    EXPECT_EQ(data["ppid"], ::getppid());
    EXPECT_EQ(data["state"].get<std::string>().size(), 1U);
    EXPECT_GT(data["vsize"], 1'000'000);
    EXPECT_GE(data["num_threads"], 1);
    EXPECT_GT(data["starttime"], 0);
}

TEST_F(SystemApiTest, TheProcessorsHaveEveryField) {
    sample();
    EXPECT_EQ(ask_json("/api/v1/system_proc_stats")["data"]["ok"], false);
    sample();
    const Json data = ask_json("/api/v1/system_proc_stats")["data"];
    expect_fields(data, {{"ok", kBool},
                         {"sample_time", kWhole},
                         {"percent", kReal},
                         {"user", kWhole},
                         {"nice", kWhole},
                         {"sys", kWhole},
                         {"idle", kWhole},
                         {"iowait", kWhole},
                         {"irq", kWhole},
                         {"softirq", kWhole},
                         {"steal", kWhole},
                         {"guest", kWhole}});
    EXPECT_EQ(data["ok"], true);
    EXPECT_GT(data["user"], 0);
    EXPECT_GT(data["idle"], 0);
}

TEST_F(SystemApiTest, MemoryFieldsAddUp) {
    sample();
    const Json data = ask_json("/api/v1/meminfos")["data"];
    expect_fields(data, {{"ok", kBool},
                         {"sample_time", kWhole},
                         {"percent_ram", kReal},
                         {"percent_swap", kReal},
                         {"MemActive", kWhole},
                         {"RealInUse", kWhole},
                         {"NotInUse", kWhole},
                         {"MemTotal", kWhole},
                         {"MemFree", kWhole},
                         {"Buffers", kWhole},
                         {"Cached", kWhole},
                         {"SwapTotal", kWhole},
                         {"SwapFree", kWhole}});
    EXPECT_EQ(data["ok"], true);
    const auto number = [&data](const char* name) { return data[name].get<std::int64_t>(); };
    EXPECT_EQ(number("MemActive"), number("MemTotal") - number("MemFree"));
    EXPECT_EQ(number("RealInUse"), number("MemActive") - number("Buffers") - number("Cached"));
    EXPECT_EQ(number("NotInUse"), number("MemTotal") - number("RealInUse"));
    EXPECT_NEAR(data["percent_ram"].get<double>(),
                static_cast<double>(number("RealInUse")) / static_cast<double>(number("MemTotal")), 1e-9);
}

TEST_F(SystemApiTest, ReadOnlyEndpointsAcceptEveryMethod) {
    for (const char* name : {"rusages", "self_proc_stats", "system_proc_stats", "meminfos"})
        for (const char* method : {"POST", "PUT", "DELETE"})
            EXPECT_EQ(ask(std::string("/api/v1/") + name, method).status, 200) << name;
}

}  // namespace
}  // namespace live::api
