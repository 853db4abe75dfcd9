// The kind of client a session serves, with its name in the API, callbacks and logs. Each protocol describes its kinds beside its
// own code (session/*/protocol.cpp). The constants here name the kinds that other code singles out; a protocol needs none here.
#pragma once

#include <cstdint>
#include <string_view>

namespace live::session {

// The address of another server at which a client of this kind can continue.
enum class Reach : std::uint8_t { none, rtmp, http, api };

struct ClientKindRow {
    std::string_view name;
    bool is_publisher = false;
    Reach reach = Reach::none;
    // A cluster redirects only clients whose request.protocol begins with this.
    std::string_view redirected_protocol{};
    // The extent to which a publisher can continue at another server when a drain requests it.
    Reach drained_to = Reach::none;
    // A drain ends such a session, and the client opens a new one. Other clients are asked to move.
    bool is_ended_by_drain = false;
    // The client polls. It keeps no connection that could stall.
    bool is_polling = false;
    // The protocol connects before the client states whether it plays or publishes: on_connect applies, and one connection may
    // have several sessions.
    bool connects_first = false;
    // The client connects by a call with its web page, a tcUrl and arguments. Other clients have headers of HTTP, or nothing.
    bool has_connect_call = false;
    // A player that cannot start before the stream's codecs are known.
    bool needs_codecs = false;
    // A publisher of RTP: players of other protocols need vhost.rtc.rtc_to_rtmp.
    bool sends_rtp = false;
    // In callbacks, the name of the stream has the file's extension.
    bool names_file = false;
    // A player of files of this node: it is never sent to another one, and no stream is pulled for it.
    bool plays_files = false;
};

// Compared by the address of its row.
class ClientKind {
public:
    explicit constexpr ClientKind(const ClientKindRow& row) : row_(&row) {}
    const ClientKindRow& row() const { return *row_; }
    friend bool operator==(ClientKind, ClientKind) = default;

    static const ClientKind unknown;  // connected, has not requested anything yet
    static const ClientKind rtmp_play;
    static const ClientKind flv_play;  // any stream over HTTP: FLV, TS, AAC, MP3, also over WebSocket
    static const ClientKind hls_play;
    static const ClientKind rtc_play;
    static const ClientKind srt_play;
    static const ClientKind rtsp_play;
    static const ClientKind fmle_publish;  // RTMP publishers, by the order of the encoder's calls
    static const ClientKind flash_publish;
    static const ClientKind haivision_publish;
    static const ClientKind rtc_publish;
    static const ClientKind srt_publish;
    static const ClientKind gb28181_publish;
    static const ClientKind rtsp_publish;
    static const ClientKind relay_pull;      // this server's own: a stream of an edge, from its origin
    static const ClientKind engine_publish;  // this server's own: a stream that a transcode {} makes of another one

private:
    const ClientKindRow* row_;
};

namespace kinds {

extern const ClientKindRow kUnknown, kRelayPull, kEnginePublish;
extern const ClientKindRow kRtmpPlay, kFmlePublish, kFlashPublish, kHaivisionPublish;
extern const ClientKindRow kFlvPlay, kHlsPlay;
extern const ClientKindRow kRtcPlay, kRtcPublish;
extern const ClientKindRow kSrtPlay, kSrtPublish;
extern const ClientKindRow kGb28181Publish;
extern const ClientKindRow kRtspPlay, kRtspPublish;

}  // namespace kinds

inline constexpr ClientKind ClientKind::unknown{kinds::kUnknown};
inline constexpr ClientKind ClientKind::rtmp_play{kinds::kRtmpPlay};
inline constexpr ClientKind ClientKind::flv_play{kinds::kFlvPlay};
inline constexpr ClientKind ClientKind::hls_play{kinds::kHlsPlay};
inline constexpr ClientKind ClientKind::rtc_play{kinds::kRtcPlay};
inline constexpr ClientKind ClientKind::srt_play{kinds::kSrtPlay};
inline constexpr ClientKind ClientKind::fmle_publish{kinds::kFmlePublish};
inline constexpr ClientKind ClientKind::flash_publish{kinds::kFlashPublish};
inline constexpr ClientKind ClientKind::haivision_publish{kinds::kHaivisionPublish};
inline constexpr ClientKind ClientKind::rtc_publish{kinds::kRtcPublish};
inline constexpr ClientKind ClientKind::srt_publish{kinds::kSrtPublish};
inline constexpr ClientKind ClientKind::gb28181_publish{kinds::kGb28181Publish};
inline constexpr ClientKind ClientKind::rtsp_play{kinds::kRtspPlay};
inline constexpr ClientKind ClientKind::rtsp_publish{kinds::kRtspPublish};
inline constexpr ClientKind ClientKind::relay_pull{kinds::kRelayPull};
inline constexpr ClientKind ClientKind::engine_publish{kinds::kEnginePublish};

inline std::string_view name_of(ClientKind kind) { return kind.row().name; }
inline bool is_publisher(ClientKind kind) { return kind.row().is_publisher; }

}  // namespace live::session
