#include "common.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace bench {
namespace {

volatile std::sig_atomic_t stop_flag = 0;

void on_stop_signal(int) { stop_flag = 1; }

}  // namespace

void die(const std::string& sentence) {
    std::fprintf(stderr, "%s\n", sentence.c_str());
    std::exit(2);
}

double now_seconds() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void sleep_seconds(double seconds) {
    if (seconds <= 0)
        return;
    const double whole = std::floor(seconds);
    const timespec t{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
    nanosleep(&t, nullptr);
}

void raise_file_limit(std::size_t wanted) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max = wanted;  // Only root may, and not in every container.
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        die("this needs " + std::to_string(wanted) + " open files, and the hard limit does not allow it");
}

void catch_stop_signals() {
    struct sigaction action {};
    action.sa_handler = on_stop_signal;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

bool stop_requested() { return stop_flag != 0; }

Args::Args(int argc, char** argv, std::string_view usage) : usage_(usage) {
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name.rfind("--", 0) != 0 || name == "--help")
            die("usage: " + usage_);
        const bool has_value = i + 1 < argc && std::strncmp(argv[i + 1], "--", 2) != 0;
        given_[name.substr(2)] = has_value ? argv[++i] : "";
    }
}

const std::string* Args::find(const std::string& name) {
    used_[name] = true;
    const auto it = given_.find(name);
    return it == given_.end() ? nullptr : &it->second;
}

std::string Args::text(const std::string& name, const std::string& fallback) {
    const std::string* value = find(name);
    return value == nullptr ? fallback : *value;
}

std::string Args::required(const std::string& name) {
    const std::string* value = find(name);
    if (value == nullptr || value->empty())
        die("--" + name + " is needed\nusage: " + usage_);
    return *value;
}

double Args::number(const std::string& name, double fallback) {
    const std::string* value = find(name);
    if (value == nullptr)
        return fallback;
    char* end = nullptr;
    const double number = std::strtod(value->c_str(), &end);
    if (value->empty() || *end != 0 || !(number >= 0))
        die("--" + name + " takes a number, not \"" + *value + "\"");
    return number;
}

std::size_t Args::count(const std::string& name, std::size_t fallback) {
    return static_cast<std::size_t>(number(name, static_cast<double>(fallback)));
}

bool Args::flag(const std::string& name) { return find(name) != nullptr; }

void Args::check_all_used() const {
    for (const auto& [name, value] : given_) {
        if (used_.count(name) == 0)
            die("unknown option --" + name + "\nusage: " + usage_);
    }
}

JsonLine::JsonLine(std::string_view event) : text_("{\"event\":\"" + std::string(event) + "\"") {}

JsonLine& JsonLine::add(std::string_view name, std::uint64_t value) {
    text_ += ",\"" + std::string(name) + "\":" + std::to_string(value);
    return *this;
}

JsonLine& JsonLine::add(std::string_view name, double value) {
    char number[64];
    std::snprintf(number, sizeof number, "%.6g", value);
    text_ += ",\"" + std::string(name) + "\":" + number;
    return *this;
}

void JsonLine::print() {
    std::printf("%s}\n", text_.c_str());
    std::fflush(stdout);
}

double quantile(std::vector<double>& values, double share) {
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

int start_connect(const std::string& host, std::uint16_t port, bool reset_on_close) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die(std::string("socket: ") + std::strerror(errno));
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (reset_on_close) {
        const linger reset{1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    }
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    if (inet_pton(AF_INET, host.c_str(), &to.sin_addr) != 1)
        die("not an IPv4 address: " + host);
    // A refusal at once shows up as an error event, like a later one.
    (void)connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    return fd;
}

int listen_on(std::uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || listen(fd, 4096) != 0)
        die("cannot listen on port " + std::to_string(port) + ": " + std::strerror(errno));
    return fd;
}

void watch(int epoll, int socket, std::uint32_t events, std::uint32_t id, bool is_new) {
    epoll_event event{};
    event.events = events;
    event.data.u32 = id;
    if (epoll_ctl(epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event) != 0)
        die(std::string("epoll_ctl: ") + std::strerror(errno));
}

}  // namespace bench
