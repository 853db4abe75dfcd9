// SlateForm: the codecs and sizes in which the slate of a stream is encoded, and the ffmpeg call that encodes it. Pure.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "media/source/tracks.hpp"
#include "wire/codec/codec.hpp"

namespace live::service::slate {

// Players get the beginning of a longer film.
inline constexpr std::chrono::seconds kSlateTimeMax{60};
// Length of an image, which is played again and again.
inline constexpr std::chrono::seconds kImageTime{2};

struct SlateForm {
    using Codec = wire::codec::Codec;

    Codec video = Codec::none;  // none: the stream has no video
    std::uint8_t profile = 0;   // profile_idc of H.264; 0: any
    std::uint16_t width = 0;    // 0: that of the file
    std::uint16_t height = 0;
    Codec audio = Codec::none;
    std::uint32_t sample_rate = 0;
    std::uint16_t channels = 0;

    auto operator<=>(const SlateForm&) const = default;
    // "avc 1280x720, aac 48000 Hz": for the log.
    std::string text() const;
};

// The form of a stream without a publisher so far.
SlateForm usual_form();
// The form of the default tracks. Errc::not_found while they are unknown, Errc::unsupported for codecs that have no slate.
Result<SlateForm> form_of(const media::Tracks& tracks);

// The audio of the file, or silence for a file without.
enum class Sound : std::uint8_t { of_file, silence };
// The first word is the program as configured. The output is a transport stream on standard output.
std::vector<std::string> slate_arguments(const SlateForm& form, const std::string& file, Sound sound);

}  // namespace live::service::slate
