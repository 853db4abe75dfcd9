#include "bench/rtc/rtc_publisher.hpp"

#include <algorithm>
#include <utility>

namespace live::bench {
namespace {

using std::chrono::milliseconds;

// Publishers wake at multiples of this, so that many share one turn of the loop.
constexpr milliseconds kTick{5};
constexpr milliseconds kExactTick{1};
constexpr milliseconds kSilenceStep{20};
constexpr std::uint32_t kAudioClockRate = 48'000;
// One frame of 20 ms with nothing coded (RFC 6716, 3.1: CELT, fullband, stereo; RFC 7587, 3.1.3 uses it as silence).
constexpr std::array<std::uint8_t, 3> kSilence = {0xFC, 0xFF, 0xFE};

}  // namespace

RtcPublisher::RtcPublisher(LoadClient& client, RtcShared& shared)
    : RtcClient(client, shared), stamps_(client.context.options.stamp), has_silence_(client.context.options.silence) {
    for (std::uint32_t& ssrc : ssrcs_)
        ssrc = static_cast<std::uint32_t>(client.context.random()) | 1U;
    ssrcs_[1] ^= 0x4000'0000U;
    ssrcs_[2] ^= 0x2000'0000U;
    for (std::vector<Sent>& kind : history_)
        kind.resize(kHistory);
}

RtcOffer RtcPublisher::offer() const {
    RtcOffer made;
    made.purpose = wire::sdp::Purpose::publish;
    made.has_audio = has_silence_;
    made.format = shared().clip.format;
    made.audio_ssrc = ssrcs_[0];
    made.video_ssrc = ssrcs_[1];
    made.video_rtx_ssrc = ssrcs_[2];
    made.cname = "load";
    return made;
}

engine::webrtc::SessionOptions RtcPublisher::session_options() const {
    engine::webrtc::SessionOptions options;
    options.audio_ssrc = ssrcs_[0];
    options.video_ssrc = ssrcs_[1];
    options.video_rtx_ssrc = ssrcs_[2];
    options.cname = "load";
    return options;
}

// Seen from the client, the server plays.
engine::webrtc::ClientSession::Maker RtcPublisher::session_maker() {
    using namespace engine;
    return [this](const dtls::Context& context, const webrtc::SessionOptions& options, webrtc::DatagramBatch& output,
                  TimePoint now) -> Result<std::unique_ptr<webrtc::Session>> {
        auto made = TRY(webrtc::PlaySession::create(context, options, output, now));
        media_ = made.get();
        return std::unique_ptr<webrtc::Session>(std::move(made));
    };
}

void RtcPublisher::begin(TimePoint now) {
    start_ = now;
    client().meter.on_first_frame(now);
}

TimePoint RtcPublisher::video_due() const {
    const RtpClip& clip = shared().clip;
    return start_ + milliseconds(round_ * clip.round_ms + clip.packets[next_].time_ms);
}

TimePoint RtcPublisher::silence_due() const { return has_silence_ ? start_ + silences_ * kSilenceStep : TimePoint::max(); }

TimePoint RtcPublisher::next_serve() const {
    if (is_leaving())
        return TimePoint::max();
    const auto tick = stamps_ ? kExactTick : kTick;
    const auto due = std::min(video_due(), silence_due());
    return TimePoint((due.time_since_epoch() + tick - 1ns) / tick * tick);
}

void RtcPublisher::serve(TimePoint now) {
    note_received(now);
    if (is_leaving())
        return;
    while (video_due() <= now)
        send_video_packet(now);
    while (silence_due() <= now)
        send_silence(now);
    send_again(now);
}

void RtcPublisher::send_video_packet(TimePoint now) {
    const RtpClip& clip = shared().clip;
    const RtpClipPacket& packet = clip.packets[next_];
    client().meter.on_late(std::chrono::duration_cast<std::chrono::microseconds>(now - video_due()));
    const std::int64_t shown_ms = round_ * clip.round_ms + packet.shown_ms;
    Sent sent;
    sent.header.timestamp = static_cast<std::uint32_t>(shown_ms * (RtpClip::kClockRate / 1'000));
    sent.header.time = milliseconds(shown_ms);
    if (stamps_ && packet.takes_stamp) {
        Sent stamp = sent;
        stamp.packet = kStampPacket;
        const auto wall = std::chrono::system_clock::now().time_since_epoch();
        stamp.stamp = std::chrono::duration_cast<SystemMicros>(wall);
        send(now, MediaKind::video, stamp);
    }
    sent.header.marker = packet.marker;
    sent.packet = next_;
    send(now, MediaKind::video, sent);
    if (++next_ == clip.packets.size()) {
        next_ = 0;
        ++round_;
    }
}

void RtcPublisher::send_silence(TimePoint now) {
    Sent sent;
    sent.header.timestamp = static_cast<std::uint32_t>(silences_ * (kAudioClockRate / 1'000) * kSilenceStep.count());
    sent.header.time = silences_ * kSilenceStep;
    sent.packet = kSilencePacket;
    send(now, MediaKind::audio, sent);
    ++silences_;
}

void RtcPublisher::send(TimePoint now, MediaKind kind, Sent sent) {
    const std::size_t index = index_of(kind);
    sent.header.sequence = next_sequence_[index]++;
    std::vector<std::uint8_t> stamp;
    media_->send(now, kind, sent.header, payload_of(sent, stamp));
    history_[index][sent.header.sequence % kHistory] = sent;
}

Bytes RtcPublisher::payload_of(const Sent& sent, std::vector<std::uint8_t>& stamp) const {
    if (sent.packet == kSilencePacket)
        return kSilence;
    if (sent.packet != kStampPacket)
        return shared().clip.packets[sent.packet].payload.bytes();
    stamp = stamp_unit(sent.stamp);
    return stamp;
}

void RtcPublisher::finish() { client().meter.on_packets(session().figures().packets_out, 0); }

void RtcPublisher::send_again(TimePoint now) {
    for (const auto& [kind, number] : media_->take_nacks()) {
        const std::uint16_t sequence = number.sequence;
        const Sent& sent = history_[index_of(kind)][sequence % kHistory];
        std::vector<std::uint8_t> stamp;
        if (sent.header.sequence == sequence)
            media_->resend(now, kind, sent.header, payload_of(sent, stamp));
    }
    // Taken and ignored: a clip has only its own key frames.
    static_cast<void>(media_->take_key_frame_request());
}

}  // namespace live::bench
