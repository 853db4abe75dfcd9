// An MPD with audio and video.
#pragma once

#include "service/dash/mpd.hpp"

namespace live::service::dash {

inline Mpd example_mpd() {
    Mpd mpd;
    mpd.began = std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) + std::chrono::milliseconds(50'709'042);
    mpd.written = mpd.began + 30s;
    mpd.update_period = 5s;
    mpd.window_size = 5;
    mpd.folder = "cam&1/";
    mpd.first_number = 7;
    MpdTrack& audio = mpd.tracks.emplace_back();
    audio.id = "audio";
    audio.format.kind = MediaKind::audio;
    audio.format.codecs = "mp4a.40.2";
    audio.format.sample_rate = 44'100;
    audio.segments = {{MediaTime(10'000'400), MediaTime(2'020'300)}, {MediaTime(12'020'700), MediaTime(2'000'000)}};
    MpdTrack& video = mpd.tracks.emplace_back();
    video.id = "video";
    video.format.kind = MediaKind::video;
    video.format.codecs = "avc1.64001f";
    video.format.width = 640;
    video.format.height = 360;
    video.bits_a_second = 500'000;
    video.segments = {{10s, 2'040ms}, {12'040ms, 2s}};
    return mpd;
}

}  // namespace live::service::dash
