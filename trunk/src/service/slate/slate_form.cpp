#include "service/slate/slate_form.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

#include "service/ffmpeg/arguments.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace live::service::slate {

namespace {

using wire::codec::Codec;
using Words = std::vector<std::string>;

constexpr std::uint8_t kBaseline = 66;
constexpr std::uint8_t kMain = 77;
constexpr std::uint32_t kFramesPerSecond = 25;

void add(Words& words, std::initializer_list<std::string_view> more) { words.insert(words.end(), more.begin(), more.end()); }

bool is_image(std::string_view file) {
    constexpr std::array<std::string_view, 5> kImages = {".png", ".jpg", ".jpeg", ".bmp", ".webp"};
    return std::ranges::any_of(kImages, [file](std::string_view ending) {
        return file.size() > ending.size() &&
               std::ranges::equal(file.substr(file.size() - ending.size()), ending, {},
                                  [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    });
}

std::string_view video_encoder(Codec codec) { return codec == Codec::hevc ? "libx265" : "libx264"; }

std::string_view audio_encoder(Codec codec) {
    return codec == Codec::opus ? "libopus" : codec == Codec::mp3 ? "libmp3lame" : "aac";
}

// Fits the picture into the stream's, with bars where the shapes differ.
std::string filter_of(const SlateForm& form) {
    if (form.width == 0)
        return "scale=trunc(iw/2)*2:trunc(ih/2)*2,setsar=1,format=yuv420p";
    return fmt::format(
        "scale={0}:{1}:force_original_aspect_ratio=decrease,pad={0}:{1}:(ow-iw)/2:(oh-ih)/2,setsar=1,format=yuv420p", form.width,
        form.height);
}

// A key frame each second: outputs cut segments there, and players that join need little history.
void add_video(Words& words, const SlateForm& form) {
    const std::uint32_t pixels = form.width == 0 ? 1280U * 720U : std::uint32_t{form.width} * form.height;
    const std::string kbps = fmt::format("{}k", std::max(300U, pixels / 400U));
    const std::string gop = std::to_string(kFramesPerSecond);
    add(words, {"-vf", filter_of(form), "-r", gop, "-c:v", video_encoder(form.video), "-preset", "veryfast"});
    add(words, {"-crf", "24", "-maxrate", kbps, "-bufsize", kbps, "-g", gop, "-keyint_min", gop, "-bf", "0", "-threads", "2"});
    if (form.video == Codec::avc) {
        add(words, {"-sc_threshold", "0", "-profile:v"});
        words.emplace_back(form.profile == kBaseline ? "baseline" : form.profile == kMain ? "main" : "high");
    } else {
        add(words, {"-x265-params", "scenecut=0:open-gop=0:bframes=0:log-level=warning"});
    }
}

void add_audio(Words& words, const SlateForm& form) {
    add(words, {"-c:a", audio_encoder(form.audio), "-b:a", form.channels == 1 ? "64k" : "128k"});
    add(words, {"-ar", std::to_string(form.sample_rate), "-ac", std::to_string(form.channels)});
}

}  // namespace

std::string SlateForm::text() const {
    std::string text;
    if (video != Codec::none)
        text = fmt::format("{} {}", name_of(video), width == 0 ? "in the size of the file" : fmt::format("{}x{}", width, height));
    if (audio != Codec::none)
        text += fmt::format("{}{} {} Hz", text.empty() ? "" : ", ", name_of(audio), sample_rate);
    return text;
}

SlateForm usual_form() { return {.video = Codec::avc, .audio = Codec::aac, .sample_rate = 48'000, .channels = 2}; }

Result<SlateForm> form_of(const media::Tracks& tracks) {
    SlateForm form;
    const bool has_video = tracks.has_default(MediaKind::video);
    const bool has_audio = tracks.has_default(MediaKind::audio);
    if (!has_video && !has_audio)
        return Error(Errc::not_found, "the stream has no track yet");
    wire::mp4::SampleReader reader;
    if (has_video) {
        const media::Packet& config = tracks.config(MediaKind::video);
        form.video = tracks.default_of(MediaKind::video)->codec;
        if (form.video != Codec::avc && form.video != Codec::hevc)
            return Error(Errc::unsupported, fmt::format("a slate cannot be encoded in {}", name_of(form.video)));
        if (!config.is_config() || !reader.push_video(frame_of(config)).ok() || !reader.video())
            return Error(Errc::not_found, "the size of the video is not known yet");
        form.width = static_cast<std::uint16_t>(reader.video()->width / 2 * 2);
        form.height = static_cast<std::uint16_t>(reader.video()->height / 2 * 2);
        // avcC: version, profile_idc, ... (ISO/IEC 14496-15, 5.3.3.1).
        if (form.video == Codec::avc && config.frame_bytes() > 1)
            form.profile = config.frame()[1];
    }
    if (has_audio) {
        const media::Track& track = *tracks.default_of(MediaKind::audio);
        form.audio = track.codec;
        form.sample_rate = track.audio.sample_rate;
        form.channels = track.audio.channels;
        if (form.audio != Codec::aac && form.audio != Codec::opus && form.audio != Codec::mp3)
            return Error(Errc::unsupported, fmt::format("a slate cannot be encoded in {}", name_of(form.audio)));
        const media::Packet& config = tracks.config(MediaKind::audio);
        if (config.is_config() && reader.push_audio(frame_of(config)).ok() && reader.audio()) {
            form.sample_rate = reader.audio()->sample_rate;
            form.channels = reader.audio()->channels;
        } else if (form.audio == Codec::aac) {
            return Error(Errc::not_found, "the format of the audio is not known yet");
        }
        form.sample_rate = form.audio == Codec::opus || form.sample_rate == 0 ? 48'000 : form.sample_rate;
        form.channels = std::clamp<std::uint16_t>(form.channels == 0 ? 2 : form.channels, 1, 2);
    }
    return form;
}

std::vector<std::string> slate_arguments(const SlateForm& form, const std::string& file, Sound sound) {
    Words words = {std::string(ffmpeg::kConventionalProgram), "-hide_banner", "-nostdin", "-loglevel", "error"};
    const std::string seconds = std::to_string((is_image(file) ? kImageTime : kSlateTimeMax).count());
    if (is_image(file))
        add(words, {"-loop", "1", "-framerate", std::to_string(kFramesPerSecond)});
    // Without a protocol, the name of a file that has a colon would be a URL.
    add(words, {"-t", seconds, "-i", "file:" + file});
    const bool is_silent = form.audio != Codec::none && (sound == Sound::silence || is_image(file));
    if (is_silent)
        add(words, {"-f", "lavfi", "-t", seconds, "-i", "anullsrc=r=48000:cl=stereo"});
    if (form.video != Codec::none)
        add(words, {"-map", "0:v:0"});
    if (form.audio != Codec::none)
        add(words, {"-map", is_silent ? "1:a:0" : "0:a:0"});
    if (form.video != Codec::none)
        add_video(words, form);
    if (form.audio != Codec::none)
        add_audio(words, form);
    if (form.video != Codec::none && is_silent)
        add(words, {"-shortest"});
    add(words, {"-muxdelay", "0", "-muxpreload", "0", "-f", "mpegts", "pipe:1"});
    return words;
}

}  // namespace live::service::slate
