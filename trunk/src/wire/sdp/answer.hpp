// The answer to an offer (RFC 8829, 5.3; RFC 8843 for BUNDLE): the accepted sections, codecs and extensions, and the answer text.
// The rules are those of a server that either receives a stream (WHIP) or sends one (WHEP) over one transport.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "wire/sdp/description.hpp"

namespace live::wire::sdp {

inline constexpr std::string_view kTransportWideUri = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
inline constexpr std::string_view kMidUri = "urn:ietf:params:rtp-hdrext:sdes:mid";
inline constexpr std::string_view kRidUri = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id";
inline constexpr std::string_view kRepairedRidUri = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id";

enum class Purpose : std::uint8_t { publish, play };
enum class Repair : bool { resend, rtx };  // retransmission of lost packets: with their own SSRC, or by RTX where offered
enum class Feedback : bool { off, on };

// The media that we accept. A kind without codecs is not available: its sections are rejected, the others are not.
struct Terms {
    Purpose purpose = Purpose::publish;
    std::vector<std::string> audio{"opus"};  // also the first that the offer contains
    std::vector<std::string> video{"H264"};
    SetupRole role_for_actpass = SetupRole::passive;  // passive or active
    Repair repair = Repair::resend;
    Feedback nack = Feedback::on;
    Feedback transport_wide = Feedback::on;
};

// A section that we accept.
struct Accepted {
    std::size_t index = 0;  // index of the offer's section
    MediaKind kind{};
    std::string mid;
    Direction direction{};  // ours
    Codec codec;            // with the feedback agreed by both sides
    std::optional<std::uint8_t> rtx_payload_type;
    std::uint8_t transport_wide_id = 0;  // header extension ID; 0: none
    std::uint8_t mid_id = 0;
    std::uint8_t rid_id = 0;
    std::uint8_t repaired_rid_id = 0;
    std::vector<std::string> layers;  // simulcast rids that we accept, in the offer's order
};

struct Agreement {
    std::vector<Accepted> sections;  // at most one audio and one video
    std::vector<Error> refused;      // of each other section that could have been one, or is of another kind: the reason
    SetupRole setup{};               // ours: active or passive
    std::string remote_ufrag;
    std::string remote_pwd;
    Fingerprint remote_fingerprint;
};

// RFC 3264, 6: a section that is not supported is answered with port 0, and the others are accepted. An offer whose video we
// cannot take is refused as a whole: the client would play audio alone. Errc::unsupported and Errc::malformed name the
// offending line of the offer.
Result<Agreement> negotiate(const Description& offer, const Terms& terms);

struct Candidate {
    std::string host;  // an address, or a name that the client resolves
    std::uint16_t port = 0;
    bool is_tcp = false;
};

// A section that we send.
struct Outgoing {
    std::uint32_t ssrc = 0;
    std::uint32_t rtx_ssrc = 0;  // used when an RTX type was negotiated
    std::string track;
};

// Values from the caller. The texts must not contain control characters, nor spaces where they are one word.
struct Local {
    std::string product;  // one word
    std::uint64_t session_id = 0;
    std::string session_name;
    std::string stream;  // "app/stream", one word
    std::string ufrag;
    std::string pwd;
    std::string fingerprint;  // SHA-256, "AB:CD:..."
    std::string cname;
    std::vector<Candidate> candidates;
    Outgoing audio;
    Outgoing video;
};

std::string write_answer(const Description& offer, const Agreement& agreement, const Local& local);

}  // namespace live::wire::sdp
