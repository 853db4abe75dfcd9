#include "service/ffmpeg/progress.hpp"

#include <charconv>
#include <system_error>

namespace live::service::ffmpeg {

namespace {

template <class Number>
void set(Number& into, std::string_view text) {
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure == std::errc() && value >= Number{})
        into = value;
}

}  // namespace

void read_progress(std::string_view line, Progress& into) {
    const std::size_t sign = line.find('=');
    if (sign == std::string_view::npos)
        return;
    const std::string_view key = line.substr(0, sign);
    std::string_view value = line.substr(sign + 1);
    while (value.starts_with(' '))
        value.remove_prefix(1);
    if (key == "frame")
        set(into.frames, value);
    else if (key == "fps")
        set(into.fps, value);
    else if (key == "speed")
        set(into.speed, value);
    else if (key == "drop_frames")
        set(into.dropped, value);
    else if (key == "dup_frames")
        set(into.duplicated, value);
    else if (key == "out_time_us")
        set(into.out_us, value);
    else if (key == "total_size")
        set(into.out_bytes, value);
}

std::string missing_encoder(std::string_view line) {
    constexpr std::string_view kUnknown = "Unknown encoder '";
    const std::size_t at = line.find(kUnknown);
    if (at == std::string_view::npos)
        return {};
    const std::string_view rest = line.substr(at + kUnknown.size());
    return std::string(rest.substr(0, rest.find('\'')));
}

}  // namespace live::service::ffmpeg
