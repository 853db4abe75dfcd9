// The kind of client a session serves, with its name in the API, callbacks and logs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace live::session {

enum class ClientKind : std::uint8_t {
    unknown,  // connected, has not requested anything yet
    rtmp_play,
    flv_play,  // any stream over HTTP: FLV, TS, AAC, MP3, also over WebSocket
    hls_play,
    rtc_play,
    srt_play,
    fmle_publish,  // RTMP publishers, by the order of the encoder's calls
    flash_publish,
    haivision_publish,
    rtc_publish,
    srt_publish,
    relay_pull,  // this server's own: a stream of an edge, from its origin
};
constexpr std::size_t index_of(ClientKind kind) { return static_cast<std::size_t>(kind); }
inline constexpr std::size_t kClientKinds = index_of(ClientKind::relay_pull) + 1;

constexpr std::string_view name_of(ClientKind kind) {
    switch (kind) {
        case ClientKind::rtmp_play: return "rtmp-play";
        case ClientKind::flv_play: return "flv-play";
        case ClientKind::hls_play: return "hls-play";
        case ClientKind::rtc_play: return "rtc-play";
        case ClientKind::srt_play: return "srt-play";
        case ClientKind::fmle_publish: return "fmle-publish";
        case ClientKind::flash_publish: return "flash-publish";
        case ClientKind::haivision_publish: return "haivision-publish";
        case ClientKind::rtc_publish: return "rtc-publish";
        case ClientKind::srt_publish: return "srt-publish";
        case ClientKind::relay_pull: return "relay-pull";
        case ClientKind::unknown: break;
    }
    return "Unknown";
}

constexpr bool is_publisher(ClientKind kind) {
    return kind == ClientKind::fmle_publish || kind == ClientKind::flash_publish || kind == ClientKind::haivision_publish ||
           kind == ClientKind::rtc_publish || kind == ClientKind::srt_publish || kind == ClientKind::relay_pull;
}

}  // namespace live::session
