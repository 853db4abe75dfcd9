#include "api/system/proc_files.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>

namespace live::api {

namespace {

std::string read_text(const char* path) {
    constexpr std::size_t kStep = 16 * 1024;
    std::ifstream file(path);
    std::string text;
    while (file && text.size() < kProcFileBytesMax) {
        const std::size_t had = text.size();
        text.resize(had + kStep);
        file.read(text.data() + had, kStep);
        text.resize(had + static_cast<std::size_t>(file.gcount()));
    }
    return text;
}

// Removes the next line from `text`; nothing at the end.
std::optional<std::string_view> next_line(std::string_view& text) {
    if (text.empty())
        return std::nullopt;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

// Removes the next word from `line`; empty at the end.
std::string_view next_word(std::string_view& line) {
    const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

template <class Number>
Number number_of(std::string_view word) {
    Number number{};
    static_cast<void>(std::from_chars(word.data(), word.data() + word.size(), number));
    return number;
}

template <class Number>
Number next_number(std::string_view& line) {
    return number_of<Number>(next_word(line));
}

// The number after the first word `key` of any line.
std::uint64_t value_of(std::string_view text, std::string_view key) {
    while (auto line = next_line(text))
        if (next_word(*line) == key)
            return next_number<std::uint64_t>(*line);
    return 0;
}

// The number after the word `name` in the line that begins with `key`: "TCP: inuse 3 orphan 0".
std::uint64_t value_in_line(std::string_view text, std::string_view key, std::string_view name) {
    while (auto line = next_line(text)) {
        if (next_word(*line) != key)
            continue;
        while (!line->empty())
            if (next_word(*line) == name)
                return next_number<std::uint64_t>(*line);
    }
    return 0;
}

// /proc/net/snmp: a line of names and a line of values.
std::uint64_t established_of(std::string_view snmp) {
    std::vector<std::string_view> names;
    while (auto line = next_line(snmp)) {
        if (next_word(*line) != "Tcp:")
            continue;
        std::vector<std::string_view> words;
        while (!line->empty())
            words.push_back(next_word(*line));
        const auto at = std::find(names.begin(), names.end(), "CurrEstab");
        const auto index = static_cast<std::size_t>(at - names.begin());
        if (at != names.end() && index < words.size())
            return number_of<std::uint64_t>(words[index]);
        names = std::move(words);
    }
    return 0;
}

}  // namespace

ProcFiles read_proc_files() {
    ProcFiles files;
    files.stat = read_text("/proc/stat");
    files.self_stat = read_text("/proc/self/stat");
    files.meminfo = read_text("/proc/meminfo");
    files.loadavg = read_text("/proc/loadavg");
    files.uptime = read_text("/proc/uptime");
    files.vmstat = read_text("/proc/vmstat");
    files.diskstats = read_text("/proc/diskstats");
    files.net_dev = read_text("/proc/net/dev");
    files.snmp = read_text("/proc/net/snmp");
    files.sockstat = read_text("/proc/net/sockstat");
    files.sockstat6 = read_text("/proc/net/sockstat6");
    return files;
}

CpuTicks parse_stat(std::string_view text) {
    CpuTicks ticks;
    while (auto line = next_line(text)) {
        const std::string_view name = next_word(*line);
        if (name == "cpu") {
            for (std::uint64_t* field : {&ticks.user, &ticks.nice, &ticks.system, &ticks.idle_alone, &ticks.io_wait, &ticks.irq,
                                         &ticks.soft_irq, &ticks.steal, &ticks.guest})
                *field = next_number<std::uint64_t>(*line);
        } else if (name.starts_with("cpu")) {
            ++ticks.processors;
        }
    }
    return ticks;
}

SelfTicks parse_self_stat(std::string_view text) {
    // The program's name is in parentheses and may contain anything; fields are counted after it, from the state on.
    const std::size_t close = text.rfind(')');
    if (close == std::string_view::npos)
        return {};
    text.remove_prefix(close + 1);
    constexpr int kBeforeUserTime = 11;
    for (int i = 0; i < kBeforeUserTime; ++i)
        next_word(text);
    const auto user = next_number<std::uint64_t>(text);
    return {user + next_number<std::uint64_t>(text)};
}

SelfStat parse_self_stat_fields(std::string_view text) {
    SelfStat stat;
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return stat;
    std::string_view before = text.substr(0, open);
    stat.pid = next_word(before);
    stat.command = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    text = text.substr(0, text.find('\n'));
    stat.state = next_word(text);
    for (std::string_view word = next_word(text); !word.empty() && stat.numbers.size() < SelfStat::kNumbersMax;
         word = next_word(text)) {
        const std::string_view digits = word.starts_with('-') ? word.substr(1) : word;
        const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
        stat.numbers.emplace_back(is_number ? word : "0");
    }
    return stat;
}

std::uint64_t SelfStat::resident_pages() const {
    constexpr std::size_t kResident = 20;
    return numbers.size() > kResident ? number_of<std::uint64_t>(numbers[kResident]) : 0;
}

Memory parse_meminfo(std::string_view text) {
    return {value_of(text, "MemTotal:"), value_of(text, "MemFree:"),   value_of(text, "Buffers:"),
            value_of(text, "Cached:"),   value_of(text, "SwapTotal:"), value_of(text, "SwapFree:")};
}

Load parse_loadavg(std::string_view text) {
    const auto one = next_number<double>(text);
    const auto five = next_number<double>(text);
    return {one, five, next_number<double>(text)};
}

Uptime parse_uptime(std::string_view text) {
    const auto seconds = next_number<double>(text);
    const std::string_view idle = next_word(text);
    return {seconds, number_of<double>(idle.substr(0, idle.find('\n')))};
}

DiskTraffic parse_vmstat(std::string_view text) { return {value_of(text, "pgpgin"), value_of(text, "pgpgout")}; }

DiskBusy parse_diskstats(std::string_view text, const std::vector<std::string>& wanted) {
    DiskBusy result;
    std::string_view disk;
    while (auto line = next_line(text)) {
        next_word(*line);
        next_word(*line);
        const std::string_view name = next_word(*line);
        if (name.empty())
            continue;
        const bool is_virtual = name.starts_with("loop") || name.starts_with("ram");
        // The kernel lists a disk before its partitions: vda, vda1, nvme0n1, nvme0n1p1.
        const bool is_partition = !disk.empty() && name.starts_with(disk);
        if (!is_partition)
            disk = name;
        const bool takes =
            wanted.empty() ? !is_virtual && !is_partition : std::find(wanted.begin(), wanted.end(), name) != wanted.end();
        if (!takes)
            continue;
        constexpr int kBeforeBusy = 9;
        for (int i = 0; i < kBeforeBusy; ++i)
            next_word(*line);
        result.busy += std::chrono::milliseconds(next_number<std::int64_t>(*line));
        ++result.devices;
    }
    return result;
}

std::map<std::string, InterfaceBytes, std::less<>> parse_net_dev(std::string_view text) {
    std::map<std::string, InterfaceBytes, std::less<>> interfaces;
    while (auto line = next_line(text)) {
        const std::size_t colon = line->find(':');
        if (colon == std::string_view::npos)
            continue;
        std::string_view name = line->substr(0, colon);
        name = next_word(name);
        line->remove_prefix(colon + 1);
        InterfaceBytes bytes;
        bytes.received = next_number<std::uint64_t>(*line);
        constexpr int kBeforeSent = 7;
        for (int i = 0; i < kBeforeSent; ++i)
            next_word(*line);
        bytes.sent = next_number<std::uint64_t>(*line);
        interfaces.insert_or_assign(std::string(name), bytes);
    }
    return interfaces;
}

Sockets parse_sockets(const ProcFiles& files) {
    Sockets sockets;
    sockets.tcp_time_wait = value_in_line(files.sockstat, "TCP:", "tw");
    sockets.tcp =
        value_in_line(files.sockstat, "TCP:", "inuse") + value_in_line(files.sockstat6, "TCP6:", "inuse") + sockets.tcp_time_wait;
    sockets.tcp_established = established_of(files.snmp);
    sockets.udp = value_in_line(files.sockstat, "UDP:", "inuse") + value_in_line(files.sockstat6, "UDP6:", "inuse");
    return sockets;
}

}  // namespace live::api
