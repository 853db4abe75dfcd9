// The rows of service/hls/options.hpp.
#pragma once

#include <array>
#include <string_view>

#include "base/config/row.hpp"
#include "service/hls/options.hpp"

namespace live::service::hls {

inline constexpr auto kNextPublisher = config::Reload::next_session;

inline constexpr std::array kOnErrorNames = {
    config::Named<OnError>{"ignore", OnError::ignore},
    config::Named<OnError>{"disconnect", OnError::disconnect},
    config::Named<OnError>{"continue", OnError::carry_on},
};
inline constexpr std::array kFmp4Names = {
    config::Named<Fmp4>{"off", Fmp4::off},
    config::Named<Fmp4>{"on", Fmp4::on},
    config::Named<Fmp4>{"auto", Fmp4::by_codec},
};
inline constexpr std::array<std::string_view, 3> kHlsAudioNames = {"aac", "mp3", "an"};
inline constexpr std::array<std::string_view, 3> kHlsVideoNames = {"h264", "h265", "vn"};

inline constexpr auto kHlsRows = config::Rows{
    config::row(&HlsOptions::enabled, "enabled", kNextPublisher, "Writes HLS."),
    config::row(&HlsOptions::fragment, "hls_fragment", 0s, 3600s, kNextPublisher,
                "The target duration of a fragment in seconds; fractions are allowed."),
    config::row(&HlsOptions::td_ratio, "hls_td_ratio", 0, 100, kNextPublisher,
                "A fragment is cut at the first key frame after this many times hls_fragment."),
    config::row(&HlsOptions::aof_ratio, "hls_aof_ratio", 0, 100, kNextPublisher,
                "A fragment is cut without a key frame after this many times hls_fragment."),
    config::row(&HlsOptions::window, "hls_window", 0s, 86'400s, kNextPublisher,
                "The duration of the fragments in the playlist, in seconds."),
    config::row(
        &HlsOptions::window_bytes, "hls_window_bytes", 1 << 20, std::uint64_t{1} << 40, kNextPublisher,
        "Ours: the limit of a stream's fragments in memory, in bytes. Above it the oldest fragments leave the playlist before "
        "hls_window is full; the newest one is always kept.")
        .clamped(),
    config::row(
        &HlsOptions::on_error, "hls_on_error", kOnErrorNames, kNextPublisher,
        "The action after a failed write: ignore (no HLS until the next publisher), disconnect (the publisher), or continue."),
    config::row(&HlsOptions::path, "hls_path", kNextPublisher, "The base directory."),
    config::row(
        &HlsOptions::push, "push", kNextPublisher,
        "Ours: copies the files elsewhere, segments before their playlists, and removes old ones there: a URL, below which they "
        "are PUT and DELETEd, or s3, the bucket of upload {}.")
        .example("http://cdn.example.com/hls/"),
    config::row(&HlsOptions::m3u8_file, "hls_m3u8_file", kNextPublisher, "The name of the playlist in it."),
    config::row(&HlsOptions::ts_file, "hls_ts_file", kNextPublisher, "The name of a fragment in it."),
    config::row(&HlsOptions::ts_floor, "hls_ts_floor", kNextPublisher, "[timestamp] is the number of the fragment."),
    config::row(&HlsOptions::entry_prefix, "hls_entry_prefix", kNextPublisher,
                "The prefix of each fragment's name in the playlist.")
        .example("http://cdn.example.com"),
    config::row(&HlsOptions::acodec, "hls_acodec", kHlsAudioNames, kNextPublisher,
                "Accepted without effect: the codec is that of the stream."),
    config::row(&HlsOptions::vcodec, "hls_vcodec", kHlsVideoNames, kNextPublisher,
                "Accepted without effect: the codec is that of the stream."),
    config::row(&HlsOptions::cleanup, "hls_cleanup", kNextPublisher, "Deletes fragments that have left the playlist."),
    config::row(&HlsOptions::dispose, "hls_dispose", 0s, 864'000s, kNextPublisher,
                "Deletes all files this many seconds after the publisher has left; 0: never."),
    config::row(&HlsOptions::nb_notify, "hls_nb_notify", 0, 1 << 20, kNextPublisher,
                "The bytes to read from the response to on_hls_notify."),
    config::row(&HlsOptions::wait_keyframe, "hls_wait_keyframe", kNextPublisher, "Cuts only at key frames."),
    config::row(&HlsOptions::dts_directly, "hls_dts_directly", kNextPublisher,
                "Audio timestamps in MPEG-TS are those of the stream; off: they are counted in samples."),
    config::row(&HlsOptions::ctx, "hls_ctx", kNextPublisher, "Identifies players by a query parameter."),
    config::row(&HlsOptions::ts_ctx, "hls_ts_ctx", kNextPublisher, "Adds that parameter to fragment URLs."),
    config::row(&HlsOptions::keys, "hls_keys", kNextPublisher, "Encrypts fragments with AES-128.")
        .rule(config::BoolRule::off_is_off),
    config::row(&HlsOptions::fragments_per_key, "hls_fragments_per_key", 1, 1'000'000, kNextPublisher,
                "The number of fragments with one key.")
        .clamped(),
    config::row(&HlsOptions::key_file, "hls_key_file", kNextPublisher, "The name of a key file."),
    config::row(&HlsOptions::key_file_path, "hls_key_file_path", kNextPublisher, "The directory of key files; default: hls_path.")
        .example("./objs/nginx/html"),
    config::row(&HlsOptions::key_secret, "hls_key_secret", kNextPublisher,
                "Ours: keys are derived from this secret, the stream and the fragment's number, so that all nodes with the "
                "secret have the "
                "same keys; empty: random keys.")
        .secret(),
    config::row(&HlsOptions::key_url, "hls_key_url", kNextPublisher,
                "The URL prefix of keys in the playlist, with a trailing slash; empty: the prefix of fragments.")
        .example("https://localhost:8080/"),
    config::row(
        &HlsOptions::use_fmp4, "hls_use_fmp4", kFmp4Names, kNextPublisher,
        "on: fMP4 fragments; off: MPEG-TS, with the default tracks only; auto: fMP4 for streams with AV1, VP9, Opus or FLAC, or "
        "with several tracks of a kind, and MPEG-TS for all others."),
    config::row(&HlsOptions::fmp4_file, "hls_fmp4_file", kNextPublisher, "The name of an fMP4 fragment."),
    config::row(&HlsOptions::init_file, "hls_init_file", kNextPublisher, "The name of the fMP4 initialization section."),
    config::row(&HlsOptions::recover, "hls_recover", kNextPublisher, "Continues the playlist of an earlier process."),
    config::row(
        &HlsOptions::cue_tags, "hls_cue_tags", kNextPublisher,
        "Ours: writes EXT-X-CUE-OUT, EXT-X-CUE-OUT-CONT and EXT-X-CUE-IN for markers of SCTE 35, beside EXT-X-DATERANGE."),
    config::row(&HlsOptions::master_m3u8_path_relative, "hls_master_m3u8_path_relative", kNextPublisher,
                "Writes relative URLs in the master playlist."),
    config::row(
        &HlsOptions::ll, "hls_ll", kNextPublisher,
        "Ours: low latency, with parts of fragments and blocking playlist requests. Not supported together with hls_keys."),
    config::row(&HlsOptions::part, "hls_part", 50ms, 2000ms, kNextPublisher, "Ours: the duration of a part in milliseconds.")
        .clamped(),
};

}  // namespace live::service::hls
