#include "service/ffmpeg/arguments.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text/ascii.hpp"

namespace live::service::ffmpeg {

namespace {

const std::pair<std::string, std::string> kAdtsToAsc{"bsf:a", "aac_adtstoasc"};

// With two to six decimals: "25.00", "23.976".
std::string rate_text(double rate) {
    constexpr std::size_t kDecimalsMin = 2;
    std::string text = fmt::format("{:.6f}", rate);
    const std::size_t least = text.find('.') + 1 + kDecimalsMin;
    while (text.size() > least && text.ends_with('0'))
        text.pop_back();
    return text;
}

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
        add("-r", rate_text(engine.vfps));
    const std::uint32_t width = engine.vwidth - engine.vwidth % 2;
    const std::uint32_t height = engine.vheight - engine.vheight % 2;
    if (width > 0 && height > 0) {
        add("-s", fmt::format("{}x{}", width, height));
        add("-aspect", fmt::format("{}:{}", width, height));
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
        // The other options are those of an encoder.
        if (std::ranges::find(engine.aparams, kAdtsToAsc) != engine.aparams.end())
            append_options(arguments, {kAdtsToAsc});
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

std::string child_log_path(std::string_view folder, std::initializer_list<std::string_view> names) {
    if (folder.empty() || folder == "/dev/null")
        return {};
    std::string path = fmt::format("{}/ffmpeg", folder);
    for (const std::string_view name : names)
        path += "-" + as_file_name(name);
    return path + ".log";
}

bool has_parent_folder(std::string_view path) {
    for (std::size_t at = path.find(".."); at != std::string_view::npos; at = path.find("..", at + 1)) {
        const bool begins = at == 0 || path[at - 1] == '/';
        const bool ends = at + 2 == path.size() || path[at + 2] == '/';
        if (begins && ends)
            return true;
    }
    return false;
}

}  // namespace live::service::ffmpeg
