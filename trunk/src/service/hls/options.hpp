// HLS settings of one virtual host: plain values with defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace live::service::hls {

// Action when a file cannot be written.
enum class OnError : std::uint8_t {
    ignore,      // no more HLS for this publisher
    disconnect,  // disconnect the publisher
    carry_on,    // keep serving players from memory
};

// Fragment format: fMP4 or MPEG-TS.
enum class Fmp4 : std::uint8_t {
    off,
    on,
    by_codec,  // MPEG-TS, or fMP4 for codecs that players do not accept in MPEG-TS
};

struct HlsOptions {
    bool enabled = false;
    std::chrono::milliseconds fragment = 10s;
    double td_ratio = 1.0;
    double aof_ratio = 2.1;
    std::chrono::milliseconds window = 60s;
    std::uint64_t window_bytes = 256 << 20;  // specific to this server
    OnError on_error = OnError::carry_on;
    std::string path = "./objs/nginx/html";
    // Ours: "s3", or a URL that takes PUT and DELETE.
    std::string push;
    std::string m3u8_file = "[app]/[stream].m3u8";
    std::string ts_file = "[app]/[stream]-[seq].ts";
    bool ts_floor = false;
    std::string entry_prefix;
    std::string acodec = "aac";
    std::string vcodec = "h264";
    bool cleanup = true;
    std::chrono::milliseconds dispose = 120s;
    std::uint32_t nb_notify = 64;
    bool wait_keyframe = true;
    bool dts_directly = true;
    bool ctx = true;
    bool ts_ctx = true;
    bool keys = false;
    std::uint32_t fragments_per_key = 5;
    std::string key_file = "[app]/[stream]-[seq].key";
    // The loader fills these two from `path` when they are not set.
    std::string key_file_path;
    std::string key_url;
    std::string key_secret;  // specific to this server; empty: random keys
    Fmp4 use_fmp4 = Fmp4::by_codec;
    std::string fmp4_file = "[app]/[stream]-[seq].m4s";
    std::string init_file = "[app]/[stream]/init.mp4";
    bool recover = true;
    bool cue_tags = false;  // specific to this server
    bool master_m3u8_path_relative = false;
    // Specific to this server: low latency.
    bool ll = false;
    std::chrono::milliseconds part = 200ms;
};

}  // namespace live::service::hls
