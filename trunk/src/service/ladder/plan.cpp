#include "service/ladder/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "service/ffmpeg/arguments.hpp"

namespace live::service::ladder {

namespace {

using Words = std::vector<std::string>;

void add(Words& words, std::initializer_list<std::string_view> more) { words.insert(words.end(), more.begin(), more.end()); }

// The stream is decoded once.
std::string filter_of(const std::vector<Rung>& rungs, const std::string& scaler) {
    std::string filter = fmt::format("[0:v]split={}", rungs.size());
    for (std::size_t i = 0; i < rungs.size(); ++i)
        filter += fmt::format("[s{}]", i);
    for (std::size_t i = 0; i < rungs.size(); ++i)
        filter += fmt::format(";[s{}]{}=w=-2:h={}[v{}]", i, scaler, rungs[i].height, i);
    return filter;
}

// Key frames only where the source has them, and decoding in the order of presentation.
void add_encoder(Words& words, const Rung& rung) {
    const std::string_view encoder = rung.vcodec;
    add(words, {"-c:v", encoder});
    add(words, {"-b:v", fmt::format("{}k", rung.kbps), "-maxrate", fmt::format("{}k", rung.kbps + rung.kbps / 5), "-bufsize",
                fmt::format("{}k", 2 * rung.kbps), "-threads", std::to_string(rung.threads)});
    if (!rung.vprofile.empty())
        add(words, {"-profile:v", rung.vprofile});
    if (!rung.vpreset.empty() && rung.vpreset != "-")
        add(words, {"-preset", rung.vpreset});
    add(words, {"-force_key_frames", "source", "-g", "9999"});
    if (encoder == "libx264" || encoder.ends_with("_nvenc"))
        add(words, {"-bf", "0", "-forced-idr", "1"});
    if (encoder == "libx264")
        add(words, {"-sc_threshold", "0", "-rc-lookahead", "10"});
    if (encoder == "libx265")
        add(words, {"-forced-idr", "1", "-x265-params", "keyint=-1:scenecut=0:open-gop=0:bframes=0:log-level=warning"});
    if (encoder.ends_with("_vaapi") || encoder.ends_with("_qsv"))
        add(words, {"-bf", "0"});
    ffmpeg::append_options(words, rung.vparams);
}

// The options of the configured encoder and its hardware do not fit the fallback.
LadderOptions with_fallback(LadderOptions options) {
    options.perfile.clear();
    options.scaler = LadderOptions().scaler;
    return options;
}

Rung with_encoder(Rung rung, std::string_view encoder) {
    rung.vcodec = encoder;
    rung.vpreset = LadderOptions().vpreset;
    rung.vprofile.clear();
    rung.vparams.clear();
    return rung;
}

}  // namespace

std::uint32_t height_of(const RenditionOptions& rendition) {
    std::uint32_t height = rendition.height;
    if (height == 0)
        std::from_chars(rendition.name.data(), rendition.name.data() + rendition.name.size(), height);
    return height;
}

config::Findings check_ladder_options(const LadderOptions& ladder, const config::CheckContext& around) {
    config::Findings findings;
    const auto broken = [&around](std::string_view what) {
        return config::Findings::broken(fmt::format("vhost {}: ladder: {}", around.vhost, what));
    };
    if (ladder.renditions.size() > kRungsMax)
        return broken(fmt::format("found {} renditions, expected {} at most", ladder.renditions.size(), kRungsMax));
    for (const RenditionOptions& one : ladder.renditions) {
        const std::uint32_t height = height_of(one);
        if (height < kHeightMin || height > 4320 || height % 2 != 0)
            return broken(
                fmt::format("rendition \"{}\" has a height of {}, expected an even number in 64..4320, or a name such as 720p",
                            one.name, height));
        if (std::ranges::count(ladder.renditions, one.name, &RenditionOptions::name) > 1)
            return broken(fmt::format("found two renditions with the name \"{}\"", one.name));
    }
    if (ladder.enabled && ladder.renditions.empty())
        findings.warnings.push_back(
            fmt::format("vhost {}: ladder is enabled and has no rendition: it does not run", around.vhost));
    return findings;
}

std::uint32_t usual_kbps(std::uint32_t height) {
    constexpr double kRows = 720;
    constexpr double kKbps = 2500;
    constexpr double kGrowth = 1.75;
    return static_cast<std::uint32_t>(std::lround(kKbps * std::pow(height / kRows, kGrowth)));
}

std::vector<Rung> plan_rungs(const LadderOptions& options, std::uint32_t source_height) {
    std::vector<Rung> rungs;
    const std::uint32_t top = source_height - source_height % 2;
    for (const RenditionOptions& one : options.renditions) {
        Rung& rung = rungs.emplace_back();
        rung.name = one.name;
        rung.height = height_of(one);
        rung.kbps = one.vbitrate_kbps;
        rung.vcodec = one.vcodec.empty() ? options.vcodec : one.vcodec;
        rung.vpreset = one.vpreset.empty() ? options.vpreset : one.vpreset;
        rung.vprofile = one.vprofile;
        rung.threads = one.vthreads == 0 ? options.vthreads : one.vthreads;
        rung.vparams = one.vparams;
    }
    std::ranges::stable_sort(rungs, std::ranges::greater(), &Rung::height);
    while (rungs.size() > 1 && rungs[1].height >= top)
        rungs.erase(rungs.begin());
    for (Rung& rung : rungs) {
        rung.height = std::min(rung.height, top);
        if (rung.kbps == 0)
            rung.kbps = usual_kbps(rung.height);
    }
    const std::uint32_t half = top / 4 * 2;
    if (rungs.size() == 1 && options.renditions.size() > 1 && rungs.front().height == top && half >= kHeightMin) {
        Rung& smaller = rungs.emplace_back(rungs.front());
        smaller.name = fmt::format("{}p", half);
        smaller.height = half;
        smaller.kbps = std::max(1U, smaller.kbps * usual_kbps(half) / usual_kbps(top));
    }
    return rungs;
}

std::vector<std::string> ladder_arguments(const LadderOptions& configured, const std::vector<Rung>& rungs,
                                          std::string_view encoder) {
    const LadderOptions options = encoder.empty() ? configured : with_fallback(configured);
    Words words = {options.ffmpeg.empty() ? std::string(ffmpeg::kConventionalProgram) : options.ffmpeg};
    add(words, {"-hide_banner", "-nostats", "-loglevel", "warning", "-progress", fmt::format("pipe:{}", kProgressHandle)});
    // Its times are those of the stream. Little is read before the first frame.
    add(words, {"-copyts", "-probesize", "32768", "-analyzeduration", "500000"});
    ffmpeg::append_options(words, options.perfile);
    add(words, {"-threads", "2", "-f", "flv", "-i", "pipe:0", "-filter_complex", filter_of(rungs, options.scaler)});
    for (std::size_t i = 0; i < rungs.size(); ++i) {
        add(words, {"-map", fmt::format("[v{}]", i)});
        add_encoder(words, encoder.empty() ? rungs[i] : with_encoder(rungs[i], encoder));
        add(words, {"-fps_mode", "passthrough", "-enc_time_base", "-1", "-flush_packets", "1", "-flvflags",
                    "no_duration_filesize", "-f", "flv", fmt::format("pipe:{}", kFirstOutputHandle + static_cast<int>(i))});
    }
    return words;
}

}  // namespace live::service::ladder
