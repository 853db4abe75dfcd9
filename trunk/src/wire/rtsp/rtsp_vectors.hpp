// Messages and descriptions of RTSP for tests, as ffmpeg 5.1, GStreamer 1.22 and cameras write them.
#pragma once

#include <array>
#include <string_view>

namespace live::wire::rtsp {

inline constexpr std::string_view kDescribe =
    "DESCRIBE rtsp://127.0.0.1:8554/live/cam RTSP/1.0\r\n"
    "Accept: application/sdp\r\n"
    "CSeq: 2\r\n"
    "User-Agent: Lavf59.27.100\r\n"
    "\r\n";

inline constexpr std::string_view kSetupResponse =
    "RTSP/1.0 200 OK\r\n"
    "CSeq: 3\r\n"
    "Session: 1A2B3C4D;timeout=60\r\n"
    "Transport: RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=0000002A\r\n"
    "\r\n";

inline constexpr std::string_view kAnnounceBody =
    "v=0\r\n"
    "o=- 0 0 IN IP4 127.0.0.1\r\n"
    "s=No Name\r\n"
    "c=IN IP4 127.0.0.1\r\n"
    "t=0 0\r\n"
    "a=tool:libavformat 59.27.100\r\n"
    "m=video 0 RTP/AVP 96\r\n"
    "b=AS:200\r\n"
    "a=rtpmap:96 H264/90000\r\n"
    "a=fmtp:96 packetization-mode=1; sprop-parameter-sets=Z0LAHtkDxWhAAAADAEAAAAwDxYuS,aMuMsg==; profile-level-id=42C01E\r\n"
    "a=control:streamid=0\r\n"
    "m=audio 0 RTP/AVP 97\r\n"
    "b=AS:69\r\n"
    "a=rtpmap:97 MPEG4-GENERIC/44100/2\r\n"
    "a=fmtp:97 profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3; config=121056E500\r\n"
    "a=control:streamid=1\r\n";

// An old camera: odd numbers, an empty attribute, a blank line, a bracket, no s=, G.711 without a=rtpmap, and metadata.
inline constexpr std::string_view kCameraDescription =
    "v=0\n"
    "o=[- -9223372036854775809 1.5 IN IP4 192.0.2.7\n"
    "t=-1 99999999999999999999\n"
    "a=\n"
    "\n"
    "a=range:clock=20200101T000000Z-20200102T000000Z,20200103T000000Z-\n"
    "a=control:rtsp://192.0.2.7:554/ch1/\n"
    "m=video 0 RTP/AVP 35 96\n"
    "a=fmtp:35 sprop-vps=QAEMAf//;sprop-sps=QgEBAWAA;sprop-pps=RAHA8w==\n"
    "a=rtpmap:35 H265/90000\n"
    "a=rtpmap:96 H264/90000\n"
    "a=Media_header:MEDIAINFO=494D4B48\n"
    "a=control:trackID=1\n"
    "m=audio 0 RTP/AVP 8\n"
    "a=control:trackID=2\n"
    "m=application 0 RTP/AVP 107\n"
    "a=rtpmap:107 vnd.onvif.metadata/90000\n";

}  // namespace live::wire::rtsp
