#include "service/engines/plan.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text/ascii.hpp"
#include "service/ffmpeg/arguments.hpp"
#include "service/ffmpeg/own_output.hpp"
#include "wire/http/target.hpp"

namespace live::service::engines {

namespace {

constexpr std::uint16_t kUsualPort = 1935;
// Options of ffmpeg, not of one of its outputs: more inputs, filters between them, hardware and clocks.
constexpr std::array<std::string_view, 14> kForAll = {
    "i",        "filter_complex", "filter_complex_script", "lavfi", "init_hw_device", "filter_hw_device",
    "copyts",   "copytb",         "start_at_zero",         "vsync", "async",          "xerror",
    "abort_on", "max_error_rate"};

// The protocol that ffmpeg would use: "rtmp" of "rtmp://...", "concat" of "concat:...". Empty for a file.
std::string_view protocol_of(std::string_view output) {
    std::size_t length = 0;
    while (length < output.size() && (ascii::is_alphanumeric(output[length]) || output[length] == '+' || output[length] == '.' ||
                                      output[length] == '-' || output[length] == ',' || output[length] == '_'))
        ++length;
    const bool begins_with_letter = length > 0 && ascii::lower(output.front()) >= 'a' && ascii::lower(output.front()) <= 'z';
    return begins_with_letter && length < output.size() && output[length] == ':' ? output.substr(0, length) : std::string_view();
}

// A query is not checked by the allow-list of names. The letters that separate outputs of ffmpeg's tee, and those of no URL, are
// escaped.
std::string plain_query(std::string_view query) {
    std::string plain;
    for (const char letter : query) {
        const bool is_harmless =
            letter > ' ' && letter < 0x7F && std::string_view("|[]\\\"'<>^`{}").find(letter) == std::string::npos;
        plain += is_harmless ? std::string(1, letter) : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
    return plain;
}

Variables variables_of(const Engine& engine, const Input& input, const Place& place, std::chrono::system_clock::time_point now) {
    Variables variables = time_variables(now, place.zone);
    const std::uint16_t port = place.rtmp_ports.empty() ? kUsualPort : place.rtmp_ports.front();
    const Variables names = {{"vhost", input.vhost},   {"port", std::to_string(port)},  {"app", input.app},
                             {"stream", input.stream}, {"engine", engine.options.name}, {"param", plain_query(input.param)}};
    variables.insert(variables.end(), names.begin(), names.end());
    return variables;
}

Result<void> check_engine(const ffmpeg::EngineOptions& engine) {
    if (engine.output.empty())
        return Error(Errc::malformed, "it has no output");
    if (engine.vcodec == "vn" && engine.acodec == "an")
        return Error(Errc::malformed, "it has neither video (vn) nor audio (an)");
    constexpr std::uint32_t kLeast = 16;
    constexpr std::uint32_t kMost = 72;
    if (engine.acodec == "libaacplus" && (engine.abitrate_kbps < kLeast || engine.abitrate_kbps > kMost))
        return Error(Errc::malformed, fmt::format("libaacplus has an abitrate of {}, expected 16..72", engine.abitrate_kbps));
    return {};
}

Result<Command::Output> output_of(const Engine& engine, const Input& input, const Place& place,
                                  std::chrono::system_clock::time_point now) {
    const std::string& written = engine.options.output;
    std::string output = replace_variables(written, variables_of(engine, input, place, now));
    if (output.empty())
        return Error(Errc::malformed, "its output is empty");
    if (output.starts_with('-') && !written.starts_with('-'))
        return Error(Errc::denied, "its output would become the option " + output);
    if (ffmpeg::has_parent_folder(output.substr(0, output.find('?'))) && !ffmpeg::has_parent_folder(written))
        return Error(Errc::denied, "its output would be outside its folder: " + output);
    if (!protocol_of(output).empty() && protocol_of(output) != protocol_of(written))
        return Error(Errc::denied, "its output would use the protocol " + std::string(protocol_of(output)));
    auto own = ffmpeg::own_output(output, place.rtmp_ports);
    return Command::Output{std::move(output), std::move(own)};
}

// Reports whether a pipe cannot replace the RTMP input: for another format, and for options of RTMP.
bool needs_socket(const ffmpeg::EngineOptions& engine) {
    constexpr std::array<std::string_view, 4> kFlv = {"flv", "live_flv", "off", ""};
    const bool is_flv = std::ranges::find(kFlv, engine.iformat) != kFlv.end();
    return !is_flv || std::ranges::any_of(engine.perfile, [](const auto& option) { return option.first.starts_with("rtmp_"); });
}

std::string socket_input(const Input& input, const Place& place) {
    const std::uint16_t port = place.rtmp_ports.empty() ? kUsualPort : place.rtmp_ports.front();
    std::string url =
        fmt::format("rtmp://127.0.0.1:{}/{}/{}?vhost={}", port, input.app, input.stream, wire::http::percent_encode(input.vhost));
    if (input.param.size() > 1)
        url += "&" + plain_query(input.param).substr(1);
    return url;
}

// A query may precede the name of the stream, which begins after the last slash.
std::string marked(const std::string& output) {
    const bool has_query = output.find('?', output.rfind('/')) != std::string::npos;
    return output + (has_query ? '&' : '?') + std::string(kEngineMark);
}

}  // namespace

std::vector<Engine> engines_of(const std::vector<TranscodeOptions>& blocks, std::string_view app, std::string_view stream,
                               Origin origin) {
    std::vector<std::string> scopes;
    if (origin == Origin::client)
        scopes = {"", std::string(app)};
    scopes.push_back(fmt::format("{}/{}", app, stream));
    std::vector<Engine> engines;
    for (const std::string& scope : scopes) {
        const auto block = std::ranges::find(blocks, scope, &TranscodeOptions::scope);
        if (block == blocks.end() || !block->enabled || block->ffmpeg.empty())
            continue;
        for (const ffmpeg::EngineOptions& engine : block->engines)
            if (engine.enabled)
                engines.push_back({scope, block->ffmpeg, block->feed, block->on_demand, block->share_process, engine});
    }
    return engines;
}

Result<Command> build_command(const std::vector<Engine>& engines, const Input& input, const Place& place,
                              std::chrono::system_clock::time_point now) {
    const Engine& first = engines.front();
    Command command;
    command.is_piped_in = first.feed == Feed::pipe && !needs_socket(first.options);
    std::vector<std::string>& words = command.arguments;
    words = {first.ffmpeg};
    if (!place.log_level.empty())
        words.insert(words.end(), {"-loglevel", place.log_level});
    // The versions of its libraries and the running frame count would flood the log.
    words.insert(words.end(), {"-hide_banner", "-nostats", "-progress", fmt::format("pipe:{}", kProgressHandle)});
    ffmpeg::append_options(words, first.options.perfile);
    if (!first.options.iformat.empty() && first.options.iformat != "off")
        words.insert(words.end(), {"-f", first.options.iformat});
    words.insert(words.end(), {"-i", command.is_piped_in ? "pipe:0" : socket_input(input, place)});
    for (const Engine& engine : engines) {
        TRY(check_engine(engine.options));
        const Command::Output& output = command.outputs.emplace_back(TRY(output_of(engine, input, place, now)));
        command.is_piped_out = engine.feed == Feed::pipe && output.own && engine.options.oformat == "flv";
        ffmpeg::append_engine(words, engine.options);
        std::string destination = output.own ? marked(output.text) : output.text;
        if (command.is_piped_out)
            destination = fmt::format("pipe:{}", kOutputHandle + static_cast<int>(command.outputs.size()) - 1);
        words.insert(words.end(), {"-y", std::move(destination)});
    }
    return command;
}

bool can_share(const Engine& engine, const Command& command) {
    const auto is_for_all = [](const auto& option) { return std::ranges::find(kForAll, option.first) != kForAll.end(); };
    const ffmpeg::EngineOptions& options = engine.options;
    return engine.share_process && !engine.on_demand && command.is_piped_in && command.is_piped_out &&
           std::ranges::none_of(options.vfilter, is_for_all) && std::ranges::none_of(options.vparams, is_for_all) &&
           std::ranges::none_of(options.aparams, is_for_all);
}

bool have_same_input(const Engine& one, const Engine& other) {
    return one.scope == other.scope && one.ffmpeg == other.ffmpeg && one.options.perfile == other.options.perfile &&
           one.options.iformat == other.options.iformat;
}

std::string engine_log_path(const Engine& engine, const Input& input, const Place& place) {
    const std::string& name = engine.options.name;
    if (name.empty())
        return ffmpeg::child_log_path(place.log_dir, {"encoder", input.vhost, input.app, input.stream});
    return ffmpeg::child_log_path(place.log_dir, {"encoder", input.vhost, input.app, input.stream, name});
}

}  // namespace live::service::engines
