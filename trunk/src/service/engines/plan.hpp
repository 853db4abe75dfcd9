// The engines of a published stream, and the arguments of their children. Pure: no file, no shell; every word is one argument of
// the child.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/text/variables.hpp"
#include "io/process/child_options.hpp"
#include "service/engines/options.hpp"
#include "session/common/admission.hpp"

namespace live::service::engines {

// The descriptors of the child after standard error: its progress, and an output that returns.
inline constexpr int kProgressHandle = io::kPassedHandle;
inline constexpr int kOutputHandle = io::kPassedHandle + 1;

// The server's properties for the arguments.
struct Place {
    // Those of the RTMP listeners; the first one is [port].
    std::vector<std::uint16_t> rtmp_ports;
    // ffmpeg's -loglevel.
    std::string log_level = "info";
    Zone zone = Zone::local;
    // The folder of the children's logs; empty or /dev/null: no logs.
    std::string log_dir{};
};

// The published stream. Names are those of the client, which have passed the allow-list.
struct Input {
    std::string vhost;
    std::string app;
    std::string stream;
    // The query of its publisher, with '?'; may be empty.
    std::string param{};

    // "vhost/app/stream"
    std::string label() const { return vhost + "/" + app + "/" + stream; }
};

// One engine of one stream.
struct Engine {
    std::string scope;
    std::string ffmpeg;
    Feed feed = Feed::pipe;
    bool on_demand = false;
    ffmpeg::EngineOptions options;

    bool operator==(const Engine&) const = default;
};

enum class Origin : std::uint8_t {
    client,
    engine,  // a child of this server publishes it: only a scope that names it applies
};

// Returns the enabled engines of the first block of each scope that contains the stream: all streams, then app, then app/stream.
std::vector<Engine> engines_of(const std::vector<TranscodeOptions>& blocks, std::string_view app, std::string_view stream,
                               Origin origin);

struct Command {
    std::vector<std::string> arguments;
    // The child reads the stream as FLV from standard input.
    bool is_piped_in = false;
    // kOutputHandle returns FLV for `own`.
    bool is_piped_out = false;
    // With the variables replaced.
    std::string output;
    // The stream of this server that the output publishes.
    std::optional<session::ClientRequest> own{};
};

// Replaces the variables in the output. Errc::malformed, with a sentence for the operator, for an engine that cannot run;
// Errc::denied: a value would turn the output into an option, lead out of its folder or choose a protocol.
Result<Command> build_command(const Engine& engine, const Input& input, const Place& place,
                              std::chrono::system_clock::time_point now);

// Marks the query of a stream that an engine publishes over a socket.
inline constexpr std::string_view kEngineMark = "from_engine=1";

// "<log_dir>/ffmpeg-encoder-<vhost>-<app>-<stream>-<engine>.log", without the engine if it has no name; empty without a log.
std::string engine_log_path(const Engine& engine, const Input& input, const Place& place);

}  // namespace live::service::engines
