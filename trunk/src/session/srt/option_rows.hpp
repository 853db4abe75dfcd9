// The rows of session/srt/options.hpp.
#pragma once

#include <array>

#include "base/config/row.hpp"
#include "base/time.hpp"
#include "session/srt/options.hpp"

namespace live::session::srt {

inline constexpr auto kRestart = config::Reload::restart;
inline constexpr auto kNextSession = config::Reload::next_session;

inline constexpr std::array kModeNames = {
    config::Named<Mode>{"request", Mode::request},
    config::Named<Mode>{"publish", Mode::publish},
};

inline constexpr auto kSrtServerRows = config::Rows{
    config::row(&SrtServerOptions::enabled, "enabled", kRestart, "SRT listener."),
    config::endpoints(&SrtServerOptions::listen, "listen", kRestart, "UDP endpoints."),
    config::row(&SrtServerOptions::maxbw, "maxbw", -1, 1LL << 50, kRestart,
                "Bytes a second to a player, with retransmissions; -1 and 0: by the stream, 10 Mbit/s at least."),
    config::row(&SrtServerOptions::mss, "mss", 76, 65'535, kRestart, "Segment size, bytes."),
    config::row(&SrtServerOptions::tsbpdmode, "tsbpdmode", kRestart,
                "Delivery by timestamp; off: as soon as it is complete, whatever the latency."),
    config::row(&SrtServerOptions::latency, "latency", 0ms, 600'000ms, kRestart,
                "Least latency of both directions, where the next two are not set; the larger one of server and client counts."),
    config::row(&SrtServerOptions::recvlatency, "recvlatency", 0ms, 600'000ms, kRestart, "Least latency from publishers."),
    config::row(&SrtServerOptions::peerlatency, "peerlatency", 0ms, 600'000ms, kRestart, "Least latency to players."),
    config::row(&SrtServerOptions::tlpktdrop, "tlpktdrop", kRestart,
                "Drops packets that come too late; off: waits for them, however long."),
    config::row(
        &SrtServerOptions::connect_timeout, "connect_timeout", 0ms, 600'000ms, kRestart,
        "A client that has not asked again for this long, at most 1500, while callbacks were asked, has given up; 0: is let in."),
    config::row(&SrtServerOptions::peer_idle_timeout, "peer_idle_timeout", 0ms, 3'600'000ms, kRestart, "A silent peer is gone."),
    config::row(&SrtServerOptions::sendbuf, "sendbuf", 0, 2'000'000'000, kRestart, "Send buffer of a connection, bytes at most."),
    config::row(&SrtServerOptions::recvbuf, "recvbuf", 0, 2'000'000'000, kRestart,
                "Receive buffer of a connection, bytes at most."),
    config::row(&SrtServerOptions::payloadsize, "payloadsize", 188, 1456, kRestart,
                "Payload of a packet, bytes; whole transport packets of 188 are sent."),
    config::row(&SrtServerOptions::passphrase, "passphrase", kRestart,
                "10 to 79 characters; empty is no encryption. With one, clients without encryption are refused.")
        .secret(),
    config::row(&SrtServerOptions::pbkeylen, "pbkeylen", 0, 32, kRestart,
                "Key length that clients without one of their own are told: 16, 24 or 32; 0: 16."),
    config::row(&SrtServerOptions::default_app, "default_app", kRestart, "App when the stream id is a bare name."),
    config::row(&SrtServerOptions::sei_filter, "sei_filter", kRestart, "No effect.").ignored(),
    config::row(&SrtServerOptions::mix_correct, "mix_correct", kRestart, "No effect.").ignored(),
    config::row(&SrtServerOptions::default_mode, "default_mode", kModeNames, kRestart, "Meaning of a plain stream id."),
    config::row(&SrtServerOptions::default_streamid, "default_streamid", kRestart,
                "The stream id of a client that sends none; empty: it is refused."),
};

inline constexpr auto kSrtRows = config::Rows{
    config::row(&SrtOptions::enabled, "enabled", kNextSession, "SRT on this virtual host."),
    config::row(&SrtOptions::srt_to_rtmp, "srt_to_rtmp", kNextSession, "SRT streams can be played over the others.")
        .rule(config::BoolRule::needs_on)
        .also_variable("SRS_VHOST_SRT_TO_RTMP"),
    config::row(&SrtOptions::passphrase, "passphrase", kNextSession, "Passphrase of its streams; empty: that of srt_server.")
        .secret(),
    config::row(&SrtOptions::passphrase_callback, "passphrase_callback", kNextSession,
                "Answers of on_publish and on_play may name the passphrase of a stream, which is checked after them."),
};

inline constexpr auto kSrtLimitRows = config::Rows{
    config::row(&SrtLimitOptions::srt_half_open, "srt_half_open", 2, 50'000, config::Reload::live,
                "SRT clients that wait for callbacks or passphrases; at most half of them of one virtual host."),
    config::row(&SrtLimitOptions::srt_half_open_per_ip, "srt_half_open_per_ip", 1, 50'000, config::Reload::live,
                "The same for one address."),
};

}  // namespace live::session::srt
