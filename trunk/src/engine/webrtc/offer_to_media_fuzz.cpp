// From an offer to media: bytes mutate the offers of a publisher and of a player in a few places; the agreements become sessions,
// and then bytes select the input of each: ICE checks, valid and garbled and from several addresses, answers to the server's own
// checks, RTP and RTCP that match the agreement exactly or nearly, bursts of streams, time. The publisher session's output goes
// to the player's, as in the server. Unencrypted, without DTLS. In all cases, media is sent only to an address that has passed a
// check, and a session's memory is bounded.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/check.hpp"
#include "engine/crypto/hmac_sha1.hpp"
#include "engine/webrtc/datagram_kind.hpp"
#include "engine/webrtc/play_session.hpp"
#include "engine/webrtc/publish_session.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtcp/transport_feedback.hpp"
#include "wire/rtp/packet.hpp"
#include "wire/stun/message.hpp"

namespace {

using namespace live;
using namespace live::engine;
using namespace live::engine::webrtc;
using wire::sdp::Purpose;

constexpr std::size_t kStepsMax = 400;
constexpr std::size_t kBurst = 40;  // streams: more than a session allows
constexpr std::size_t kSessionBytesMax = 8U << 20;
constexpr std::string_view kPassword = "0123456789abcdefghijklmn";
constexpr std::string_view kFingerprint =
    "AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB";

// The rest of the input, read as bytes or numbers; zeros after its end.
class Input {
public:
    explicit Input(Bytes bytes) : rest_(bytes) {}
    bool empty() const { return rest_.empty(); }
    std::uint8_t byte() {
        if (rest_.empty())
            return 0;
        const std::uint8_t first = rest_[0];
        rest_ = rest_.subspan(1);
        return first;
    }
    std::size_t below(std::size_t end) { return end == 0 ? 0 : (byte() * 256U + byte()) % end; }
    Bytes take(std::size_t count) {
        const Bytes taken = rest_.first(std::min(count, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }

private:
    Bytes rest_;
};

std::vector<std::string> offer_of(Purpose purpose) {
    std::vector<std::string> lines = {"v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1"};
    const auto section = [&](const std::string& kind, const std::string& mid, const std::vector<std::string>& more) {
        lines.insert(lines.end(), {"m=" + kind, "c=IN IP4 0.0.0.0", "a=ice-ufrag:clie", "a=ice-pwd:0123456789abcdef01234567",
                                   "a=fingerprint:sha-256 " + std::string(kFingerprint), "a=setup:actpass", "a=mid:" + mid,
                                   purpose == Purpose::publish ? "a=sendonly" : "a=recvonly", "a=rtcp-mux",
                                   "a=extmap:3 " + std::string(wire::sdp::kTransportWideUri),
                                   "a=extmap:4 " + std::string(wire::sdp::kMidUri)});
        lines.insert(lines.end(), more.begin(), more.end());
    };
    section("audio 9 UDP/TLS/RTP/SAVPF 111", "0",
            {"a=rtpmap:111 opus/48000/2", "a=rtcp-fb:111 nack", "a=rtcp-fb:111 transport-cc", "a=ssrc:10 cname:c"});
    section(
        "video 9 UDP/TLS/RTP/SAVPF 102 103 96 97", "1",
        {"a=rtpmap:102 H264/90000", "a=fmtp:102 packetization-mode=1;profile-level-id=42e01f", "a=rtcp-fb:102 nack",
         "a=rtcp-fb:102 nack pli", "a=rtcp-fb:102 transport-cc", "a=rtpmap:103 rtx/90000", "a=fmtp:103 apt=102",
         "a=rtpmap:96 VP8/90000", "a=rtcp-fb:96 nack", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96",
         "a=extmap:5 " + std::string(wire::sdp::kRidUri), "a=extmap:6 " + std::string(wire::sdp::kRepairedRidUri), "a=rid:q send",
         "a=rid:f send", "a=simulcast:send q;f", "a=ssrc-group:FID 20 21", "a=ssrc:20 cname:c", "a=ssrc:21 cname:c"});
    return lines;
}

void change(std::vector<std::string>& lines, Input& in) {
    for (std::size_t left = in.byte() % 6U; left > 0 && !lines.empty(); --left) {
        const auto at = lines.begin() + static_cast<std::ptrdiff_t>(in.below(lines.size()));
        switch (in.byte() % 6U) {
            case 0: lines.erase(at); break;
            case 1: lines.insert(at, std::string(*at)); break;
            case 2: std::swap(*at, lines[in.below(lines.size())]); break;
            case 3: at->resize(in.below(at->size() + 1)); break;
            case 4: at->append(as_text(in.take(in.byte() % 16U))); break;
            default:
                if (!at->empty())
                    (*at)[in.below(at->size())] = static_cast<char>(in.byte());
        }
    }
}

TransportAddress address(unsigned which) {
    TransportAddress made;
    made.ip = parse_ip("127.0.0.1").value();
    made.port = static_cast<std::uint16_t>(1'000 + which);
    return made;
}

const dtls::Context& context() {
    static const std::unique_ptr<dtls::Certificate> certificate = dtls::Certificate::make().value();
    static const std::unique_ptr<dtls::Context> made = dtls::Context::create(*certificate).value();
    return *made;
}

// One client's session and its agreement.
struct Side {
    explicit Side(Purpose why) : purpose(why) {}

    const Purpose purpose;
    wire::sdp::Agreement agreement;
    DatagramBatch output;
    std::unique_ptr<PublishSession> publish;
    std::unique_ptr<PlaySession> play;
    Session* session = nullptr;  // one of the two
    std::array<std::uint16_t, 256> sequences{};
    // The server's newest own check.
    std::optional<wire::stun::TransactionId> asked;
    TransportAddress asked_at;

    // False if the offer is not accepted.
    bool open(Input& in, TimePoint now) {
        auto lines = offer_of(purpose);
        change(lines, in);
        std::string text;
        for (const std::string& line : lines)
            text += line + "\r\n";
        const auto offer = wire::sdp::parse_description(text);
        if (!offer.ok())
            return false;
        const std::uint8_t terms = in.byte();
        auto agreed = wire::sdp::negotiate(
            *offer, {.purpose = purpose,
                     .video = (terms & 1U) != 0 ? std::vector<std::string>{"VP8"} : std::vector<std::string>{"H264", "VP8"},
                     .repair = (terms & 2U) != 0 ? wire::sdp::Repair::rtx : wire::sdp::Repair::resend,
                     .nack = (terms & 4U) != 0 ? wire::sdp::Feedback::off : wire::sdp::Feedback::on,
                     .transport_wide = (terms & 8U) != 0 ? wire::sdp::Feedback::off : wire::sdp::Feedback::on});
        if (!agreed.ok())
            return false;
        agreement = *std::move(agreed);
        const std::string answer = write_answer(*offer, agreement,
                                                {.product = "p",
                                                 .session_name = "s",
                                                 .stream = "live/cam",
                                                 .ufrag = "serv",
                                                 .pwd = std::string(kPassword),
                                                 .fingerprint = std::string(kFingerprint),
                                                 .cname = "live",
                                                 .candidates = {{"127.0.0.1", 8'000}},
                                                 .audio = {1, 0, "a"},
                                                 .video = {2, 3, "v"}});
        CHECK(wire::sdp::parse_description(answer).ok());
        SessionOptions options;
        options.agreement = agreement;
        options.offer = &*offer;
        options.ice = {.local_ufrag = "serv", .local_pwd = std::string(kPassword), .remote_ufrag = {}};
        options.dtls_on = options.encrypt = false;
        options.audio_ssrc = 1;
        options.video_ssrc = 2;
        options.video_rtx_ssrc = 3;
        options.nack = (terms & 4U) == 0;
        options.twcc = (terms & 8U) == 0;
        if (purpose == Purpose::publish) {
            publish = PublishSession::create(context(), options, output, now).value();
            session = publish.get();
        } else {
            play = PlaySession::create(context(), options, output, now).value();
            session = play.get();
        }
        return true;
    }

    std::vector<std::uint8_t> check(Input& in) const {
        const std::uint8_t how = in.byte();
        wire::stun::MessageWriter out(wire::stun::Kind::request, {how});
        out.username("serv:" + agreement.remote_ufrag).ice_controlling(1);
        if ((how & 1U) != 0)
            out.use_candidate();
        CHECK(out.sign(as_bytes((how & 2U) != 0 ? "another" : kPassword), crypto::hmac_sha1).ok());
        out.fingerprint();
        auto bytes = out.release();
        if ((how & 4U) != 0)
            bytes[in.below(bytes.size())] ^= in.byte();
        return bytes;
    }

    std::vector<std::uint8_t> answer_to_check() const {
        wire::stun::MessageWriter out(wire::stun::Kind::success, *asked);
        out.xor_mapped_address(asked_at);
        CHECK(out.sign(as_bytes(agreement.remote_pwd), crypto::hmac_sha1).ok());
        out.fingerprint();
        return out.release();
    }

    std::vector<std::uint8_t> rtp(Input& in, std::uint32_t ssrc) {
        const std::uint8_t how = in.byte();
        const wire::sdp::Accepted* const section =
            agreement.sections.empty() ? nullptr : &agreement.sections[how % agreement.sections.size()];
        wire::rtp::Packet packet;
        packet.ssrc = ssrc;
        packet.payload_type = section == nullptr || (how & 0x70U) == 0x70U ? in.byte() & 0x7FU : section->codec.payload_type;
        if (section != nullptr && (how & 0x70U) == 0x60U)
            packet.payload_type = section->rtx_payload_type.value_or(0);
        std::uint16_t& sequence = sequences[ssrc % sequences.size()];
        sequence = static_cast<std::uint16_t>(sequence + ((how & 8U) != 0 ? static_cast<std::int8_t>(in.byte()) : 1));
        packet.sequence = sequence;
        packet.timestamp = sequence * 3'000U + ((how & 0x80U) != 0 ? std::uint32_t{in.byte()} << 24U : 0U);
        packet.marker = (how & 2U) != 0;
        std::vector<wire::rtp::Extension> extensions;
        const std::string wide{static_cast<char>(sequence >> 8U), static_cast<char>(sequence)};
        if (section != nullptr && section->transport_wide_id != 0)
            extensions.push_back({section->transport_wide_id, 0, as_bytes(wide)});
        if (section != nullptr && section->rid_id != 0 && (how & 4U) != 0)
            extensions.push_back({section->rid_id, 0, as_bytes((ssrc & 1U) != 0 ? "q" : "f")});
        ByteWriter out;
        write_header(out, packet, extensions);
        out.bytes(in.take(in.byte() % 32U));
        return out.release();
    }

    std::vector<std::uint8_t> rtcp(Input& in) const {
        ByteWriter out;
        const std::uint32_t ours = in.byte() % 4U;
        const std::uint32_t theirs = 10 + in.byte() % 16U;
        const auto number = static_cast<std::uint16_t>(in.below(65'536));
        switch (in.byte() % 8U) {
            case 0: write(out, wire::rtcp::SenderReport{theirs, std::uint64_t{number} << 32U, number, number, number, {}}); break;
            case 1:
                write(out, wire::rtcp::ReceiverReport{theirs, {{ours, in.byte(), number, number, number, number, number}}});
                break;
            case 2: write(out, wire::rtcp::Nack{theirs, ours, {number, static_cast<std::uint16_t>(number + in.byte())}}); break;
            case 3: write(out, wire::rtcp::Pli{theirs, ours}); break;
            case 4: write(out, wire::rtcp::Fir{theirs, {{ours, in.byte()}}}); break;
            case 5: write(out, wire::rtcp::Goodbye{{theirs}}); break;
            case 6: {
                wire::rtcp::TransportFeedback feedback{theirs, ours, number, in.byte(), in.byte(), {}};
                for (std::size_t left = 1 + in.byte() % 20U; left > 0; --left)
                    feedback.packets.push_back({in.byte() % 4U != 0, {}});
                for (auto& packet : feedback.packets)
                    if (packet.received)
                        packet.ticks = static_cast<std::int16_t>(in.byte());
                write(out, feedback);
                break;
            }
            default: write(out, wire::rtcp::SourceName{theirs, as_text(in.take(in.byte() % 16U))});
        }
        auto bytes = out.release();
        if (in.byte() % 4U == 0)
            bytes[in.below(bytes.size())] ^= in.byte();
        return bytes;
    }

    void give(TimePoint now, std::vector<std::uint8_t> datagram, const TransportAddress& from) {
        static_cast<void>(session->handle_datagram(now, datagram, from).ok());
        look();
    }
    void look() {
        output.for_each([this](const TransportAddress& to, Bytes datagram) {
            CHECK(kind_of(datagram) == DatagramKind::stun || session->is_checked(to));
            if (const auto message = wire::stun::parse_message(datagram);
                message.ok() && message->kind == wire::stun::Kind::request) {
                asked = message->transaction;
                asked_at = to;
            }
        });
        output.clear();
        CHECK(session->bytes() <= kSessionBytesMax);
    }
};

struct Run {
    TimePoint now{1h};
    Side publisher{Purpose::publish};
    Side player{Purpose::play};

    void step(Input& in) {
        const std::uint8_t what = in.byte();
        const bool is_players = player.session != nullptr && ((what & 1U) != 0 || publisher.session == nullptr);
        Side& side = is_players ? player : publisher;
        const TransportAddress from = address((what >> 1U) % 4U == 3 ? in.byte() % 16U : 0);
        switch ((what >> 3U) % 8U) {
            case 0: side.give(now, side.check(in), from); break;
            case 1:
                if (side.asked)
                    side.give(now, side.answer_to_check(), side.asked_at);
                break;
            case 2:
            case 3: side.give(now, side.rtp(in, in.byte() % 32U), from); break;
            case 4: side.give(now, side.rtcp(in), from); break;
            case 5: {
                const Bytes raw = in.take(in.byte());
                side.give(now, {raw.begin(), raw.end()}, from);
                break;
            }
            case 6: pass(std::chrono::milliseconds(in.byte()) * ((what & 0x40U) != 0 ? 100 : 1)); break;
            default:
                for (std::uint32_t i = 0; i < kBurst; ++i)
                    side.give(now, side.rtp(in, 1'000 + i), from);
        }
        hand_on();
    }
    void pass(std::chrono::milliseconds time) {
        now += time;
        for (Side* const side : {&publisher, &player}) {
            if (side->session == nullptr)
                continue;
            static_cast<void>(side->session->handle_timeout(now).ok());
            static_cast<void>(side->session->next_timeout());
            static_cast<void>(side->session->figures());
            side->look();
        }
    }
    // Passes media on, as the port and the RTP log do.
    void hand_on() {
        if (publisher.session != nullptr) {
            while (const auto media = publisher.publish->poll_media()) {
                CHECK(!media->payload.empty());
                if (player.session != nullptr && player.play->may_send(now, media->kind))
                    player.play->send(now, media->kind,
                                      {static_cast<std::uint16_t>(media->sequence), media->timestamp, media->marker,
                                       MediaTime(now.time_since_epoch().count() / 1'000), media->follows_loss},
                                      media->payload.bytes());
            }
        }
        if (player.session == nullptr)
            return;
        static const std::vector<std::uint8_t> again(100, 7);
        for (const auto& [kind, number] : player.play->take_nacks())
            player.play->resend(now, kind, {number.sequence, 0, true, {}}, again);
        if (player.play->take_key_frame_request() && publisher.session != nullptr)
            publisher.publish->request_key_frame(now);
        for (Side* const side : {&publisher, &player})
            if (side->session != nullptr)
                side->look();
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input in(Bytes(data, size));
    Run run;
    const bool publishes = run.publisher.open(in, run.now);
    const bool plays = run.player.open(in, run.now);
    if (!publishes && !plays)
        return 0;
    for (std::size_t steps = 0; !in.empty() && steps < kStepsMax; ++steps)
        run.step(in);
    run.pass(3s);
    run.hand_on();
    run.pass(2min);
    for (Side* const side : {&run.publisher, &run.player}) {
        if (side->session == nullptr)
            continue;
        CHECK(side->session->state() != Session::State::established);
        side->session->close(run.now);
        side->look();
    }
    return 0;
}
