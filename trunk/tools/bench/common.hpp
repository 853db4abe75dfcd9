// What every program here needs and nothing about media: options, the clock, the file limit, sockets that connect without
// blocking, and one line of JSON at a time on standard output. It is not a library: the programs here are run by bench.py
// on one machine over loopback, so a mistake in their options or a missing resource ends them at once with a sentence.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Prints the sentence to standard error and ends the program with status 2.
[[noreturn]] void die(const std::string& sentence);

// Seconds on the monotonic clock, which is the same in every process of the machine.
double now_seconds();

// Sleeps; returns early when a signal arrives.
void sleep_seconds(double seconds);

// Lifts the soft limit of open files to the hard one and dies when that is less than `wanted`.
void raise_file_limit(std::size_t wanted);

// SIGINT and SIGTERM only set a flag, so that a program can print its last report.
void catch_stop_signals();
bool stop_requested();

// `--name value` and `--name` (a switch). An option that was never asked for is an error: check_all_used().
class Args {
public:
    Args(int argc, char** argv, std::string_view usage);
    std::string text(const std::string& name, const std::string& fallback);
    std::string required(const std::string& name);
    double number(const std::string& name, double fallback);
    std::size_t count(const std::string& name, std::size_t fallback);
    bool flag(const std::string& name);
    void check_all_used() const;

private:
    const std::string* find(const std::string& name);

    std::string usage_;
    std::map<std::string, std::string> given_;
    std::map<std::string, bool> used_;
};

// A flat JSON object, printed as one line.
class JsonLine {
public:
    explicit JsonLine(std::string_view event);
    JsonLine& add(std::string_view name, std::uint64_t value);
    JsonLine& add(std::string_view name, double value);
    void print();

private:
    std::string text_;
};

// The value below which `share` (0..1) of the values lie. Sorts; 0 for no values.
double quantile(std::vector<double>& values, double share);

// Begins to connect to an IPv4 address; the socket is non-blocking and becomes writable when it is connected.
// `reset_on_close` spares the port its TIME_WAIT; it also throws away what the peer has not read, so a publisher says no.
int start_connect(const std::string& host, std::uint16_t port, bool reset_on_close);

// A listening, non-blocking IPv4 socket on loopback.
int listen_on(std::uint16_t port);

// Adds or changes a socket in an epoll set; `id` comes back with each event.
void watch(int epoll, int socket, std::uint32_t events, std::uint32_t id, bool is_new);

}  // namespace bench
