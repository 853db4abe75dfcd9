// write_description() of description.hpp.
#include <string>

#include "base/bytes/base64.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"
#include "wire/rtsp/description.hpp"

namespace live::wire::rtsp {

namespace {

using codec::Codec;

std::string hex_of(Bytes bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : bytes)
        text.append({kDigits[byte >> 4], kDigits[byte & 0xFU]});
    return text;
}

std::string joined(std::span<const Bytes> units) {
    std::string text;
    for (const Bytes unit : units)
        text.append(text.empty() ? "" : ",").append(base64(unit));
    return text;
}

std::string_view encoding_of(Codec codec) {
    switch (codec) {
        case Codec::avc: return "H264";
        case Codec::hevc: return "H265";
        case Codec::av1: return "AV1";
        case Codec::vp8: return "VP8";
        case Codec::vp9: return "VP9";
        case Codec::aac: return "mpeg4-generic";
        case Codec::opus: return "opus";
        case Codec::g711a: return "PCMA";
        case Codec::g711u: return "PCMU";
        case Codec::mp3: return "MPA";
        case Codec::ac3: return "ac3";
        case Codec::mjpeg: return "JPEG";
        default: break;
    }
    return "";
}

// The value of a=fmtp after the payload type; empty for none.
Result<std::string> format_of(const TrackToDescribe& track) {
    switch (track.codec) {
        case Codec::avc: {
            // RFC 6184, 8.1
            const auto config = TRY(codec::parse_avc_config(track.config));
            std::vector<Bytes> sets = config.sps;
            sets.insert(sets.end(), config.pps.begin(), config.pps.end());
            return "packetization-mode=1;sprop-parameter-sets=" + joined(sets) +
                   ";profile-level-id=" + hex_of(std::array{config.profile, config.compatibility, config.level});
        }
        case Codec::hevc: {
            // RFC 7798, 7.1
            const auto config = TRY(codec::parse_hevc_config(track.config));
            std::string text;
            for (const codec::HevcArray& array : config.arrays)
                for (const auto& [type, name] :
                     {std::pair{codec::HevcConfig::kVps, "sprop-vps="}, std::pair{codec::HevcConfig::kSps, "sprop-sps="},
                      std::pair{codec::HevcConfig::kPps, "sprop-pps="}})
                    if (array.type == type)
                        text.append(text.empty() ? "" : ";").append(name).append(joined(array.units));
            return text;
        }
        case Codec::aac:
            // RFC 3640, 4.1: AAC-hbr
            TRY(codec::parse_aac_config(track.config));
            return "streamtype=5;profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=" +
                   hex_of(track.config);
        case Codec::rtp_data: {
            const std::string_view text = as_text(track.config);
            const std::size_t line = text.find('\n');
            return std::string(line == std::string_view::npos ? std::string_view() : text.substr(line + 1));
        }
        case Codec::opus: return std::string(track.channels > 1 ? "sprop-stereo=1" : "");
        default: return std::string();
    }
}

}  // namespace

Result<std::string> write_description(std::string_view session_name, std::span<const TrackToDescribe> tracks) {
    std::string text = "v=0\r\no=- 0 0 IN IP4 0.0.0.0\r\ns=";
    text.append(session_name);
    text += "\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:*\r\na=range:npt=now-\r\n";
    std::size_t index = 0;
    for (const TrackToDescribe& track : tracks) {
        const std::string type = std::to_string(track.payload_type);
        text.append("m=")
            .append(track.kind == MediaKind::data ? "application" : name_of(track.kind))
            .append(" 0 RTP/AVP ")
            .append(type)
            .append("\r\n");
        text.append("a=rtpmap:").append(type).append(" ");
        if (track.codec == Codec::rtp_data)
            text.append(as_text(track.config).substr(0, as_text(track.config).find('\n')));
        else
            text.append(encoding_of(track.codec)).append("/").append(std::to_string(track.clock_rate));
        if (track.kind == MediaKind::audio && (track.channels > 1 || track.codec == Codec::opus) && track.codec != Codec::mp3)
            text.append("/").append(std::to_string(track.codec == Codec::opus ? 2 : track.channels));
        text += "\r\n";
        if (const std::string format = TRY(format_of(track)); !format.empty())
            text.append("a=fmtp:").append(type).append(" ").append(format).append("\r\n");
        text.append("a=control:trackID=").append(std::to_string(index++)).append("\r\n");
    }
    return text;
}

}  // namespace live::wire::rtsp
