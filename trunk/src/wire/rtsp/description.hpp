// Session descriptions of RTSP (RFC 8866; RFC 2326, appendix C). Reading is lenient, because cameras write lines that violate the
// grammar: only lines that matter are parsed, and the rest is ignored. Offers of WebRTC are in wire/sdp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/media_kind.hpp"
#include "base/result.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::rtsp {

inline constexpr std::size_t kMediaMax = 16;          // further ones are an error
inline constexpr std::size_t kParameterSetsMax = 16;  // of one medium; further ones are left out
inline constexpr std::size_t kControlBytesMax = 4'096;
inline constexpr std::size_t kDataFormatBytesMax = 1'024;  // a track of data with a longer one is not supported

// How AAC is packed (RFC 3640, 4.1): the bits of the fields of an AU header.
struct AacPacking {
    std::uint8_t size_bits = 13;
    std::uint8_t index_bits = 3;
    std::uint8_t index_delta_bits = 3;

    bool operator==(const AacPacking&) const = default;
};

// One medium, which is one track.
struct Media {
    MediaKind kind = MediaKind::data;
    codec::Codec codec = codec::Codec::none;  // none: not supported
    std::string name;                         // of the encoding, as written: "H264"
    std::uint8_t payload_type = 0;
    std::uint32_t clock_rate = 0;
    std::uint8_t channels = 1;
    std::string control;  // as written, relative or absolute; empty without one
    // NAL units: VPS, SPS and PPS of HEVC, SPS and PPS of H.264.
    std::vector<std::vector<std::uint8_t>> parameter_sets;
    // The AudioSpecificConfig of AAC; in LATM the StreamMuxConfig, empty if the stream has it. Codec::rtp_data: the encoding of
    // a=rtpmap with its rate, and after a line feed the parameters of a=fmtp if there are any.
    std::vector<std::uint8_t> config;
    std::string parameters;  // of a=fmtp, as written
    AacPacking packing;      // of AAC
    bool is_latm = false;    // of AAC: RFC 3016 instead of RFC 3640
};

struct Description {
    std::string control;  // of the session
    std::vector<Media> media;
};

// Lines end with CR LF or LF. Errc::limit above kMediaMax; Errc::malformed when no medium is described.
Result<Description> parse_description(std::string_view text);

// The rate in the `config` of Codec::rtp_data; nullopt without a valid one.
std::optional<std::uint32_t> data_clock_rate_of(Bytes config);

// A track to describe. `config` is its decoder configuration: avcC, hvcC, av1C, AudioSpecificConfig, OpusHead; of Codec::rtp_data
// as in Media.
struct TrackToDescribe {
    MediaKind kind = MediaKind::video;
    codec::Codec codec = codec::Codec::none;
    std::uint8_t payload_type = 96;
    std::uint32_t clock_rate = 90'000;
    std::uint8_t channels = 1;
    Bytes config;
};

// The description of a live stream, whose tracks have the controls "trackID=0" and on, relative to the Content-Base. Errors of a
// configuration that cannot be parsed.
Result<std::string> write_description(std::string_view session_name, std::span<const TrackToDescribe> tracks);

// The index in "...trackID=N", and in "...streamid=N" and "...track N" of other servers; nullopt for another control.
std::optional<std::size_t> track_of_control(std::string_view url);

}  // namespace live::wire::rtsp
