#include "session/rtc/publish_session.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::session::rtc {

namespace {

// After everything left by earlier publishers.
MediaTime start_of(const media::Source& source, const media::RtpLog& rtp_log) {
    constexpr MediaTime kStep = std::chrono::milliseconds(10);
    MediaTime newest = source.timeline().newest();
    if (!rtp_log.empty())
        newest = std::max(newest, rtp_log.at(rtp_log.next() - 1).time);
    return newest == MediaTime::zero() ? newest : newest + kStep;
}

}  // namespace

PublishSession::~PublishSession() {
    if (publication_ != nullptr)
        publication_->evicted().set_waiter(nullptr);
    to_frames_.reset();
    publication_.reset();
    finish();
    admitted_.reset();
}

Result<void> PublishSession::admit(io::Deadline deadline) {
    auto served = TRY(context().admission.publish(request(), deadline).served());
    if (auto* elsewhere = std::get_if<Redirect>(&served)) {
        set_redirect(std::move(*elsewhere));
        return {};
    }
    mutable_plan() = std::get<StreamPlan>(std::move(served));
    publication_ = TRY(take_stream(context().streams, plan(), deadline));
    publication_->evicted().set_waiter(this);
    return {};
}

Result<void> PublishSession::begin(const engine::dtls::Context& dtls, const engine::webrtc::SessionOptions& options) {
    engine_ = TRY(begin_as<engine::webrtc::PublishSession>(dtls, options));
    return {};
}

void PublishSession::publish(const wire::sdp::Agreement& agreement, const wire::sdp::Description& offer) {
    MediaKindSet announced;
    for (const wire::sdp::Accepted& section : agreement.sections) {
        const MediaKind kind = section.kind;
        const auto& codec = section.codec;
        clock_rates_[index_of(kind)] = codec.clock_rate;
        announced.add(kind);
        const std::uint8_t channels = kind == MediaKind::audio ? codec.channels : std::uint8_t{0};
        OfferedTrack& offered = offered_.emplace_back();
        offered.track = {kind, codec.name, codec.clock_rate, channels, codec.format};
        if (kind == MediaKind::video)
            offered.layers = section.layers;
        // If there are several (RTX, FEC), the first is the one the others belong to.
        if (const auto& ssrcs = offer.sections[section.index].ssrcs; !ssrcs.empty())
            offered.ssrc = ssrcs.front().ssrc;
    }
    publication_->announce(announced);
    if (!publication_->is_waiting())
        fill();
    admitted_.emplace(context().streams, context().events, request(), plan());
    LOG_INFO(log(), "RTC: start publish url={}, session={}", plan().url, session_id());
}

void PublishSession::fill() {
    rtp_log_ = &publication_->fill_rtp_log(*this);
    clock_.emplace(start_of(publication_->source(), *rtp_log_));
    for (const OfferedTrack& offered : offered_) {
        rtp_log_->set_track(offered.track);
        if (offered.ssrc)
            rtp_log_->set_origin_ssrc(offered.track.kind, *offered.ssrc);
        if (!offered.layers.empty())
            rtp_log_->set_layers(layers_.emplace(static_cast<media::LayerSource&>(*this), *rtp_log_, offered.layers));
    }
    if (plan().play.bridge.rtc_to_rtmp)
        to_frames_.emplace(*publication_, *rtp_log_, plan().publish, context().streams.transcoders(), log());
}

// A stand-in feeds the stream until this publisher's key frame, or its first audio if it offers no video.
bool PublishSession::begins_with(const engine::rtp::MediaPacket& packet, TimePoint now) {
    const bool has_video =
        std::ranges::any_of(offered_, [](const OfferedTrack& offered) { return offered.track.kind == MediaKind::video; });
    if (publication_->is_waiting() && has_video && !packet.begins_key) {
        if (now - asked_ >= kKeyRequestEvery) {
            asked_ = now;
            on_key_frame_wanted();
        }
        return false;
    }
    publication_->begin();
    fill();
    return true;
}

void PublishSession::drain(TimePoint now) {
    if (publication_ == nullptr || !publication_->is_current())
        return;
    look_at_layers(now);
    while (auto packet = engine_->poll_media()) {
        if (rtp_log_ == nullptr && !begins_with(*packet, now))
            continue;
        const MediaKind kind = packet->kind;
        const auto reported = engine_->ntp_of(packet->kind, packet->timestamp);
        const auto place = clock_->place(kind, packet->timestamp, clock_rates_[index_of(kind)], packet->arrived, reported);
        rtp_log_->append({.kind = kind,
                          .timestamp = place.timestamp,
                          .marker = packet->marker,
                          .begins_key = packet->begins_key,
                          .follows_loss = packet->follows_loss,
                          .payload = std::move(packet->payload),
                          .arrived = packet->arrived,
                          .time = place.time});
        has_new_ = true;
    }
    if (layers_)
        take_layers();
}

void PublishSession::take_layers() {
    while (auto packet = engine_->poll_layer()) {
        engine::rtp::MediaPacket& media = packet->media;
        const auto place = clock_->place_layer(media.timestamp, clock_rates_[index_of(MediaKind::video)]);
        if (!place)
            continue;
        layers_->append(packet->layer, {.kind = MediaKind::video,
                                        .timestamp = place->timestamp,
                                        .marker = media.marker,
                                        .begins_key = media.begins_key,
                                        .follows_loss = media.follows_loss,
                                        .payload = std::move(media.payload),
                                        .arrived = media.arrived,
                                        .time = place->time});
        has_new_ = true;
    }
}

void PublishSession::finish_batch(TimePoint now) {
    SessionPeer::finish_batch(now);
    if (std::exchange(has_new_, false) && publication_->is_current())
        rtp_log_->flush();
}

std::optional<Duration> PublishSession::silence_max() const {
    return std::min<Duration>(kSilenceMax, std::max<Duration>(options().stun_timeout, 1s));
}

void PublishSession::look_at_layers(TimePoint now) {
    if (now - looked_ < kLookEvery)
        return;
    looked_ = now;
    memory_.set(engine_bytes());
    if (!layers_)
        return;
    const auto states = engine_->layer_states(now);
    for (std::size_t i = 0; i < states.size(); ++i)
        layers_->set_state(i, states[i].rate, states[i].is_alive);
    layers_->set_audio_rate(engine_->audio_rate(now));
}

void PublishSession::on_layer_wanted(std::size_t layer, bool is_wanted) {
    if (is_running())
        engine_->want_layer(layer, is_wanted);
}

void PublishSession::on_layer_key_frame_wanted(std::size_t layer) {
    if (!is_running())
        return;
    engine_->request_layer_key_frame(io::now(), layer);
    context().port.touch(*this);
}

void PublishSession::on_key_frame_wanted() {
    if (!is_running())
        return;
    engine_->request_key_frame(io::now());
    context().port.touch(*this);
}

void PublishSession::on_raised() { end(Error(Errc::conflict, "another publisher took the stream over")); }

}  // namespace live::session::rtc
