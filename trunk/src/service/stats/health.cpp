#include "service/stats/health.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace live::service::stats {

namespace {

constexpr double kLongKeyFrames = 4;
constexpr double kShortKeyFrames = 0.5;
constexpr double kNoKeyFrame = 10;
constexpr double kNoVideo = 3;
constexpr double kOutOfStep = 0.2;
constexpr double kFellBy = 0.6;  // of the best frame rate
constexpr double kLeastRate = 5;

// "10", "2.5", "0.4"
std::string seconds(double value) {
    const double rounded = std::round(value * 10) / 10;
    return rounded == std::round(rounded) ? fmt::format("{:.0f}", rounded) : fmt::format("{:.1f}", rounded);
}

class Notes {
public:
    void info(std::string_view code, std::string text) { add(Severity::info, code, std::move(text)); }
    void warn(std::string_view code, std::string text) { add(Severity::warning, code, std::move(text)); }
    void fail(std::string_view code, std::string text) { add(Severity::error, code, std::move(text)); }
    std::vector<HealthNote> take() {
        std::ranges::stable_sort(notes_, std::greater(), &HealthNote::severity);
        return std::move(notes_);
    }

private:
    void add(Severity severity, std::string_view code, std::string text) { notes_.push_back({severity, code, std::move(text)}); }
    std::vector<HealthNote> notes_;
};

void add_key_frames(const HealthFacts& facts, Notes& notes) {
    const double apart = facts.key_frame_distance.value_or(0);
    if (facts.since_key_frame && *facts.since_key_frame > std::max(2 * apart, kNoKeyFrame))
        notes.fail("no_key_frame", fmt::format("The last key frame came {} s ago: new players see nothing until the next one. "
                                               "Set a key frame interval of 2 s in the encoder.",
                                               seconds(*facts.since_key_frame)));
    else if (apart >= kLongKeyFrames)
        notes.warn("key_frames_far_apart",
                   fmt::format("Key frames come every {0} s: players wait up to {0} s to start. Set a key "
                               "frame interval of 2 s in the encoder.",
                               seconds(apart)));
    else if (facts.key_frame_distance && apart > 0 && apart < kShortKeyFrames)
        notes.warn("key_frames_close", fmt::format("Key frames come every {} s: they take bit rate from the other frames. An "
                                                   "interval of 1 to 2 s is enough.",
                                                   seconds(apart)));
}

void add_frame_rate(const HealthFacts& facts, Notes& notes) {
    const double rate = facts.frames_per_second;
    if (facts.best_frame_rate > kLeastRate && rate < facts.best_frame_rate * kFellBy)
        notes.warn("frame_rate_fell",
                   fmt::format("The frame rate fell from {:.0f} to {:.0f} per second: the encoder or its network "
                               "is too slow.",
                               facts.best_frame_rate, rate));
}

void add_video(const HealthFacts& facts, Notes& notes) {
    if (facts.video_codec.empty())
        return notes.info("no_video", "The stream has no video.");
    if (facts.without_video > kNoVideo)
        notes.fail("video_stopped",
                   fmt::format("No video has arrived for {} s. The publisher is still connected.", seconds(facts.without_video)));
    else {
        add_key_frames(facts, notes);
        add_frame_rate(facts, notes);
    }
    if (facts.video_profile.starts_with("High(4") || facts.video_profile.starts_with("High(10"))
        notes.warn("profile",
                   fmt::format("The H.264 profile is {}: most browsers and phones do not play it. Use 8 bits and 4:2:0 "
                               "(yuv420p).",
                               facts.video_profile));
    if (facts.video_codec != "H264")
        notes.info("video_codec", fmt::format("The video is {}: not every browser and player can play it.", facts.video_codec));
    if (!facts.has_b_frames || !facts.is_bridged_to_rtc || facts.video_codec != "H264")
        return;
    if (facts.keeps_b_frames)
        notes.warn("b_frames",
                   "The stream has B-frames, and WebRTC players get them in the wrong order: video may flicker there. "
                   "Set 0 B-frames in the encoder.");
    else if (facts.encodes_b_frames)
        notes.info("b_frames",
                   "The stream has B-frames: it is encoded again while WebRTC players watch it. Set 0 B-frames in the encoder.");
    else
        notes.warn("b_frames", "B-frames are left out for WebRTC: its players see fewer frames. Set 0 B-frames in the encoder.");
}

void add_audio(const HealthFacts& facts, Notes& notes) {
    if (facts.audio_codec.empty())
        return notes.info("no_audio", "The stream has no audio.");
    if (!facts.audio_problem.empty())
        notes.fail("audio_left_out", fmt::format("Most players get no audio: {}.", facts.audio_problem));
    const double behind = facts.audio_behind.value_or(0);
    if (!facts.video_codec.empty() && facts.without_video <= kNoVideo && std::abs(behind) >= kOutOfStep)
        notes.warn(behind > 0 ? "audio_late" : "video_late",
                   fmt::format("{} is {:.0f} ms late: players wait for it, or play out of step.", behind > 0 ? "Audio" : "Video",
                               std::abs(behind) * 1000));
}

}  // namespace

std::string_view name_of(Severity severity) {
    switch (severity) {
        case Severity::error: return "error";
        case Severity::warning: return "warning";
        default: return "info";
    }
}

std::vector<HealthNote> health_of(const HealthFacts& facts) {
    Notes notes;
    if (!facts.is_published) {
        notes.fail("not_published", "Nobody publishes this stream.");
        return notes.take();
    }
    if (facts.shows_slate) {
        notes.fail("slate", "The publisher is away, and players see the slate.");
        return notes.take();
    }
    if (facts.video_codec.empty() && facts.audio_codec.empty()) {
        notes.fail("no_media", "The publisher is connected and sends neither video nor audio.");
        return notes.take();
    }
    add_video(facts, notes);
    add_audio(facts, notes);
    return notes.take();
}

}  // namespace live::service::stats
