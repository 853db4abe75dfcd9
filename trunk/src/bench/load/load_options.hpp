// The command line of a load program. A pure function: it opens no file and prints nothing. Short options take their value
// attached or separate (-c10, -c 10), long ones separate or after '=' (--clients 10, --clients=10); an unambiguous prefix of a
// long name is enough, which is why --start works.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::bench {

enum class Tool : std::uint8_t { rtmp_load, rtmp_load_fast, rtmp_publish, http_load, hls_load, flv_load, rtc_load, rtsp_load };

std::string_view name_of(Tool tool);

using Seconds = std::chrono::duration<double>;

struct LoadOptions {
    static constexpr std::uint64_t kClientsMax = 65'000;

    std::uint64_t clients = 1;
    std::string url;
    std::uint64_t repeat = 0;  // tasks of each client; 0: endless
    Seconds startup{5};
    Seconds delay{0};  // -1: a fragment's duration (HLS)
    Seconds error{3};
    Seconds summary{30};
    std::string input;  // publishing: the FLV file; sb_rtc_load plays without it
    bool vod = false;   // HLS: play the playlist from the first fragment to the last, again and again

    double ramp = 0;                       // clients a second, instead of the random sleep; 0: off
    Seconds duration{0};                   // stop after this; 0: never
    Seconds buffer{1};                     // of the viewer whose stalls are counted
    Seconds ahead{0.3};                    // publishing: how much earlier than its time a message may be sent
    double kbps = 0;                       // of the stream, for the expected bytes; 0: measured
    bool stamp = false;                    // publishing: write the time of sending into the media
    std::vector<std::uint64_t> layers;     // publishing over WebRTC: the rates of a synthetic simulcast video, bits per second
    bool silence = false;                  // publishing over WebRTC: silent Opus beside the video
    std::uint64_t witnesses = UINT64_MAX;  // clients that parse the stream; the others only count bytes
    bool driven = false;                   // by commands on standard input
    bool skip_decryption = false;
    bool udp = false;     // RTSP: media over UDP instead of the connection
    bool twcc = true;     // WebRTC players report arrival times
    bool resume = false;  // TLS: all connections but the first resume a session
    bool progress = false;
    std::string json;  // a file; "-" is standard output
    std::string csv;
};

// Whether the clients publish the stream instead of playing it.
bool publishes(Tool tool, const LoadOptions& options);

enum class Action : std::uint8_t { run, help, version };

struct LoadCommand {
    Action action = Action::run;
    LoadOptions options;
};

// `arguments` are those after the program's name. Without a URL, the action is help. Errc::malformed names the invalid
// option, the value found and the value expected.
Result<LoadCommand> parse_load_command(Tool tool, std::span<const std::string_view> arguments);

// Usage, options and an example; ends with a newline.
std::string help_text(Tool tool);

// "params url=rtmp://..., threads=100, start=5.00, ...": the first log line.
std::string params_text(Tool tool, const LoadOptions& options);

// The URL of one client: the first "{i}" becomes its number.
std::string url_of_client(std::string_view url, std::uint64_t index);

}  // namespace live::bench
