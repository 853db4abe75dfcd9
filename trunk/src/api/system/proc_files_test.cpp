#include "api/system/proc_files.hpp"

#include <gtest/gtest.h>

namespace live::api {
namespace {

TEST(ProcFiles, StatCountsTicksAndProcessors) {
    const auto ticks = parse_stat("cpu  100 10 20 300 40 5 6 7 8 9\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nintr 5\n");
    EXPECT_EQ(ticks.total(), 488U);
    EXPECT_EQ(ticks.idle(), 340U);
    EXPECT_EQ(ticks.processors, 2);
}

TEST(ProcFiles, SelfStatAcceptsAnyProgramName) {
    EXPECT_EQ(parse_self_stat("4321 (a) b) S 1 4321 4321 0 -1 4194560 100 0 0 0 77 23 0 0 20 0 1 0 500\n").used, 100U);
    EXPECT_EQ(parse_self_stat("nonsense").used, 0U);
}

TEST(ProcFiles, MeminfoIsInKilobytes) {
    const auto memory = parse_meminfo(
        "MemTotal:       24684092 kB\nMemFree:        18232104 kB\nMemAvailable:   22788888 kB\nBuffers:           20088 kB\n"
        "Cached:          4547260 kB\nSwapCached:            0 kB\nSwapTotal:      100 kB\nSwapFree:       40 kB\n");
    EXPECT_EQ(memory.total_kbyte, 24'684'092U);
    EXPECT_EQ(memory.free_kbyte, 18'232'104U);
    EXPECT_EQ(memory.buffers_kbyte, 20'088U);
    EXPECT_EQ(memory.cached_kbyte, 4'547'260U);
    EXPECT_EQ(memory.swap_total_kbyte, 100U);
    EXPECT_EQ(memory.swap_free_kbyte, 40U);
}

TEST(ProcFiles, LoadAndUptime) {
    const auto load = parse_loadavg("11.24 10.76 11.01 14/182 18681\n");
    EXPECT_DOUBLE_EQ(load.one_minute, 11.24);
    EXPECT_DOUBLE_EQ(load.fifteen_minutes, 11.01);
    const auto uptime = parse_uptime("5281.33 3216.77\n");
    EXPECT_DOUBLE_EQ(uptime.seconds, 5281.33);
    EXPECT_DOUBLE_EQ(uptime.idle_seconds, 3216.77);
}

TEST(ProcFiles, DisksAreCountedWithoutTheirPartitions) {
    const char* text =
        "   7       0 loop0 0 0 0 0 0 0 0 0 0 900 0\n"
        " 254       0 vda 1 2 3 4 5 6 7 8 0 1000 9 0\n"
        " 254       1 vda1 1 2 3 4 5 6 7 8 0 990 9 0\n"
        " 254      16 vdb 1 2 3 4 5 6 7 8 0 50 9 0\n";
    const auto all = parse_diskstats(text, {});
    EXPECT_EQ(all.devices, 2);
    EXPECT_EQ(all.busy.count(), 1050);
    const auto one = parse_diskstats(text, {"vda1"});
    EXPECT_EQ(one.devices, 1);
    EXPECT_EQ(one.busy.count(), 990);
    const auto traffic = parse_vmstat("nr_free_pages 3\npgpgin 4481409\npgpgout 17927224\n");
    EXPECT_EQ(traffic.read_kbyte, 4'481'409U);
    EXPECT_EQ(traffic.written_kbyte, 17'927'224U);
}

TEST(ProcFiles, NetDevIsReadWithAndWithoutASpaceBehindTheName) {
    const auto interfaces = parse_net_dev(
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
        "compressed\n"
        "    lo: 3674851141 4340880    0    0    0     0          0         0 3674851142 4340880    0    0    0     0       0    "
        "      0\n"
        "  eth0:10 1 0 0 0 0 0 0 20 2 0 0 0 0 0 0\n");
    ASSERT_EQ(interfaces.size(), 2U);
    EXPECT_EQ(interfaces.at("lo").received, 3'674'851'141U);
    EXPECT_EQ(interfaces.at("lo").sent, 3'674'851'142U);
    EXPECT_EQ(interfaces.at("eth0").received, 10U);
    EXPECT_EQ(interfaces.at("eth0").sent, 20U);
}

TEST(ProcFiles, SocketsComeFromThreeFiles) {
    ProcFiles files;
    files.sockstat = "sockets: used 17\nTCP: inuse 3 orphan 0 tw 4 alloc 3 mem 315\nUDP: inuse 2 mem 0\n";
    files.sockstat6 = "TCP6: inuse 5\nUDP6: inuse 1\n";
    files.snmp = "Ip: A B\nIp: 1 2\nTcp: RtoAlgorithm CurrEstab InSegs\nTcp: 1 6 9\n";
    const auto sockets = parse_sockets(files);
    EXPECT_EQ(sockets.tcp, 12U);
    EXPECT_EQ(sockets.tcp_established, 6U);
    EXPECT_EQ(sockets.tcp_time_wait, 4U);
    EXPECT_EQ(sockets.udp, 3U);
}

TEST(ProcFiles, ReadsEveryTruncation) {
    const std::string text =
        "cpu  100 10 20 300 40 5 6 7 8 9\nTcp: A CurrEstab\nTcp: 1 6\n  eth0:10 1 0 0 0 0 0 0 20 2\n254 0 vda 1 2 3 4 5 6 7 8 0 "
        "1000 9\n";
    for (std::size_t size = 0; size <= text.size(); ++size) {
        const std::string cut = text.substr(0, size);
        ProcFiles files;
        files.snmp = files.sockstat = files.sockstat6 = cut;
        EXPECT_LE(parse_stat(cut).total(), 488U);
        EXPECT_LE(parse_sockets(files).tcp_established, 6U);
        EXPECT_LE(parse_net_dev(cut).size(), 3U);
        EXPECT_LE(parse_diskstats(cut, {}).devices, 5);
        EXPECT_EQ(parse_meminfo(cut).total_kbyte, 0U);
        static_cast<void>(parse_self_stat(cut));
        static_cast<void>(parse_loadavg(cut));
        static_cast<void>(parse_uptime(cut));
    }
}

TEST(ProcFiles, ThisMachineHasThem) {
    const ProcFiles files = read_proc_files();
    EXPECT_GT(parse_stat(files.stat).total(), 0U);
    EXPECT_GT(parse_meminfo(files.meminfo).total_kbyte, 0U);
    EXPECT_GT(parse_uptime(files.uptime).seconds, 0);
}

TEST(ProcFiles, SelfStatKeepsEveryFieldAndTheName) {
    const std::string text = "42 (a) b) c) R 1 -2 18446744073709551615 x 0\nmore\n";
    const SelfStat stat = parse_self_stat_fields(text);
    EXPECT_EQ(stat.pid, "42");
    EXPECT_EQ(stat.command, "a) b) c");
    EXPECT_EQ(stat.state, "R");
    EXPECT_EQ(stat.numbers, (std::vector<std::string>{"1", "-2", "18446744073709551615", "0", "0"}));
    for (std::size_t size = 0; size < text.size(); ++size)
        EXPECT_LE(parse_self_stat_fields(std::string_view(text).substr(0, size)).numbers.size(), 5U);
    std::string many = "1 (a) R";
    for (int i = 0; i < 1000; ++i)
        many += " 7";
    EXPECT_EQ(parse_self_stat_fields(many).numbers.size(), SelfStat::kNumbersMax);
}

}  // namespace
}  // namespace live::api
