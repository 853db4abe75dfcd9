#include "bench/load/load_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/version.hpp"

namespace live::bench {
namespace {

// Longer than any test, and below the overflow of a clock.
constexpr double kSecondsMax = 1e7;
constexpr double kKbpsMax = 1e7;
constexpr double kRampMax = 1e6;

struct Option {
    char letter;  // 0: none
    std::string_view name;
    std::string_view value;  // its name in the help; empty: takes none
    std::string_view text;
    Result<void> (*apply)(LoadOptions&, std::string_view);
    bool (*fits)(Tool);
};

Error wrong(std::string_view found, std::string_view expected) {
    return {Errc::malformed, fmt::format("found \"{}\", expected {}", found, expected)};
}

Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || value < least || value > most)
        return wrong(text, fmt::format("a number from {} to {}", least, most));
    return value;
}

Result<double> parse_decimal(std::string_view text, double least, double most) {
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most))
        return wrong(text, fmt::format("a number from {} to {}", least, most));
    return value;
}

template <Seconds LoadOptions::*Member>
Result<void> set_seconds(LoadOptions& options, std::string_view text) {
    options.*Member = Seconds(TRY(parse_decimal(text, 0, kSecondsMax)));
    return {};
}

template <std::string LoadOptions::*Member>
Result<void> set_text(LoadOptions& options, std::string_view text) {
    options.*Member = text;
    return {};
}

template <bool LoadOptions::*Member>
Result<void> set_true(LoadOptions& options, std::string_view) {
    options.*Member = true;
    return {};
}
template <bool LoadOptions::*Member>
Result<void> set_false(LoadOptions& options, std::string_view) {
    options.*Member = false;
    return {};
}

Result<void> set_layers(LoadOptions& options, std::string_view text) {
    constexpr std::size_t kLayersMax = 8;
    constexpr std::uint64_t kLayerKbpsMax = 50'000;
    while (options.layers.size() < kLayersMax) {
        const std::size_t end = text.find(',');
        options.layers.push_back(1'000 * TRY(parse_count(text.substr(0, end), 1, kLayerKbpsMax)));
        if (end == std::string_view::npos)
            return {};
        text.remove_prefix(end + 1);
    }
    return wrong(text, fmt::format("at most {} layers", kLayersMax));
}

Result<void> set_delay(LoadOptions& options, std::string_view text) {
    const double value = TRY(parse_decimal(text, -1, kSecondsMax));
    if (value < 0 && value != -1)
        return wrong(text, "seconds, or -1 for a fragment's duration");
    options.delay = Seconds(value);
    return {};
}

bool any(Tool) { return true; }
bool publishes_rtmp(Tool tool) { return tool == Tool::rtmp_publish; }
bool is_rtc(Tool tool) { return tool == Tool::rtc_load; }
bool plays(Tool tool) { return tool != Tool::rtmp_publish && tool != Tool::http_load && tool != Tool::rtmp_load_fast; }
bool is_hls(Tool tool) { return tool == Tool::hls_load; }
bool may_be_driven(Tool tool) {
    return tool == Tool::rtmp_load || tool == Tool::rtmp_load_fast || tool == Tool::flv_load || tool == Tool::rtmp_publish ||
           tool == Tool::rtsp_load;
}
bool may_resume(Tool tool) { return tool != Tool::rtc_load; }
bool may_discard(Tool tool) { return tool == Tool::rtmp_load_fast || tool == Tool::flv_load || tool == Tool::rtsp_load; }
bool is_rtsp(Tool tool) { return tool == Tool::rtsp_load; }

constexpr std::array kOptions = {
    Option{'c', "clients", "N", "number of concurrent clients",
           [](LoadOptions& options, std::string_view text) -> Result<void> {
               options.clients = TRY(parse_count(text, 1, LoadOptions::kClientsMax));
               return {};
           },
           any},
    Option{'r', "url", "URL", "the address to load", set_text<&LoadOptions::url>, any},
    Option{'i', "input", "FLV", "the FLV file to publish, in a loop", set_text<&LoadOptions::input>, publishes_rtmp},
    Option{'i', "input", "FLV", "publish the H.264 of this FLV file over WHIP, in a loop, instead of playing over WHEP",
           set_text<&LoadOptions::input>, is_rtc},
    Option{'o', "vod", "", "the playlist is video on demand: load every fragment, in a loop", set_true<&LoadOptions::vod>,
           is_hls},
    Option{'t', "repeat", "N", "tasks of each client; 0: unlimited",
           [](LoadOptions& options, std::string_view text) -> Result<void> {
               options.repeat = TRY(parse_count(text, 0, UINT64_MAX));
               return {};
           },
           any},
    Option{'s', "startup", "S", "seconds of random sleep before a client starts", set_seconds<&LoadOptions::startup>, any},
    Option{'d', "delay", "S", "seconds of random sleep after a task that succeeded", set_delay, any},
    Option{'e', "error", "S", "seconds of sleep after a task that failed", set_seconds<&LoadOptions::error>, any},
    Option{'m', "summary", "S", "seconds between two reports", set_seconds<&LoadOptions::summary>, any},
    Option{0, "ramp", "N", "start N clients a second, instead of the random sleep",
           [](LoadOptions& options, std::string_view text) -> Result<void> {
               options.ramp = TRY(parse_decimal(text, 0, kRampMax));
               return {};
           },
           any},
    Option{0, "seconds", "S", "stop after S seconds; 0: never", set_seconds<&LoadOptions::duration>, any},
    Option{0, "buffer", "S", "the buffer of the viewer whose stalls are counted", set_seconds<&LoadOptions::buffer>, plays},
    Option{0, "kbps", "N", "expected bit rate; 0: measured by the clients",
           [](LoadOptions& options, std::string_view text) -> Result<void> {
               options.kbps = TRY(parse_decimal(text, 0, kKbpsMax));
               return {};
           },
           plays},
    Option{0, "ahead", "S",
           "how much earlier than its time a message may be sent; 0: each separately at its time, as an encoder does",
           set_seconds<&LoadOptions::ahead>, publishes_rtmp},
    Option{0, "stamp", "", "write the time of sending into the media, for players that measure the delay; --ahead is 0 then",
           set_true<&LoadOptions::stamp>, publishes_rtmp},
    Option{0, "stamp", "", "with -i: write the time of sending into each frame, for players that measure the delay",
           set_true<&LoadOptions::stamp>, is_rtc},
    Option{0, "layers", "KBPS,...",
           "publish a synthetic video over WHIP with a simulcast layer of each rate, for WHEP players that choose", set_layers,
           is_rtc},
    Option{0, "silence", "", "with -i: send silent Opus; without it there is no audio, because WebRTC has no AAC",
           set_true<&LoadOptions::silence>, is_rtc},
    Option{0, "udp", "", "media over UDP instead of the connection", set_true<&LoadOptions::udp>, is_rtsp},
    Option{0, "skip-decryption", "",
           "players count packets by their headers, without decryption, authentication, requests for lost packets or delays, and "
           "poll every 5 ms; they still send reports to the server. For thousands of players",
           set_true<&LoadOptions::skip_decryption>, is_rtc},
    Option{0, "no-twcc", "",
           "players do not report arrivals (transport-cc), as browsers do ten times a second and more; to measure that cost",
           set_false<&LoadOptions::twcc>, is_rtc},
    Option{0, "resume", "", "over TLS, every connection but the first resumes the session of another one",
           set_true<&LoadOptions::resume>, may_resume},
    Option{0, "witnesses", "N",
           "only the first N clients parse the stream; the others count bytes every 5 ms, and the kernel discards them",
           [](LoadOptions& options, std::string_view text) -> Result<void> {
               options.witnesses = TRY(parse_count(text, 0, LoadOptions::kClientsMax));
               return {};
           },
           may_discard},
    Option{0, "driven", "",
           "read commands from standard input: mark begins a window, report prints it as a line of JSON on standard output, quit "
           "ends; the log is written to standard error",
           set_true<&LoadOptions::driven>, may_be_driven},
    Option{0, "json", "FILE", "write the result as JSON; - is standard output", set_text<&LoadOptions::json>, any},
    Option{0, "csv", "FILE", "write a line a second", set_text<&LoadOptions::csv>, any},
    Option{0, "progress", "", "print the number of started clients each second until all have started",
           set_true<&LoadOptions::progress>, any},
    Option{'h', "help", "", "this text", nullptr, any},
    Option{'v', "version", "", "the version", nullptr, any},
};

Result<const Option*> find_long(Tool tool, std::string_view name) {
    const Option* found = nullptr;
    for (const Option& option : kOptions) {
        if (!option.fits(tool) || !option.name.starts_with(name))
            continue;
        if (option.name == name)
            return &option;
        if (found != nullptr)
            return Error(Errc::malformed, fmt::format("the option --{} may be --{} or --{}", name, found->name, option.name));
        found = &option;
    }
    if (found == nullptr || name.empty())
        return Error(Errc::malformed, fmt::format("there is no option --{}", name));
    return found;
}

Result<const Option*> find_short(Tool tool, char letter) {
    for (const Option& option : kOptions) {
        if (option.letter == letter && letter != 0 && option.fits(tool))
            return &option;
    }
    return Error(Errc::malformed, fmt::format("there is no option -{}", letter));
}

// Parses the arguments, one option at a time.
class Parser {
public:
    Parser(Tool tool, std::span<const std::string_view> arguments) : tool_(tool), arguments_(arguments) {
        switch (tool) {
            case Tool::rtmp_load_fast: command_.options.witnesses = 0; [[fallthrough]];
            case Tool::rtmp_load:
            case Tool::rtmp_publish:
            case Tool::rtc_load: command_.options.delay = Seconds(1); break;
            case Tool::hls_load: command_.options.delay = Seconds(-1); break;
            case Tool::http_load:
            case Tool::rtsp_load:
            case Tool::flv_load: break;
        }
    }

    Result<LoadCommand> parse() {
        while (at_ < arguments_.size() && command_.action == Action::run) {
            const std::string_view token = arguments_[at_++];
            if (token.starts_with("--"))
                TRY(parse_long(token.substr(2)));
            else if (token.size() > 1 && token.front() == '-')
                TRY(parse_letters(token.substr(1)));
            else
                return wrong(token, "an option; --help lists them");
        }
        if (command_.action == Action::run)
            TRY(check());
        return std::move(command_);
    }

private:
    Result<void> parse_long(std::string_view token) {
        const auto equals = std::min(token.find('='), token.size());
        const Option* option = TRY(find_long(tool_, token.substr(0, equals)));
        if (equals == token.size())
            return apply(*option, std::nullopt);
        if (option->value.empty())
            return Error(Errc::malformed, fmt::format("--{} takes no value", option->name));
        return apply(*option, token.substr(equals + 1));
    }

    Result<void> parse_letters(std::string_view letters) {
        while (!letters.empty() && command_.action == Action::run) {
            const Option* option = TRY(find_short(tool_, letters.front()));
            letters.remove_prefix(1);
            if (option->value.empty()) {
                TRY(apply(*option, std::nullopt));
                continue;
            }
            return apply(*option, letters.empty() ? std::nullopt : std::optional(letters));
        }
        return {};
    }

    Result<void> apply(const Option& option, std::optional<std::string_view> value) {
        if (option.apply == nullptr) {
            command_.action = option.letter == 'h' ? Action::help : Action::version;
            return {};
        }
        if (!option.value.empty() && !value) {
            if (at_ == arguments_.size())
                return Error(Errc::malformed, fmt::format("--{} needs a value: {}", option.name, option.text));
            value = arguments_[at_++];
        }
        auto applied = option.apply(command_.options, value.value_or(""));
        if (!applied.ok())
            return Error(Errc::malformed, fmt::format("--{}: {}", option.name, applied.error().sentence()));
        return {};
    }

    Result<void> check() {
        const LoadOptions& options = command_.options;
        if (options.url.empty()) {
            command_.action = Action::help;
            return {};
        }
        if (tool_ == Tool::rtmp_publish && options.input.empty())
            return Error(Errc::malformed, "publishing needs an FLV file: -i FLV");
        if (tool_ == Tool::rtc_load && options.input.empty() && (options.stamp || options.silence))
            return Error(Errc::malformed, "--stamp and --silence require an FLV file to publish: -i FLV");
        if (tool_ == Tool::rtc_load && !options.input.empty() && options.skip_decryption)
            return Error(Errc::malformed, "--skip-decryption is for players, not for -i");
        if (tool_ == Tool::rtc_load && !options.input.empty() && !options.twcc)
            return Error(Errc::malformed, "--no-twcc is for players, not for -i");
        if (options.delay < Seconds(0) && tool_ != Tool::hls_load)
            return Error(Errc::malformed, "--delay: found \"-1\", expected seconds; only fragments have a duration");
        if (options.summary <= Seconds(0))
            return Error(Errc::malformed, "--summary: found \"0\", expected more than 0 seconds");
        return {};
    }

    Tool tool_;
    std::span<const std::string_view> arguments_;
    std::size_t at_ = 0;
    LoadCommand command_;
};

std::string_view example_of(Tool tool) {
    switch (tool) {
        case Tool::rtmp_load:
        case Tool::rtmp_load_fast: return "-c 1000 -r rtmp://127.0.0.1:1935/live/livestream --ramp 500 --seconds 60";
        case Tool::rtmp_publish: return "-c 1000 -r rtmp://127.0.0.1:1935/live/livestream_{i} -i doc/source.flv";
        case Tool::http_load: return "-c 1000 -r http://127.0.0.1:8080/index.html -t 10";
        case Tool::hls_load: return "-c 1000 -r http://127.0.0.1:8080/live/livestream.m3u8";
        case Tool::flv_load: return "-c 1000 -r http://127.0.0.1:8080/live/livestream.flv, or ws://...";
        case Tool::rtsp_load: return "-c 1000 -r rtsp://127.0.0.1:554/live/livestream [--udp]";
        case Tool::rtc_load:
            return "-c 100 -r 'http://127.0.0.1:1985/rtc/v1/whep/?app=live&stream=livestream', or /rtc/v1/whip/ and -i";
    }
    return {};
}

std::string_view purpose_of(Tool tool) {
    switch (tool) {
        case Tool::rtmp_load: return "plays a stream over RTMP with many clients";
        case Tool::rtmp_load_fast: return "plays a stream over RTMP with many clients, without parsing it";
        case Tool::rtmp_publish: return "publishes an FLV file over RTMP with many clients";
        case Tool::http_load: return "downloads a URL in a loop with many clients";
        case Tool::hls_load: return "plays an HLS playlist, live or video on demand, with many clients";
        case Tool::flv_load: return "plays a live FLV over HTTP or WebSocket with many clients";
        case Tool::rtsp_load: return "plays a stream over RTSP with many clients";
        case Tool::rtc_load: return "plays a stream over WebRTC (WHEP) or publishes an FLV file (WHIP) with many clients";
    }
    return {};
}

}  // namespace

std::string_view name_of(Tool tool) {
    switch (tool) {
        case Tool::rtmp_load: return "sb_rtmp_load";
        case Tool::rtmp_load_fast: return "sb_rtmp_load_fast";
        case Tool::rtmp_publish: return "sb_rtmp_publish";
        case Tool::http_load: return "sb_http_load";
        case Tool::hls_load: return "sb_hls_load";
        case Tool::flv_load: return "sb_flv_load";
        case Tool::rtsp_load: return "sb_rtsp_load";
        case Tool::rtc_load: return "sb_rtc_load";
    }
    return {};
}

bool publishes(Tool tool, const LoadOptions& options) {
    return tool == Tool::rtmp_publish || (tool == Tool::rtc_load && (!options.input.empty() || !options.layers.empty()));
}

Result<LoadCommand> parse_load_command(Tool tool, std::span<const std::string_view> arguments) {
    return Parser(tool, arguments).parse();
}

std::string help_text(Tool tool) {
    std::string text = fmt::format("{} {}: {}\n\nUsage: {} -r URL [options]\n\nOptions:\n", name_of(tool), kVersion,
                                   purpose_of(tool), name_of(tool));
    for (const Option& option : kOptions) {
        if (!option.fits(tool))
            continue;
        const std::string letter = option.letter == 0 ? "   " : fmt::format("-{},", option.letter);
        const std::string name = fmt::format("--{}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
        text += fmt::format("  {} {:<16} {}\n", letter, name, option.text);
    }
    text += fmt::format(
        "\nIn the URL, the first {{i}} becomes the client's number. Reports go to standard error. It ends with Ctrl-C, after "
        "--seconds, or\n"
        "when every client has done its tasks; its status is 1 when a task has failed, 2 when an option is wrong.\n\n"
        "For example:\n  {} {}\n",
        name_of(tool), example_of(tool));
    return text;
}

std::string params_text(Tool tool, const LoadOptions& options) {
    const std::string vod = tool == Tool::hls_load ? fmt::format("vod={}, ", options.vod ? 1 : 0) : "";
    const std::string input = publishes(tool, options) ? fmt::format("input={}, ", options.input) : "";
    return fmt::format("params url={}, {}{}threads={}, start={:.2f}, delay={:.2f}, error={:.2f}, report={:.2f}, count={}",
                       options.url, vod, input, options.clients, options.startup.count(), options.delay.count(),
                       options.error.count(), options.summary.count(), options.repeat);
}

std::string url_of_client(std::string_view url, std::uint64_t index) {
    constexpr std::string_view kPlace = "{i}";
    std::string made(url);
    if (const auto at = made.find(kPlace); at != std::string::npos)
        made.replace(at, kPlace.size(), std::to_string(index));
    return made;
}

}  // namespace live::bench
