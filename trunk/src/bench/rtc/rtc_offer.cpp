#include "bench/rtc/rtc_offer.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <vector>

#include "base/text/ascii.hpp"

namespace live::bench {
namespace {

namespace sdp = wire::sdp;

constexpr int kTransportWideId = 3;
constexpr int kOpus = 111;
constexpr std::string_view kBaseline = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f";

struct Picture {
    int payload_type;  // its RTX uses the next one
    std::string_view name;
    std::string_view format;
};
// In the order of browsers' preference, except for H.264: a server that may choose should choose the codec of the clips.
constexpr std::array kPictures = {Picture{102, "H264", kBaseline}, Picture{96, "VP8", ""}, Picture{98, "VP9", "profile-id=0"},
                                  Picture{100, "AV1", ""}, Picture{104, "H265", ""}};

class Writer {
public:
    template <class... Arguments>
    void line(fmt::format_string<Arguments...> form, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), form, std::forward<Arguments>(arguments)...);
        text_ += "\r\n";
    }
    std::string release() { return std::move(text_); }

private:
    std::string text_;
};

void write_common(Writer& out, const RtcOffer& offer, int mid) {
    out.line("c=IN IP4 0.0.0.0");
    out.line("a=ice-ufrag:{}", offer.ufrag);
    out.line("a=ice-pwd:{}", offer.pwd);
    out.line("a=fingerprint:sha-256 {}", offer.fingerprint);
    out.line("a=setup:actpass");
    out.line("a=mid:{}", mid);
    if (offer.twcc)
        out.line("a=extmap:{} {}", kTransportWideId, sdp::kTransportWideUri);
    out.line("a={}", offer.purpose == sdp::Purpose::play ? "recvonly" : "sendonly");
    out.line("a=rtcp-mux");
    out.line("a=rtcp-rsize");
}

void write_stream(Writer& out, const RtcOffer& offer, std::uint32_t ssrc) { out.line("a=ssrc:{} cname:{}", ssrc, offer.cname); }

void write_audio(Writer& out, const RtcOffer& offer, int mid) {
    out.line("m=audio 9 UDP/TLS/RTP/SAVPF {}", kOpus);
    write_common(out, offer, mid);
    out.line("a=rtpmap:{} opus/48000/2", kOpus);
    if (offer.twcc)
        out.line("a=rtcp-fb:{} transport-cc", kOpus);
    out.line("a=rtcp-fb:{} nack", kOpus);
    out.line("a=fmtp:{} minptime=10;useinbandfec=1", kOpus);
    if (offer.purpose == sdp::Purpose::publish)
        write_stream(out, offer, offer.audio_ssrc);
}

void write_picture(Writer& out, const Picture& picture, std::string_view format, bool twcc) {
    const int type = picture.payload_type;
    out.line("a=rtpmap:{} {}/90000", type, picture.name);
    if (twcc)
        out.line("a=rtcp-fb:{} transport-cc", type);
    for (const char* feedback : {"nack", "nack pli"})
        out.line("a=rtcp-fb:{} {}", type, feedback);
    if (!format.empty())
        out.line("a=fmtp:{} {}", type, format);
    out.line("a=rtpmap:{} rtx/90000", type + 1);
    out.line("a=fmtp:{} apt={}", type + 1, type);
}

// RFC 8853.
void write_layers(Writer& out, const std::vector<std::string>& layers) {
    out.line("a=extmap:{} {}", kRidExtension, sdp::kRidUri);
    std::string all;
    for (const std::string& layer : layers) {
        out.line("a=rid:{} send", layer);
        all += (all.empty() ? "" : ";") + layer;
    }
    out.line("a=simulcast:send {}", all);
}

void write_video(Writer& out, const RtcOffer& offer, int mid) {
    const bool publishes = offer.purpose == sdp::Purpose::publish;
    std::string types;
    for (const Picture& picture : kPictures) {
        types += fmt::format(" {} {}", picture.payload_type, picture.payload_type + 1);
        if (publishes)
            break;
    }
    out.line("m=video 9 UDP/TLS/RTP/SAVPF{}", types);
    write_common(out, offer, mid);
    for (const Picture& picture : kPictures) {
        write_picture(out, picture, publishes ? offer.format : picture.format, offer.twcc);
        if (publishes)
            break;
    }
    if (!publishes)
        return;
    if (!offer.layers.empty())
        return write_layers(out, offer.layers);
    out.line("a=ssrc-group:FID {} {}", offer.video_ssrc, offer.video_rtx_ssrc);
    write_stream(out, offer, offer.video_ssrc);
    write_stream(out, offer, offer.video_rtx_ssrc);
}

// RFC 8839, 5.1: "candidate:0 1 udp 2130706431 127.0.0.1 8000 typ host ...", without its name.
std::optional<sdp::Candidate> parse_candidate(std::string_view text) {
    std::array<std::string_view, 6> words;
    for (std::string_view& word : words) {
        const auto begin = text.find_first_not_of(' ');
        if (begin == std::string_view::npos)
            return std::nullopt;
        text.remove_prefix(begin);
        word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size());
    }
    std::uint16_t port = 0;
    const std::string_view number = words[5];
    const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), port);
    if (failure != std::errc() || end != number.data() + number.size() || port == 0 || words[1] != "1")
        return std::nullopt;
    return sdp::Candidate{std::string(words[4]), port, !ascii::are_same(words[2], "udp")};
}

}  // namespace

std::string write_offer(const RtcOffer& offer) {
    Writer out;
    out.line("v=0");
    out.line("o=- 1 2 IN IP4 127.0.0.1");
    out.line("s=-");
    out.line("t=0 0");
    out.line("a=group:BUNDLE {}", offer.has_audio ? "0 1" : "0");
    out.line("a=msid-semantic: WMS");
    int mid = 0;
    if (offer.has_audio)
        write_audio(out, offer, mid++);
    write_video(out, offer, mid);
    return out.release();
}

// The answer is read as if it were the server's offer: that gives the same agreement, with the roles swapped.
Result<RtcAnswer> read_answer(std::string_view text, sdp::Purpose purpose) {
    const auto description = TRY(sdp::parse_description(text));
    sdp::Terms terms;
    terms.purpose = purpose == sdp::Purpose::play ? sdp::Purpose::publish : sdp::Purpose::play;
    terms.video.clear();
    for (const Picture& picture : kPictures)
        terms.video.emplace_back(picture.name);
    terms.role_for_actpass = sdp::SetupRole::active;
    terms.repair = sdp::Repair::rtx;
    auto agreement = sdp::negotiate(description, terms);
    if (!agreement.ok())
        return Error(agreement.error()).during("reading the server's answer");
    const sdp::Section& section = description.sections[agreement->sections.front().index];
    for (const std::string& line : section.candidates) {
        const auto candidate = parse_candidate(line);
        if (candidate && !candidate->is_tcp)
            return RtcAnswer{*std::move(agreement), candidate->host, candidate->port};
    }
    return Error(Errc::unsupported, "the server's answer has no candidate over UDP");
}

}  // namespace live::bench
