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

// The descriptors of the child after standard error: its progress, and the outputs that return, from kOutputHandle on.
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
    bool share_process = false;
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
    struct Output {
        // With the variables replaced.
        std::string text;
        // The stream of this server that it publishes.
        std::optional<session::ClientRequest> own{};
    };
    std::vector<std::string> arguments;
    // The child reads the stream as FLV from standard input.
    bool is_piped_in = false;
    // kOutputHandle and the descriptors that follow return FLV for the streams of this server.
    bool is_piped_out = false;
    // One for each engine.
    std::vector<Output> outputs{};
};

// Returns the command of one child for these engines, of which there is one at least; all can share it. Replaces the variables in
// the outputs. Errc::malformed, with a sentence for the operator, for an engine that cannot run; Errc::denied: a value would turn
// an output into an option, lead out of its folder or choose a protocol.
Result<Command> build_command(const std::vector<Engine>& engines, const Input& input, const Place& place,
                              std::chrono::system_clock::time_point now);

// The engines of one child.
inline constexpr std::size_t kSharedMax = 16;
// Reports whether the engine, which has this command for itself, can be one of several in a child: it is fed and read by pipes,
// so that each output is watched, and has no option that would apply to the others.
bool can_share(const Engine& engine, const Command& command);
// Reports whether two engines that can share a child have the same input.
bool have_same_input(const Engine& one, const Engine& other);

// Marks the query of a stream that an engine publishes over a socket.
inline constexpr std::string_view kEngineMark = "from_engine=1";

// "<log_dir>/ffmpeg-encoder-<vhost>-<app>-<stream>-<engine>.log" of the first engine of a child, without the engine if it has no
// name; empty without a log.
std::string engine_log_path(const Engine& engine, const Input& input, const Place& place);

}  // namespace live::service::engines
