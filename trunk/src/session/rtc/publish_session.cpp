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
    rtp_log_ = &publication_->fill_rtp_log(*this);
    clock_.emplace(start_of(publication_->source(), *rtp_log_));
    MediaKindSet announced;
    for (const wire::sdp::Accepted& section : agreement.sections) {
        const MediaKind kind = section.kind;
        const auto& codec = section.codec;
        clock_rates_[index_of(kind)] = codec.clock_rate;
        announced.add(kind);
        has_layers_ = has_layers_ || !section.layers.empty();
        const std::uint8_t channels = kind == MediaKind::audio ? codec.channels : std::uint8_t{0};
        rtp_log_->set_track({kind, codec.name, codec.clock_rate, channels, codec.format});
        // If there are several (RTX, FEC), the first is the one the others belong to.
        if (const auto& ssrcs = offer.sections[section.index].ssrcs; !ssrcs.empty())
            rtp_log_->set_origin_ssrc(kind, ssrcs.front().ssrc);
    }
    publication_->source().tracks().announce(announced);
    if (plan().play.bridge.rtc_to_rtmp)
        to_frames_.emplace(*publication_, *rtp_log_, plan().publish, context().streams.transcoders(), log());
    admitted_.emplace(context().streams, context().events, request(), plan());
    LOG_INFO(log(), "RTC: start publish url={}, session={}", plan().url, session_id());
}

void PublishSession::drain(TimePoint now) {
    if (publication_ == nullptr || !publication_->is_current())
        return;
    update_limits(now);
    while (auto packet = engine_->poll_media()) {
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
}

void PublishSession::finish_batch(TimePoint now) {
    SessionPeer::finish_batch(now);
    if (std::exchange(has_new_, false) && publication_->is_current())
        rtp_log_->flush();
}

std::optional<Duration> PublishSession::silence_max() const {
    return std::min<Duration>(kSilenceMax, std::max<Duration>(options().stun_timeout, 1s));
}

// With simulcast all players get the same layer: one that most of their links carry. The others skip to key frames.
void PublishSession::update_limits(TimePoint now) {
    if (now - looked_ < kLookEvery)
        return;
    looked_ = now;
    memory_.set(engine_bytes());
    if (has_layers_)
        engine_->limit_layers(context().players.link_limit(plan().url, now));
}

void PublishSession::on_key_frame_wanted() {
    if (!is_running())
        return;
    engine_->request_key_frame(io::now());
    context().port.touch(*this);
}

void PublishSession::on_raised() { end(Error(Errc::conflict, "another publisher took the stream over")); }

}  // namespace live::session::rtc
