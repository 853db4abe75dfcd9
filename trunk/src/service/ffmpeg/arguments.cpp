#include "service/ffmpeg/arguments.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "base/ascii.hpp"

namespace live::service::ffmpeg {

namespace {

void append_video(std::vector<std::string>& arguments, const EngineOptions& engine) {
    const auto add = [&](std::string_view name, std::string value) {
        arguments.emplace_back(name);
        arguments.push_back(std::move(value));
    };
    if (engine.vcodec == "vn") {
        arguments.emplace_back("-vn");
        return;
    }
    if (engine.vcodec.empty() || engine.vcodec == "copy") {
        add("-vcodec", "copy");
        return;
    }
    add("-vcodec", engine.vcodec);
    if (engine.vbitrate_kbps > 0)
        add("-b:v", std::to_string(std::uint64_t{engine.vbitrate_kbps} * 1000));
    if (engine.vfps > 0)
        add("-r", fmt::format("{:.2f}", engine.vfps));
    if (engine.vwidth > 0 && engine.vheight > 0) {
        add("-s", fmt::format("{}x{}", engine.vwidth, engine.vheight));
        add("-aspect", fmt::format("{}:{}", engine.vwidth, engine.vheight));
    }
    if (engine.vthreads > 0)
        add("-threads", std::to_string(engine.vthreads));
    if (!engine.vprofile.empty())
        add("-profile:v", engine.vprofile);
    if (!engine.vpreset.empty())
        add("-preset", engine.vpreset);
    append_options(arguments, engine.vparams);
}

void append_audio(std::vector<std::string>& arguments, const EngineOptions& engine) {
    const auto add = [&](std::string_view name, std::string value) {
        arguments.emplace_back(name);
        arguments.push_back(std::move(value));
    };
    if (engine.acodec == "an") {
        arguments.emplace_back("-an");
        return;
    }
    if (engine.acodec.empty() || engine.acodec == "copy") {
        add("-acodec", "copy");
        append_options(arguments, engine.aparams);  // such as a bitstream filter
        return;
    }
    add("-acodec", engine.acodec);
    if (engine.abitrate_kbps > 0)
        add("-b:a", std::to_string(std::uint64_t{engine.abitrate_kbps} * 1000));
    if (engine.asample_rate > 0)
        add("-ar", std::to_string(engine.asample_rate));
    if (engine.achannels > 0)
        add("-ac", std::to_string(engine.achannels));
    append_options(arguments, engine.aparams);
}

bool copies_everything(const EngineOptions& engine) {
    return !engine.enabled || (engine.vcodec.empty() && engine.acodec.empty());
}

}  // namespace

std::string replace_variables(std::string_view text, const Variables& variables) {
    std::string replaced;
    while (!text.empty()) {
        const std::size_t open = text.find('[');
        const std::size_t close = open == std::string_view::npos ? open : text.find(']', open);
        if (close == std::string_view::npos)
            break;
        replaced += text.substr(0, open);
        const std::string_view name = text.substr(open + 1, close - open - 1);
        std::string_view value = text.substr(open, close - open + 1);
        for (const auto& [known, meaning] : variables)
            if (known == name)
                value = meaning;
        replaced += value;
        text.remove_prefix(close + 1);
    }
    replaced += text;
    return replaced;
}

Variables time_variables(std::chrono::system_clock::time_point now, Zone zone) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    std::tm parts{};
    if (zone == Zone::utc)
        ::gmtime_r(&seconds, &parts);
    else
        ::localtime_r(&seconds, &parts);
    return {{"2006", fmt::format("{:%Y}", parts)},    {"01", fmt::format("{:%m}", parts)}, {"02", fmt::format("{:%d}", parts)},
            {"15", fmt::format("{:%H}", parts)},      {"04", fmt::format("{:%M}", parts)}, {"05", fmt::format("{:%S}", parts)},
            {"999", fmt::format("{:03}", ms % 1000)}, {"timestamp", std::to_string(ms)}};
}

void append_options(std::vector<std::string>& arguments, const Arguments& options) {
    for (const auto& [name, value] : options) {
        arguments.push_back("-" + name);
        if (!value.empty())
            arguments.push_back(value);
    }
}

void append_engine(std::vector<std::string>& arguments, const EngineOptions& engine) {
    if (copies_everything(engine)) {
        for (const char* word : {"-vcodec", "copy", "-acodec", "copy"})
            arguments.emplace_back(word);
    } else {
        append_options(arguments, engine.vfilter);
        append_video(arguments, engine);
        append_audio(arguments, engine);
    }
    if (!engine.oformat.empty() && engine.oformat != "off") {
        arguments.emplace_back("-f");
        arguments.push_back(engine.oformat);
    }
}

std::string choose_program(std::string_view configured, bool is_there) {
    const bool is_conventional = configured.empty() || configured == kConventionalProgram;
    if (!is_conventional)
        return std::string(configured);
    return is_there ? std::string(kConventionalProgram) : "ffmpeg";
}

std::string as_file_name(std::string_view text) {
    std::string name;
    for (const char letter : text) {
        const bool is_plain =
            ascii::is_alphanumeric(letter) || letter == '_' || letter == '-' || (letter == '.' && !name.empty());
        name += is_plain ? letter : '_';
    }
    return name.empty() ? "_" : name;
}

}  // namespace live::service::ffmpeg
