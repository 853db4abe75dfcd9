// The health of a stream as sentences for people: the remarks that its publisher or its operator can act upon. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace live::service::stats {

struct HealthFacts {
    bool is_published = false;
    bool shows_slate = false;
    // Empty: the stream has none.
    std::string video_codec{};
    std::string video_profile{};
    std::string audio_codec{};
    std::string audio_problem{};  // why most outputs leave it out
    // Seconds.
    std::optional<double> key_frame_distance{};
    std::optional<double> since_key_frame{};
    double without_video = 0;
    std::optional<double> audio_behind{};  // of video; negative: video is behind
    double frames_per_second = 0;
    double best_frame_rate = 0;  // of the last minutes
    bool has_b_frames = false;
    bool is_bridged_to_rtc = false;  // players of WebRTC get its frames
    bool encodes_b_frames = false;   // they get another version
    bool keeps_b_frames = false;     // they get B-frames too
};

enum class Severity : std::uint8_t { info, warning, error };
std::string_view name_of(Severity severity);

struct HealthNote {
    Severity severity = Severity::info;
    std::string_view code;  // for programs
    std::string text;
};

// The most severe first. Empty: there is nothing to say.
std::vector<HealthNote> health_of(const HealthFacts& facts);

}  // namespace live::service::stats
