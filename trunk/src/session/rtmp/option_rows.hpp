// The rows of session/rtmp/options.hpp. They are placed directly in vhost {}.
#pragma once

#include "base/config/row.hpp"
#include "session/rtmp/options.hpp"

namespace live::session::rtmp {

inline constexpr std::uint32_t kChunkSizeMin = 128;
inline constexpr std::uint32_t kChunkSizeMax = 65'536;

inline constexpr auto kRtmpRows = config::Rows{
    config::row(&RtmpOptions::chunk_size, "chunk_size", kChunkSizeMin, kChunkSizeMax, config::Reload::next_session,
                "Bytes of payload in each chunk that we send; the root's value when it is not said.")
        .clamped(),
    config::row(&RtmpOptions::min_latency, "min_latency", config::Reload::next_session,
                "Every packet wakes the players at once: no merged read, and mw_msgs is 0 when it is not said."),
    config::row(&RtmpOptions::tcp_nodelay, "tcp_nodelay", config::Reload::next_session,
                "TCP_NODELAY on the sockets of RTMP and RTMPS while media is sent. Answers to a client are always sent at once."),
    config::row(&RtmpOptions::in_ack_size, "in_ack_size", 0, 1U << 31, config::Reload::next_session,
                "The acknowledgement window assumed for a peer that never sets one, in bytes; 0 is none."),
    config::row(&RtmpOptions::out_ack_size, "out_ack_size", 0, 1U << 31, config::Reload::next_session,
                "Acknowledgement window requested of a peer, in bytes; 0 requests none."),
    config::row(
        &RtmpOptions::challenge, "rtmp_challenge", config::Reload::next_session,
        "Ours: encoders over RTMP, such as ffmpeg and OBS, are asked at connect for the name and the password of their URL "
        "(authmod=adobe). All passwords must be plain:TEXT in the conf, and those encoders can have no token."),
};

}  // namespace live::session::rtmp
