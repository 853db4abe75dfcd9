// Parses session descriptions as browsers and encoders offer them (RFC 8866; RFC 8829 for WebRTC). Unknown lines are ignored
// wherever they appear; a known line that is malformed is an error that names it. The answer is in answer.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/media_kind.hpp"
#include "base/result.hpp"

namespace live::wire::sdp {

inline constexpr std::size_t kTextBytesMax = 256 << 10;
inline constexpr std::size_t kLineBytesMax = 4'096;
inline constexpr std::size_t kLinesMax = 8'192;
inline constexpr std::size_t kSectionsMax = 32;
inline constexpr std::size_t kCodecsMax = 128;   // per section
inline constexpr std::size_t kFeedbackMax = 16;  // per codec
inline constexpr std::size_t kExtensionsMax = 32;
inline constexpr std::size_t kSsrcsMax = 64;
inline constexpr std::size_t kRidsMax = 16;
inline constexpr std::size_t kCandidatesMax = 64;

enum class Direction : std::uint8_t { sendrecv, sendonly, recvonly, inactive };
enum class SetupRole : std::uint8_t { active, passive, actpass, holdconn };

struct Codec {
    std::uint8_t payload_type = 0;
    std::string name;  // as written; compare case-insensitively
    std::uint32_t clock_rate = 0;
    std::uint8_t channels = 1;
    std::string format;                 // the value of a=fmtp without the payload type
    std::vector<std::string> feedback;  // "nack", "nack pli", "transport-cc", ...

    bool is(std::string_view wanted) const;
    bool has_feedback(std::string_view wanted) const;
    // The value of "name=value" in the format; the name is case-insensitive.
    std::optional<std::string_view> parameter(std::string_view wanted) const;
};

struct ExtMap {
    std::uint16_t id = 0;
    std::string uri;
};

struct Fingerprint {
    std::string algorithm;  // "sha-256"
    std::string value;      // "AB:CD:..."
};

struct SsrcLine {
    std::uint32_t ssrc = 0;
    std::string cname;
};

// "FID" pairs a stream with its RTX; "SIM" groups simulcast layers, from before rids were introduced.
struct SsrcGroup {
    std::string semantics;
    std::vector<std::uint32_t> ssrcs;
};

struct Rid {
    std::string id;
    bool is_send = false;
    std::string restrictions;
};

struct Simulcast {
    // Layers, and alternatives of each (RFC 8853, 5.1). A leading '~' (paused) is removed.
    std::vector<std::vector<std::string>> send;
    std::vector<std::vector<std::string>> receive;
};

// Attributes allowed at session level for all sections, or in each section.
struct Transport {
    std::string ice_ufrag;
    std::string ice_pwd;
    std::optional<Fingerprint> fingerprint;  // the first with a supported hash
    std::optional<SetupRole> setup;
};

struct Section {
    MediaKind kind = MediaKind::data;  // data for all but audio and video
    std::uint16_t port = 0;
    std::string media;     // as written: "audio", "application"
    std::string protocol;  // "UDP/TLS/RTP/SAVPF"
    std::string format;    // the first: a payload type, "webrtc-datachannel"
    std::string mid;
    Direction direction = Direction::sendrecv;
    Transport transport;
    bool rtcp_mux = false;
    bool rtcp_rsize = false;
    std::string msid;           // "stream track"
    std::vector<Codec> codecs;  // in order of preference
    std::vector<ExtMap> extensions;
    std::vector<SsrcLine> ssrcs;
    std::vector<SsrcGroup> ssrc_groups;
    std::vector<Rid> rids;
    std::optional<Simulcast> simulcast;
    std::vector<std::string> candidates;
    std::size_t line = 0;  // line number of its m=

    const Codec* codec(std::uint8_t payload_type) const;
    // The RTX codec whose apt is that payload type, or nullptr (RFC 4588, 8.1).
    const Codec* rtx_of(std::uint8_t payload_type) const;
    // 0 when the section does not have the extension.
    std::uint8_t extension_id(std::string_view uri) const;
};

struct Description {
    Transport transport;
    Direction direction = Direction::sendrecv;
    std::vector<std::string> bundle;  // mids of the first BUNDLE group
    bool ice_lite = false;
    std::vector<Section> sections;

    // From the section, or else from the session (RFC 8839, 5.4; RFC 8122, 5).
    std::string_view ice_ufrag(const Section& section) const;
    std::string_view ice_pwd(const Section& section) const;
    const Fingerprint* fingerprint(const Section& section) const;
    SetupRole setup(const Section& section) const;  // defaults to actpass
};

// Lines end with CR LF or LF. Errc::malformed and Errc::limit, both with the line number and content.
Result<Description> parse_description(std::string_view text);

std::string_view name_of(Direction direction);
std::string_view name_of(SetupRole setup);

}  // namespace live::wire::sdp
