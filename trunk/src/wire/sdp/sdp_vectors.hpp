// Offers modelled on those of current browsers and encoders: the attributes, their order and spelling are real, the credentials
// are invented.
#pragma once

#include <string>
#include <string_view>

namespace live::wire::sdp {

inline constexpr std::string_view kFingerprintText =
    "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF";

// A publisher in a browser: audio, video in three layers, many codecs.
inline std::string browser_publish_offer() {
    const std::string fingerprint(kFingerprintText);
    return "v=0\r\no=- 4215775240449105457 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\na=extmap-allow-mixed\r\n"
           "a=msid-semantic: WMS s0\r\n"
           "m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126\r\nc=IN IP4 0.0.0.0\r\na=rtcp:9 IN IP4 0.0.0.0\r\n"
           "a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\na=ice-options:trickle\r\na=fingerprint:sha-256 " +
           fingerprint +
           "\r\na=setup:actpass\r\na=mid:0\r\na=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\n"
           "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n"
           "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid\r\na=sendonly\r\na=msid:s0 a0\r\na=rtcp-mux\r\na=rtcp-rsize\r\n"
           "a=rtpmap:111 opus/48000/2\r\na=rtcp-fb:111 transport-cc\r\na=fmtp:111 minptime=10;useinbandfec=1\r\n"
           "a=rtpmap:63 red/48000/2\r\na=fmtp:63 111/111\r\na=rtpmap:9 G722/8000\r\na=rtpmap:0 PCMU/8000\r\n"
           "a=rtpmap:8 PCMA/8000\r\na=rtpmap:13 CN/8000\r\na=rtpmap:110 telephone-event/48000\r\n"
           "a=rtpmap:126 telephone-event/8000\r\na=ssrc:3570614608 cname:4TOk42mSjXCkVIa6\r\na=ssrc:3570614608 msid:s0 a0\r\n"
           "m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103 106 107 98 99 45 46\r\nc=IN IP4 0.0.0.0\r\na=rtcp:9 IN IP4 0.0.0.0\r\n"
           "a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\na=ice-options:trickle\r\na=fingerprint:sha-256 " +
           fingerprint +
           "\r\na=setup:actpass\r\na=mid:1\r\n"
           "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n"
           "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid\r\na=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r\n"
           "a=extmap:11 urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id\r\na=sendonly\r\na=msid:s0 v0\r\n"
           "a=rtcp-mux\r\na=rtcp-rsize\r\n"
           "a=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 goog-remb\r\na=rtcp-fb:96 transport-cc\r\na=rtcp-fb:96 ccm fir\r\n"
           "a=rtcp-fb:96 nack\r\na=rtcp-fb:96 nack pli\r\na=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\n"
           "a=rtpmap:102 H264/90000\r\na=rtcp-fb:102 goog-remb\r\na=rtcp-fb:102 transport-cc\r\na=rtcp-fb:102 ccm fir\r\n"
           "a=rtcp-fb:102 nack\r\na=rtcp-fb:102 nack pli\r\n"
           "a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f\r\n"
           "a=rtpmap:103 rtx/90000\r\na=fmtp:103 apt=102\r\n"
           "a=rtpmap:106 H264/90000\r\na=rtcp-fb:106 goog-remb\r\na=rtcp-fb:106 transport-cc\r\na=rtcp-fb:106 ccm fir\r\n"
           "a=rtcp-fb:106 nack\r\na=rtcp-fb:106 nack pli\r\n"
           "a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f\r\n"
           "a=rtpmap:107 rtx/90000\r\na=fmtp:107 apt=106\r\n"
           "a=rtpmap:98 VP9/90000\r\na=rtcp-fb:98 nack\r\na=fmtp:98 profile-id=0\r\na=rtpmap:99 rtx/90000\r\na=fmtp:99 apt=98\r\n"
           "a=rtpmap:45 AV1/90000\r\na=rtcp-fb:45 nack\r\na=rtpmap:46 rtx/90000\r\na=fmtp:46 apt=45\r\n"
           "a=rid:q send\r\na=rid:h send\r\na=rid:f send\r\na=simulcast:send q;h;~f\r\n";
}

// A player: both sections are recvonly, ICE and DTLS at session level, lines end with LF alone.
inline std::string plain_play_offer() {
    return "v=0\no=- 1 2 IN IP4 127.0.0.1\ns=-\nt=0 0\na=group:BUNDLE video audio\na=ice-ufrag:abcd\n"
           "a=ice-pwd:abcdefghijklmnopqrstuv\na=fingerprint:sha-1 00:11\na=fingerprint:SHA-256 " +
           std::string(kFingerprintText) +
           "\na=setup:active\na=recvonly\nm=video 9 UDP/TLS/RTP/SAVPF 125 126\nc=IN IP4 0.0.0.0\na=mid:video\na=rtcp-mux\n"
           "a=rtpmap:125 H264/90000\na=rtcp-fb:* nack\na=rtcp-fb:125 nack pli\n"
           "a=fmtp:125 profile-level-id=640028; packetization-mode=1\na=rtpmap:126 rtx/90000\na=fmtp:126 apt=125\n"
           "m=audio 9 UDP/TLS/RTP/SAVPF 109\na=mid:audio\na=rtcp-mux\na=rtpmap:109 OPUS/48000/2\n";
}

}  // namespace live::wire::sdp
