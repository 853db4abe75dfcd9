#include "session/rtc/transport/layer_reader.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace live::session::rtc {

namespace {

constexpr std::uint32_t kClockRate = 90'000;
constexpr std::uint32_t kTickStep = kClockRate / 1'000;

constexpr auto kBackTicks = static_cast<std::int32_t>(LayerReader::kBackMax / 1ms * kTickStep);

std::int32_t ticks_between(std::uint32_t from, std::uint32_t to) { return static_cast<std::int32_t>(to - from); }

// Within kBackMax.
bool is_not_before(std::uint32_t timestamp, std::uint32_t other) { return ticks_between(other, timestamp) >= -kBackTicks; }

// The times of the same frame in two layers differ by rounding only.
bool is_at_or_after(std::uint32_t timestamp, std::uint32_t other) {
    constexpr std::int32_t kRounding = 2 * kTickStep;
    return ticks_between(other, timestamp) >= -kRounding;
}

// The next packet of video; nothing before it arrives. Audio is in the stream's own log only.
std::optional<media::Sequence> video_from(const media::RtpLog& log, media::Sequence from) {
    for (media::Sequence at = std::max(from, log.first()); at < log.next(); ++at)
        if (log.at(at).kind == MediaKind::video)
            return at;
    return std::nullopt;
}
std::optional<media::Sequence> video_before(const media::RtpLog& log, media::Sequence end) {
    for (media::Sequence at = end; at > log.first(); --at)
        if (log.at(at - 1).kind == MediaKind::video)
            return at - 1;
    return std::nullopt;
}
bool has_key_at(const media::RtpLog& log, std::uint32_t timestamp) {
    for (media::Sequence at = log.first(); at < log.next(); ++at)
        if (log.at(at).begins_key && is_at_or_after(log.at(at).timestamp, timestamp) &&
            is_at_or_after(timestamp, log.at(at).timestamp))
            return true;
    return false;
}

}  // namespace

engine::rtp::RtpLogHeader header_of(const media::RtpPacket& packet) {
    return {.sequence = packet.sequence,
            .timestamp = packet.timestamp,
            .marker = packet.marker,
            .time = packet.time,
            .follows_loss = packet.follows_loss};
}

bool LayerReader::follow(const media::RtpLog& stream) {
    if (stream.layers() == layers_ && (layers_ == nullptr || stream.writers() == writer_))
        return layers_ != nullptr;
    // The holds ended with the layers of the previous publisher.
    layers_ = stream.layers();
    writer_ = stream.writers();
    const media::RtpTrack* const video = stream.track(MediaKind::video);
    pictures_.set_codec(video == nullptr ? std::string_view() : video->codec);
    selector_ = {};
    current_.reset();
    target_.reset();
    begun_ = {};
    is_blocked_ = false;
    return layers_ != nullptr;
}

void LayerReader::continue_from(TimePoint now, const media::RtpLog& stream, media::Sequence next) {
    const auto last = video_before(stream, next);
    if (!last || layers_ == nullptr || !layers_->shared() || current_)
        return;
    current_ = layers_->shared();
    begun_ = {.name = layers_->name(*current_)};
    layers_->hold(*current_);
    selector_.begin_with(now, *current_);
    next_ = next;
    waits_for_key_ = false;
    last_ = {stream.at(*last).timestamp, stream.at(*last).marker};
    pictures_.begin(number_of(*current_), last_->timestamp);
}

void LayerReader::release() {
    for (auto* const held : {&current_, &target_})
        if (layers_ != nullptr && *held)
            layers_->release(**held);
    current_.reset();
    target_.reset();
}

std::optional<TimePoint> LayerReader::serve(TimePoint now, Engine& engine) {
    if (now >= next_decision_)
        decide(now, engine);
    is_blocked_ = current_ && !send_some(now, engine);
    if (target_ && try_change(now))
        is_blocked_ = !send_some(now, engine);
    return is_blocked_ ? engine.next_send(now) : is_padding_ ? pad(now, engine) : std::nullopt;
}

void LayerReader::decide(TimePoint now, Engine& engine) {
    next_decision_ = now + kDecideEvery;
    if (const auto kept = layers_->find(kept_); kept && (layers_->is_alive(*kept) || !current_)) {
        is_padding_ = false;
        engine.set_padding(now, 0);
        return aim_at(*kept);
    }
    std::array<engine::rtp::LayerState, media::RtpLayers::kMax> states;
    for (std::size_t i = 0; i < layers_->size(); ++i)
        states[i] = {layers_->rate(i), layers_->is_alive(i)};
    Duration blocked{0};
    if (is_blocked_ && next_ >= layers_->log(*current_).first() && next_ < layers_->log(*current_).next())
        blocked = std::max(Duration{0}, now - layers_->log(*current_).at(next_).arrived - begun_.late);
    const auto decision = selector_.decide(now, std::span(states).first(layers_->size()), layers_->audio_rate(), engine.link(now),
                                           blocked, layers_->has_key_requests() ? std::nullopt : current_);
    is_padding_ = decision.padded_rate != 0;
    engine.set_padding(now, decision.padded_rate);
    if (decision.changed)
        reason_ = *decision.changed;
    if (decision.layer)
        aim_at(*decision.layer);
}

void LayerReader::aim_at(std::size_t layer) {
    if (layer == (target_ ? target_ : current_))
        return;
    if (target_)
        layers_->release(*target_);
    target_.reset();
    if (layer == current_)
        return;
    target_ = layer;
    layers_->hold(layer);
    next_ask_ = {};
}

// False if the link takes no more.
bool LayerReader::send_some(TimePoint now, Engine& engine) {
    media::RtpLog& log = layers_->log(*current_);
    skip_if_far_behind(now, log);
    for (; next_ < log.next(); ++next_) {
        const media::RtpPacket& packet = log.at(next_);
        if (packet.kind != MediaKind::video)
            continue;
        if (target_ && waits_for_change(now, packet))
            return true;
        if (waits_for_key_ && !packet.begins_key) {
            ++lost_;
            continue;
        }
        if (!engine.may_send(now, MediaKind::video))
            return false;
        waits_for_key_ = false;
        send(now, packet, engine);
    }
    begun_.late = Duration{0};
    return true;
}

void LayerReader::skip_to(const media::RtpLog& log, media::Sequence to) {
    lost_ += log.first() - std::min(next_, log.first());
    for (next_ = std::max(next_, log.first()); next_ < to; ++next_)
        if (log.at(next_).kind == MediaKind::video)
            ++lost_;
}

void LayerReader::skip_if_far_behind(TimePoint now, media::RtpLog& log) {
    const bool has_lost = next_ < log.first();
    if (!has_lost && (next_ == log.next() || now - log.at(next_).arrived <= kBehindMax))
        return;
    const auto key = log.gop_start();
    const bool has_newer = key && *key > next_;
    // A key frame on request is fresher than the rest of a GOP; otherwise the rest is better than nothing.
    if (!layers_->has_key_requests() && !has_newer && !has_lost)
        return;
    const bool is_fresh = has_newer && now - log.at(*key).arrived <= kBehindMax;
    skip_to(log, is_fresh ? *key : log.next());
    waits_for_key_ = !is_fresh;
    if (!is_fresh)
        log.want_key_frame();
}

void LayerReader::send(TimePoint now, const media::RtpPacket& packet, Engine& engine) {
    auto header = layer_header(packet, number_of(*current_));
    // A frame of the previous layer that was cut short must not look complete; what this layer has lost before is not missed.
    if (next_ == begun_.at)
        header.follows_loss = last_ && !last_->marker;
    last_ = {header.timestamp, header.marker};
    Storage storage;
    if (const auto copy = copy_pictures(packet, storage)) {
        pictures_.rewrite_first(*copy);
        engine.send(now, MediaKind::video, header, *copy);
    } else {
        engine.send(now, MediaKind::video, header, packet.payload.bytes());
    }
}

std::optional<MutBytes> LayerReader::copy_pictures(const media::RtpPacket& packet, Storage& storage) const {
    const Bytes payload = packet.payload.bytes();
    if (!pictures_.has_codec() || payload.size() > storage.size())
        return std::nullopt;
    copy_bytes(payload, storage);
    return MutBytes(storage).first(payload.size());
}

Bytes LayerReader::sent_payload(const media::RtpPacket& packet, std::uint8_t layer, Storage& storage) const {
    const auto copy = copy_pictures(packet, storage);
    if (!copy)
        return packet.payload.bytes();
    pictures_.rewrite_again(layer, packet.timestamp, *copy);
    return *copy;
}

engine::rtp::RtpLogHeader LayerReader::layer_header(const media::RtpPacket& packet, std::uint8_t layer) const {
    auto header = header_of(packet);
    header.layer = layer;
    if (moved_ && moved_->layer == layer && moved_->from == header.timestamp)
        header.timestamp = moved_->to;
    return header;
}

bool LayerReader::may_start_at(TimePoint now, const media::RtpPacket& key) const {
    if (!last_)
        return now - key.arrived <= kKeyAgeMax;
    return is_not_before(key.timestamp, last_->timestamp) && now - key.arrived <= kBehindMax;
}

bool LayerReader::try_change(TimePoint now) {
    const auto key = find_start(now);
    if (key)
        change_to(now, *key);
    return key.has_value();
}

// The key frame of the next layer with which it begins, if that is due.
std::optional<media::Sequence> LayerReader::find_start(TimePoint now) {
    media::RtpLog& log = layers_->log(*target_);
    if (!layers_->has_key_requests()) {
        const auto key = last_ ? next_key_of_target() : log.gop_start();
        return key && has_reached(now, log.at(*key)) ? key : std::nullopt;
    }
    if (const auto key = log.gop_start(); key && may_start_at(now, log.at(*key)))
        return key;
    if (now >= next_ask_) {
        log.want_key_frame();
        next_ask_ = now + kAskEvery;
    }
    return std::nullopt;
}

// The oldest one that is not older than what was sent.
std::optional<media::Sequence> LayerReader::next_key_of_target() {
    const media::RtpLog& log = layers_->log(*target_);
    auto key = log.gop_start();
    if (!key || !is_not_before(log.at(*key).timestamp, last_->timestamp))
        return std::nullopt;
    for (media::Sequence at = *key; at > layers_->first(*target_) && is_not_before(log.at(at - 1).timestamp, last_->timestamp);
         --at)
        if (log.at(at - 1).begins_key)
            key = at - 1;
    return key;
}

// Whether the current layer has nothing more to show before a key frame of the next one.
bool LayerReader::has_reached(TimePoint now, const media::RtpPacket& key) {
    if (!current_ || !last_ || waits_for_key_)
        return true;
    const bool is_falling = layers_->rate(*target_) < layers_->rate(*current_);
    if (is_falling && is_blocked_)
        return true;
    const media::RtpLog& log = layers_->log(*current_);
    if (const auto at = video_from(log, next_))
        return is_at_or_after(log.at(*at).timestamp, key.timestamp);
    return !layers_->is_alive(*current_) || now - key.arrived > kHoldMax;
}

// Whether the packet must not be sent, because it begins a frame from which on the next layer is due.
bool LayerReader::waits_for_change(TimePoint now, const media::RtpPacket& packet) {
    const bool is_whole = waits_for_key_ || (last_ && last_->marker);
    if (layers_->has_key_requests() || !last_ || !is_whole)
        return false;
    if (const auto key = next_key_of_target())
        return is_at_or_after(packet.timestamp, layers_->log(*target_).at(*key).timestamp);
    return packet.begins_key && holds_at(now, packet);
}

// Whether the next layer will have a key frame with the time of this one of the current layer: it had the previous one, and is
// late.
bool LayerReader::holds_at(TimePoint now, const media::RtpPacket& key) {
    const media::RtpLog& log = layers_->log(*target_);
    const auto previous = log.gop_start();
    const auto newest = video_before(log, log.next());
    return layers_->is_alive(*target_) && now - key.arrived <= kHoldMax && previous && newest &&
           !is_at_or_after(log.at(*newest).timestamp, key.timestamp) &&
           has_key_at(layers_->log(*current_), log.at(*previous).timestamp);
}

void LayerReader::change_to(TimePoint now, media::Sequence key) {
    const media::RtpPacket& first = layers_->log(*target_).at(key);
    if (current_)
        layers_->release(*current_);
    current_ = std::exchange(target_, std::nullopt);
    begun_ = {.name = layers_->name(*current_), .at = key, .late = now - first.arrived};
    next_ = key;
    waits_for_key_ = false;
    if (last_ && ticks_between(last_->timestamp, first.timestamp) <= 0)
        moved_ = {number_of(*current_), first.timestamp, last_->timestamp + kTickStep};
    pictures_.begin(number_of(*current_), first.timestamp);
    ++changes_;
    ++counts_.layer_changes[static_cast<std::size_t>(reason_)];
}

// Returns when the next padding may be due.
std::optional<TimePoint> LayerReader::pad(TimePoint now, Engine& engine) {
    if (!current_)
        return std::nullopt;
    const media::RtpLog& log = layers_->log(*current_);
    const media::Sequence oldest = std::max({begun_.at, log.first(), next_ - std::min(next_, kPadPackets)});
    Storage storage;
    const std::uint8_t layer = number_of(*current_);
    for (media::Sequence at = next_; at-- > oldest && engine.may_pad(now);)
        if (log.at(at).kind == MediaKind::video &&
            !engine.pad(now, layer_header(log.at(at), layer), sent_payload(log.at(at), layer, storage)))
            break;
    return now + kPadEvery;
}

void LayerReader::leave_out() {
    if (!current_)
        return;
    skip_to(layers_->log(*current_), layers_->log(*current_).next());
    waits_for_key_ = true;
}

void LayerReader::want_key_frame() {
    if (current_)
        layers_->log(*current_).want_key_frame();
}

void LayerReader::resend(TimePoint now, engine::rtp::LogNumber number, Engine& engine) const {
    if (layers_ == nullptr || number.layer == 0 || number.layer > layers_->size())
        return;
    Storage storage;
    if (const auto* packet = layers_->log(number.layer - 1U).find(MediaKind::video, number.sequence))
        engine.resend(now, MediaKind::video, layer_header(*packet, number.layer), sent_payload(*packet, number.layer, storage));
}

}  // namespace live::session::rtc
