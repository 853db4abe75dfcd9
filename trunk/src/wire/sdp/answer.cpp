#include "wire/sdp/answer.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/text/ascii.hpp"
#include "base/text/printable.hpp"

namespace live::wire::sdp {

namespace {

constexpr std::string_view kPreferredAvcProfile = "42e01f";  // constrained baseline, level 3.1: supported by every browser
constexpr std::uint32_t kHostPriority = 2'130'706'431;       // RFC 8445, 5.1.2.1, for a host candidate of component 1
constexpr std::size_t kMediaShownMax = 32;                   // letters of an unknown media type in an error

Error about(const Section& section, std::string_view what, Errc code = Errc::unsupported) {
    const std::string media = printable(std::string_view(section.media).substr(0, kMediaShownMax));
    return {code, "SDP line " + std::to_string(section.line) + ", m=" + media + ": " + std::string(what)};
}

// RFC 6184, 6.2: in mode 0, the default, NAL units may not be fragmented. Accepted only when the offer has nothing else.
enum class AvcMode : bool { any, fragments };

bool is_usable(const Codec& codec, std::string_view name, AvcMode mode) {
    if (!codec.is(name))
        return false;
    if (ascii::are_same(name, "opus"))
        return codec.clock_rate == 48'000 && codec.channels == 2;
    if (ascii::are_same(name, "H264")) {
        const std::string_view said = codec.parameter("packetization-mode").value_or("0");
        return said == "1" || (mode == AvcMode::any && said == "0");
    }
    return codec.clock_rate != 0;
}

const Codec* choose(const Section& section, const std::vector<std::string>& names, AvcMode mode) {
    for (const std::string& name : names) {
        const Codec* first = nullptr;
        for (const Codec& codec : section.codecs) {
            if (!is_usable(codec, name, mode))
                continue;
            if (ascii::are_same(name, "H264") &&
                ascii::are_same(codec.parameter("profile-level-id").value_or(""), kPreferredAvcProfile))
                return &codec;
            if (first == nullptr)
                first = &codec;
        }
        if (first != nullptr)
            return first;
    }
    return nullptr;
}

Result<Direction> our_direction(const Section& section, Purpose purpose) {
    if (purpose == Purpose::publish) {
        if (section.direction == Direction::sendonly || section.direction == Direction::sendrecv)
            return Direction::recvonly;
        return about(section, "a publisher sends, this is " + std::string(name_of(section.direction)));
    }
    if (section.direction == Direction::recvonly || section.direction == Direction::sendrecv)
        return Direction::sendonly;
    return about(section, "a player receives, this is " + std::string(name_of(section.direction)));
}

// Feedback that both sides support; FIR is omitted on purpose, and REMB where arrivals are reported. Publishers get none.
std::vector<std::string> common_feedback(const Codec& codec, const Terms& terms, bool has_transport_wide) {
    std::vector<std::string> common;
    if (has_transport_wide && codec.has_feedback("transport-cc"))
        common.emplace_back("transport-cc");
    else if (terms.purpose == Purpose::play && codec.has_feedback("goog-remb"))
        common.emplace_back("goog-remb");
    for (const char* kind : {"nack", "nack pli"})
        if (codec.has_feedback(kind) && (terms.nack == Feedback::on || std::string_view(kind) != "nack"))
            common.emplace_back(kind);
    return common;
}

Result<Accepted> accept(const Section& section, std::size_t index, const std::vector<std::string>& names, const Terms& terms) {
    if (!section.rtcp_mux)
        return about(section, "without a=rtcp-mux");
    if (section.mid.empty())
        return about(section, "without a=mid");
    Accepted accepted;
    accepted.index = index;
    accepted.kind = section.kind;
    accepted.mid = section.mid;
    accepted.direction = TRY(our_direction(section, terms.purpose));
    const Codec* codec = choose(section, names, AvcMode::fragments);
    if (codec == nullptr)
        codec = choose(section, names, AvcMode::any);
    if (codec == nullptr)
        return about(section, "none of its codecs is one of " + std::string(names.front()) + (names.size() > 1 ? ", ..." : ""));
    if (terms.transport_wide == Feedback::on)
        accepted.transport_wide_id = section.extension_id(kTransportWideUri);
    accepted.mid_id = section.extension_id(kMidUri);
    accepted.codec = *codec;
    accepted.codec.feedback = common_feedback(*codec, terms, accepted.transport_wide_id != 0);
    // RTX answers NACKs; without them it would carry nothing.
    const bool is_repaired = accepted.codec.has_feedback("nack");
    if (const Codec* const rtx = section.rtx_of(codec->payload_type);
        rtx != nullptr && terms.repair == Repair::rtx && is_repaired)
        accepted.rtx_payload_type = rtx->payload_type;
    if (terms.purpose == Purpose::publish && section.simulcast) {
        // RFC 8853, 5.3.2: the first of several alternatives is taken; 5.1: layers without an a=rid line are ignored.
        for (const auto& layer : section.simulcast->send)
            if (const auto rid = std::ranges::find(section.rids, layer.front(), &Rid::id);
                rid != section.rids.end() && rid->is_send)
                accepted.layers.push_back(layer.front());
        accepted.rid_id = section.extension_id(kRidUri);
        accepted.repaired_rid_id = section.extension_id(kRepairedRidUri);
        if (!accepted.layers.empty() && accepted.rid_id == 0)
            return about(section, "simulcast without the rid extension");
    }
    return accepted;
}

SetupRole our_setup(SetupRole offered, SetupRole role_for_actpass) {
    switch (offered) {
        case SetupRole::active: return SetupRole::passive;
        case SetupRole::passive: return SetupRole::active;
        case SetupRole::actpass: return role_for_actpass;
        case SetupRole::holdconn: return SetupRole::passive;
    }
    return SetupRole::passive;
}

Result<void> agree_on_transport(Agreement& agreement, const Description& offer, const Terms& terms) {
    const Section& section = offer.sections[agreement.sections.front().index];
    agreement.remote_ufrag = offer.ice_ufrag(section);
    agreement.remote_pwd = offer.ice_pwd(section);
    if (agreement.remote_ufrag.empty() || agreement.remote_pwd.empty())
        return about(section, "without a=ice-ufrag and a=ice-pwd", Errc::malformed);
    const Fingerprint* const fingerprint = offer.fingerprint(section);
    if (fingerprint == nullptr)
        return about(section, "without a=fingerprint of SHA-256 or better", Errc::malformed);
    agreement.remote_fingerprint = *fingerprint;
    agreement.setup = our_setup(offer.setup(section), terms.role_for_actpass);
    return {};
}

Result<void> check_bundle(const Description& offer, const Agreement& agreement) {
    if (offer.bundle.empty())
        return Error(Errc::unsupported, "SDP without a=group:BUNDLE");
    for (const Accepted& accepted : agreement.sections)
        if (std::ranges::find(offer.bundle, accepted.mid) == offer.bundle.end())
            return about(offer.sections[accepted.index], "not in the BUNDLE group");
    return {};
}

class Writer {
public:
    template <class... Parts>
    void line(const Parts&... parts) {
        (append(parts), ...);
        out_ += "\r\n";
    }
    std::string release() { return std::move(out_); }

private:
    // Text was validated on input; a line end would inject further lines.
    void append(std::string_view text) {
        CHECK(text.find_first_of("\r\n") == std::string_view::npos);
        out_ += text;
    }
    void append(std::uint64_t value) { out_ += std::to_string(value); }

    std::string out_;
};

void write_codec(Writer& out, const Codec& codec) {
    const std::uint64_t type = codec.payload_type;
    const std::uint64_t rate = codec.clock_rate;
    if (codec.channels > 1)
        out.line("a=rtpmap:", type, " ", codec.name, "/", rate, "/", std::uint64_t{codec.channels});
    else
        out.line("a=rtpmap:", type, " ", codec.name, "/", rate);
    for (const std::string& feedback : codec.feedback)
        out.line("a=rtcp-fb:", type, " ", feedback);
    if (!codec.format.empty())
        out.line("a=fmtp:", type, " ", codec.format);
}

void write_extensions(Writer& out, const Accepted& accepted) {
    const std::pair<std::uint8_t, std::string_view> all[] = {{accepted.transport_wide_id, kTransportWideUri},
                                                             {accepted.mid_id, kMidUri},
                                                             {accepted.rid_id, kRidUri},
                                                             {accepted.repaired_rid_id, kRepairedRidUri}};
    for (const auto& [id, uri] : all)
        if (id != 0)
            out.line("a=extmap:", std::uint64_t{id}, " ", uri);
}

void write_layers(Writer& out, const Accepted& accepted) {
    if (accepted.layers.empty())
        return;
    std::string list;
    for (const std::string& layer : accepted.layers) {
        out.line("a=rid:", layer, " recv");
        list += (list.empty() ? "" : ";") + layer;
    }
    out.line("a=simulcast:recv ", list);
}

void write_ssrcs(Writer& out, const Accepted& accepted, const Outgoing& outgoing, const Local& local) {
    const auto describe = [&](std::uint64_t ssrc) {
        out.line("a=ssrc:", ssrc, " cname:", local.cname);
        out.line("a=ssrc:", ssrc, " msid:", local.stream, " ", outgoing.track);
    };
    out.line("a=msid:", local.stream, " ", outgoing.track);
    if (accepted.rtx_payload_type)
        out.line("a=ssrc-group:FID ", std::uint64_t{outgoing.ssrc}, " ", std::uint64_t{outgoing.rtx_ssrc});
    describe(outgoing.ssrc);
    if (accepted.rtx_payload_type)
        describe(outgoing.rtx_ssrc);
}

void write_candidates(Writer& out, const std::vector<Candidate>& candidates) {
    std::uint64_t index = 0;
    for (const Candidate& candidate : candidates) {
        const std::string_view transport = candidate.is_tcp ? " 1 tcp " : " 1 udp ";
        const std::string_view end = candidate.is_tcp ? " typ host tcptype passive" : " typ host generation 0";
        out.line("a=candidate:", index, transport, kHostPriority - index, " ", candidate.host, " ", std::uint64_t{candidate.port},
                 end);
        ++index;
    }
}

void write_accepted(Writer& out, const Agreement& agreement, const Accepted& accepted, const Local& local) {
    const Codec& codec = accepted.codec;
    const std::string rtx = accepted.rtx_payload_type ? " " + std::to_string(*accepted.rtx_payload_type) : "";
    out.line("m=", name_of(accepted.kind), " 9 UDP/TLS/RTP/SAVPF ", std::uint64_t{codec.payload_type}, rtx);
    out.line("c=IN IP4 0.0.0.0");
    out.line("a=ice-ufrag:", local.ufrag);
    out.line("a=ice-pwd:", local.pwd);
    out.line("a=fingerprint:sha-256 ", local.fingerprint);
    out.line("a=setup:", name_of(agreement.setup));
    out.line("a=mid:", accepted.mid);
    write_extensions(out, accepted);
    out.line("a=", name_of(accepted.direction));
    out.line("a=rtcp-mux");
    out.line("a=rtcp-rsize");
    write_codec(out, codec);
    if (accepted.rtx_payload_type)
        write_codec(out, {.payload_type = *accepted.rtx_payload_type,
                          .name = "rtx",
                          .clock_rate = codec.clock_rate,
                          .format = "apt=" + std::to_string(codec.payload_type),
                          .feedback = {}});
    write_layers(out, accepted);
    if (accepted.direction == Direction::sendonly)
        write_ssrcs(out, accepted, accepted.kind == MediaKind::audio ? local.audio : local.video, local);
    write_candidates(out, local.candidates);
}

// RFC 3264, 6, and RFC 8829, 5.3.1: a rejected section keeps its position, its protocol and a format, with port 0.
void write_refused(Writer& out, const Section& section) {
    out.line("m=", section.media, " 0 ", section.protocol, " ", section.format.empty() ? "0" : section.format);
    out.line("c=IN IP4 0.0.0.0");
    if (!section.mid.empty())
        out.line("a=mid:", section.mid);
    out.line("a=inactive");
}

bool has_section(const Agreement& agreement, MediaKind kind) {
    return std::ranges::find(agreement.sections, kind, &Accepted::kind) != agreement.sections.end();
}

}  // namespace

Result<Agreement> negotiate(const Description& offer, const Terms& terms) {
    Agreement agreement;
    std::optional<Error> video_fault;
    for (std::size_t i = 0; i < offer.sections.size(); ++i) {
        const Section& section = offer.sections[i];
        if (section.kind != MediaKind::audio && section.kind != MediaKind::video) {
            agreement.refused.push_back(about(section, "neither audio nor video"));
            continue;
        }
        const auto& names = section.kind == MediaKind::audio ? terms.audio : terms.video;
        if (names.empty() || has_section(agreement, section.kind) || section.port == 0)
            continue;
        auto accepted = accept(section, i, names, terms);
        if (accepted.ok())
            agreement.sections.push_back(*std::move(accepted));
        else
            agreement.refused.push_back(accepted.error());
        if (!accepted.ok() && section.kind == MediaKind::video && !video_fault && section.direction != Direction::inactive)
            video_fault = accepted.error();
    }
    if (video_fault && !has_section(agreement, MediaKind::video))
        return *video_fault;
    if (agreement.sections.empty())
        return agreement.refused.empty() ? Error(Errc::unsupported, "SDP without a section that we can take")
                                         : agreement.refused.front();
    TRY(check_bundle(offer, agreement));
    TRY(agree_on_transport(agreement, offer, terms));
    return agreement;
}

std::string write_answer(const Description& offer, const Agreement& agreement, const Local& local) {
    std::string mids;
    for (const Accepted& accepted : agreement.sections)
        mids += " " + accepted.mid;
    Writer out;
    out.line("v=0");
    out.line("o=", local.product, " ", local.session_id, " 2 IN IP4 0.0.0.0");
    out.line("s=", local.session_name);
    out.line("t=0 0");
    out.line("a=ice-lite");
    out.line("a=group:BUNDLE", mids);
    out.line("a=msid-semantic: WMS ", local.stream);
    for (std::size_t i = 0; i < offer.sections.size(); ++i) {
        const auto accepted = std::ranges::find(agreement.sections, i, &Accepted::index);
        if (accepted != agreement.sections.end())
            write_accepted(out, agreement, *accepted, local);
        else
            write_refused(out, offer.sections[i]);
    }
    return out.release();
}

}  // namespace live::wire::sdp
