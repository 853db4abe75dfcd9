#include "bench/rtc/rtc_player.hpp"

#include <algorithm>

#include "bench/measure/delay_stamp.hpp"
#include "bench/rtc/rtc_watch_session.hpp"
#include "engine/webrtc/datagram_kind.hpp"
#include "wire/rtp/packet.hpp"

namespace live::bench {
namespace {

using engine::webrtc::DatagramKind;

constexpr std::chrono::seconds kCountStep{1};
// A player intentionally begins at a key frame that may be seconds old, and the packets after it are sent at the pace of a link
// whose rate is not known yet. Delays count from then on.
constexpr std::chrono::seconds kCatchUp{2};

}  // namespace

RtcPlayer::RtcPlayer(LoadClient& client, RtcShared& shared)
    : RtcClient(client, shared), headers_only_(client.context.options.skip_decryption), twcc_(client.context.options.twcc) {}

RtcOffer RtcPlayer::offer() const {
    RtcOffer made;
    made.purpose = wire::sdp::Purpose::play;
    made.twcc = twcc_;
    return made;
}

engine::webrtc::SessionOptions RtcPlayer::session_options() const {
    engine::webrtc::SessionOptions options;
    options.twcc = twcc_;
    return options;
}

// Seen from the client, the server publishes.
engine::webrtc::ClientSession::Maker RtcPlayer::session_maker() {
    using namespace engine;
    if (headers_only_)
        return webrtc::ClientSession::maker_of<RtcWatchSession>();
    return [this](const dtls::Context& context, const webrtc::SessionOptions& options, webrtc::DatagramBatch& output,
                  TimePoint now) -> Result<std::unique_ptr<webrtc::Session>> {
        auto made = TRY(webrtc::PublishSession::create(context, options, output, now));
        media_ = made.get();
        return std::unique_ptr<webrtc::Session>(std::move(made));
    };
}

void RtcPlayer::begin(TimePoint now) {
    counted_ = now;
    caught_up_ =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()) + kCatchUp;
    for (const wire::sdp::Accepted& section : agreement().sections) {
        const MediaKind kind = section.kind;
        if (clock_rate_ != 0 && kind != MediaKind::video)
            continue;
        clock_kind_ = kind;
        clock_payload_type_ = section.codec.payload_type;
        clock_rate_ = section.codec.clock_rate;
        may_have_stamps_ = section.codec.is("H264");
    }
}

// Without decryption only this is left: headers are in the clear (RFC 3711, 3.1).
void RtcPlayer::look_at(TimePoint arrived, Bytes datagram) {
    if (!headers_only_ || engine::webrtc::kind_of(datagram) != DatagramKind::rtp)
        return;
    note_received(arrived);
    const auto packet = wire::rtp::parse_packet(datagram);
    // A frame is complete with its last packet; audio marks every packet or none, and each packet is a frame.
    if (packet.ok() && packet->payload_type == clock_payload_type_ && (packet->marker || clock_kind_ == MediaKind::audio))
        take_media(arrived, packet->timestamp);
}

void RtcPlayer::serve(TimePoint now) {
    while (const auto media = media_ != nullptr ? media_->poll_media() : std::nullopt) {
        note_received(now);
        if (media->kind != clock_kind_)
            continue;
        if (media->marker || clock_kind_ == MediaKind::audio)
            take_media(media->arrived, media->timestamp);
        if (!may_have_stamps_)
            continue;
        if (const auto sent = find_packet_stamp(media->payload.bytes()); sent && *sent >= caught_up_)
            client().on_stamp(*sent, std::chrono::steady_clock::now() - media->arrived);
    }
    if (now - counted_ >= kCountStep)
        count_packets();
}

void RtcPlayer::take_media(TimePoint arrived, std::uint32_t timestamp) {
    const std::uint64_t time_ms = unwrapper_.widen(timestamp) * 1'000 / clock_rate_;
    client().on_media(arrived, static_cast<std::uint32_t>(time_ms));
}

void RtcPlayer::count_packets() {
    const auto figures = session().figures();
    // With retransmission, only packets that were not received then either.
    const std::uint64_t lost = headers_only_ ? figures.lost : figures.given_up;
    client().meter.on_packets(figures.packets_in - packets_, lost > lost_ ? lost - lost_ : 0);
    packets_ = figures.packets_in;
    lost_ = std::max(lost_, lost);
    counted_ = counted_ + kCountStep;
}

TimePoint RtcPlayer::next_serve() const { return counted_ + kCountStep; }

}  // namespace live::bench
