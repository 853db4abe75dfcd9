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
                "Target length of a fragment; fractions are allowed."),
    config::row(&HlsOptions::td_ratio, "hls_td_ratio", 0, 100, kNextPublisher, "Times hls_fragment is where it is really cut."),
    config::row(&HlsOptions::aof_ratio, "hls_aof_ratio", 0, 100, kNextPublisher, "Times hls_fragment cuts without a key frame."),
    config::row(&HlsOptions::window, "hls_window", 0s, 86'400s, kNextPublisher, "Seconds of fragments in the list."),
    config::row(
        &HlsOptions::window_bytes, "hls_window_bytes", 1 << 20, std::uint64_t{1} << 40, kNextPublisher,
        "Ours: bytes of fragments that a stream holds in memory. Where they are more than hls_window is long, the oldest leave "
        "the list sooner; the newest stays whatever its size.")
        .clamped(),
    config::row(&HlsOptions::on_error, "hls_on_error", kOnErrorNames, kNextPublisher, "What a failed write does."),
    config::row(&HlsOptions::path, "hls_path", kNextPublisher, "Base directory."),
    config::row(&HlsOptions::m3u8_file, "hls_m3u8_file", kNextPublisher, "Name of the list below it."),
    config::row(&HlsOptions::ts_file, "hls_ts_file", kNextPublisher, "Name of a fragment below it."),
    config::row(&HlsOptions::ts_floor, "hls_ts_floor", kNextPublisher, "[timestamp] counts fragments."),
    config::row(&HlsOptions::entry_prefix, "hls_entry_prefix", kNextPublisher, "Stands before each fragment's name in the list.")
        .example("http://cdn.example.com"),
    config::row(&HlsOptions::acodec, "hls_acodec", kHlsAudioNames, kNextPublisher,
                "Accepted: what the stream carries is known when it is written."),
    config::row(&HlsOptions::vcodec, "hls_vcodec", kHlsVideoNames, kNextPublisher,
                "Accepted: what the stream carries is known when it is written."),
    config::row(&HlsOptions::cleanup, "hls_cleanup", kNextPublisher, "Deletes fragments that have left the list."),
    config::row(&HlsOptions::dispose, "hls_dispose", 0s, 864'000s, kNextPublisher,
                "Seconds after unpublishing until all is deleted; 0 never."),
    config::row(&HlsOptions::nb_notify, "hls_nb_notify", 0, 1 << 20, kNextPublisher,
                "Bytes to read of the answer to on_hls_notify."),
    config::row(&HlsOptions::wait_keyframe, "hls_wait_keyframe", kNextPublisher, "Cuts only at key frames."),
    config::row(&HlsOptions::dts_directly, "hls_dts_directly", kNextPublisher,
                "Times of audio in MPEG-TS are the stream's; off counts them from its samples."),
    config::row(&HlsOptions::ctx, "hls_ctx", kNextPublisher, "Knows players by a query argument."),
    config::row(&HlsOptions::ts_ctx, "hls_ts_ctx", kNextPublisher, "Gives that argument to fragments."),
    config::row(&HlsOptions::keys, "hls_keys", kNextPublisher, "AES-128.").rule(config::BoolRule::off_is_off),
    config::row(&HlsOptions::fragments_per_key, "hls_fragments_per_key", 1, 1'000'000, kNextPublisher, "Fragments with one key.")
        .clamped(),
    config::row(&HlsOptions::key_file, "hls_key_file", kNextPublisher, "Name of a key file."),
    config::row(&HlsOptions::key_file_path, "hls_key_file_path", kNextPublisher,
                "Directory of key files; hls_path when it is not said.")
        .example("./objs/nginx/html"),
    config::row(
        &HlsOptions::key_secret, "hls_key_secret", kNextPublisher,
        "Ours: keys are derived from it, the stream and the fragment's number, so that all nodes with the same secret have the "
        "same; without it they are random.")
        .secret(),
    config::row(&HlsOptions::key_url, "hls_key_url", kNextPublisher,
                "Stands before the key's name in the list; end it with /. Without it the list names keys as it names fragments.")
        .example("https://localhost:8080/"),
    config::row(
        &HlsOptions::use_fmp4, "hls_use_fmp4", kFmp4Names, kNextPublisher,
        "fMP4 fragments (on) or MPEG-TS (off); auto: MPEG-TS, but fMP4 for a stream of AV1, VP9, Opus or FLAC, and for one "
        "with several tracks of a kind, which MPEG-TS has the default ones of."),
    config::row(&HlsOptions::fmp4_file, "hls_fmp4_file", kNextPublisher, "Name of an fMP4 fragment."),
    config::row(&HlsOptions::init_file, "hls_init_file", kNextPublisher, "Name of the fMP4 header."),
    config::row(&HlsOptions::recover, "hls_recover", kNextPublisher, "Goes on with an existing list."),
    config::row(&HlsOptions::master_m3u8_path_relative, "hls_master_m3u8_path_relative", kNextPublisher,
                "Relative names in the master list."),
    config::row(&HlsOptions::ll, "hls_ll", kNextPublisher,
                "Ours: low latency. Parts of fragments, and playlists that wait for the next one. Not together with hls_keys."),
    config::row(&HlsOptions::part, "hls_part", 50ms, 2000ms, kNextPublisher, "Ours: milliseconds of a part.").clamped(),
};

}  // namespace live::service::hls
