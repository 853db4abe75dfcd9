#include "engine/rtp/receive/incoming_track.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "engine/rtp/receive/layer_choice.hpp"

namespace live::engine::rtp {

namespace {

constexpr std::chrono::milliseconds kChoiceInterval = 250ms;
constexpr std::uint32_t kSameLinePart = 200;  // of a second: times closer than that count as equal
// In parts of a second: if the key frame is not newer than the frame before it, and older by less than kBehindPart, only its own
// timestamp is moved, by kNudgePart; if it is older by more, all timestamps after it are moved too.
constexpr std::uint32_t kBehindPart = 50;
constexpr std::uint32_t kNudgePart = 1'000;

}  // namespace

IncomingTrack::IncomingTrack(TrackFormat format)
    : format_(std::move(format)),
      streams_(format_.clock_rate, format_.has_nack),
      layers_(format_.kind == MediaKind::video ? format_.layers : std::vector<std::string>(), format_.clock_rate) {
    if (format_.kind != MediaKind::video)
        return;
    video_ = wire::rtp_payload::video_format_of(format_.codec);
    if (video_)
        keys_.need();
    else
        keys_.want();
}

ReceiveStream& IncomingTrack::add(TimePoint now, std::uint32_t ssrc, std::string_view rid, std::chrono::microseconds round_trip) {
    if (const ReceiveStream* const surplus = streams_.surplus(current_); surplus != nullptr)
        remove(*surplus);
    next_choice_ = now;
    // Another stream of the same layer continues it.
    if (const auto layer = layers_.find(rid))
        layers_.restart(*layer);
    return streams_.add(now, ssrc, rid, round_trip);
}

void IncomingTrack::remove(const ReceiveStream& stream) {
    if (&stream == target_)
        target_ = nullptr;
    if (&stream == current_)
        current_ = nullptr;
    streams_.remove(stream);
}

bool IncomingTrack::end(std::uint32_t ssrc) {
    const ReceiveStream* const ended = streams_.find(ssrc);
    if (ended == nullptr)
        return false;
    remove(*ended);
    has_ended_ = streams_.empty();
    if (video_)
        keys_.need();
    next_choice_ = {};
    return true;
}

ReceiveStream::Use IncomingTrack::use_of(const ReceiveStream& stream) const {
    return is_forwarded(stream) || is_wanted_layer(stream) ? ReceiveStream::Use::forward : ReceiveStream::Use::watch;
}

bool IncomingTrack::is_wanted_layer(const ReceiveStream& stream) const {
    if (layers_.empty())
        return false;
    const auto layer = layers_.find(stream.rid());
    return layer && layers_.is_wanted(*layer);
}

// Waiting packets of a layer that is wanted are still needed.
void IncomingTrack::stop_forwarding(ReceiveStream& stream) {
    if (!is_wanted_layer(stream))
        stream.stop();
}

void IncomingTrack::receive(TimePoint now, ReceiveStream& stream, const wire::rtp::Packet& packet, ReceiveStream::Origin origin,
                            std::size_t bytes) {
    has_ended_ = false;
    if (current_ == nullptr && target_ == nullptr)
        aim_at(&stream);
    wire::rtp::Packet taken = packet;
    if (packet.payload_type != format_.payload_type)
        taken.payload = {};
    stream.receive(now, taken, origin, use_of(stream), bytes);
    if (now >= next_choice_)
        choose(now);
}

void IncomingTrack::choose(TimePoint now) {
    next_choice_ = now + kChoiceInterval;
    if (streams_.size() < 2)
        return;
    std::vector<LayerState> layers;
    std::optional<std::size_t> chosen;
    const auto silence = format_.layers.empty() ? kSilenceAlone : kSilence;
    const ReceiveStream* const aim = target_ != nullptr ? target_ : current_;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        layers.push_back({streams_[i].rate(now), now - streams_[i].received_at() < silence});
        if (&streams_[i] == aim)
            chosen = i;
    }
    // Without simulcast there is one stream, regardless of its rate.
    chosen = choose_layer(layers, chosen);
    if (chosen && &streams_[*chosen] != aim)
        aim_at(&streams_[*chosen]);
}

void IncomingTrack::aim_at(ReceiveStream* stream) {
    if (target_ != nullptr && target_ != current_)
        stop_forwarding(*target_);
    target_ = stream == current_ ? nullptr : stream;
    if (target_ != nullptr && video_ && last_)
        keys_.need();
}

bool IncomingTrack::is_key(const JitterBuffer::Ordered& packet) const {
    return video_ && wire::rtp_payload::shows_key_frame(*video_, packet.payload.bytes());
}

// The very first stream is forwarded from its first packet on; a stream that takes over, from a key frame.
void IncomingTrack::try_switch(TimePoint now) {
    while (auto packet = target_->pop(now)) {
        take_for_layer(*target_, *packet, target_->gap_before(packet->sequence));
        if (packet->payload.empty() || (video_ && last_ && !is_key(*packet)))
            continue;
        adopt(*target_, *packet);
        held_ = std::move(*packet);
        return;
    }
}

void IncomingTrack::adopt(ReceiveStream& stream, const JitterBuffer::Ordered& first) {
    const bool is_same = &stream == current_;
    if (last_) {
        offset_ = continued_time(stream, first) - first.timestamp;
        nudged_.reset();
        if (static_cast<std::int32_t>(first.timestamp + offset_ - last_->timestamp) <= 0)
            nudged_ = {first.timestamp, last_->timestamp + format_.clock_rate / kNudgePart};
        // A truncated frame must not look complete.
        if (video_ && !last_->marker) {
            ++next_sequence_;
            has_loss_ = true;
        }
        switches_ += is_same ? 0 : 1;
    }
    if (is_same)
        return;
    if (current_ != nullptr)
        stop_forwarding(*current_);
    current_ = &stream;
    target_ = nullptr;
}

// The offset from the timestamps of a stream to the track's timeline, by the sender reports of both.
std::optional<std::uint32_t> IncomingTrack::reported_offset(const ReceiveStream& stream, std::uint32_t timestamp) const {
    const auto sent = stream.clock.time_of(timestamp);
    const auto theirs = sent && current_ != nullptr ? current_->clock.timestamp_at(*sent) : std::nullopt;
    return theirs ? std::optional(*theirs + offset_ - timestamp) : std::nullopt;
}

std::uint32_t IncomingTrack::continued_time(const ReceiveStream& stream, const JitterBuffer::Ordered& first) const {
    const std::uint32_t rate = format_.clock_rate;
    const bool is_same = &stream == current_;
    // The time is derived from the sender reports of both streams; without them, from the time elapsed locally.
    std::optional<std::uint32_t> time;
    if (const auto offset = is_same ? std::nullopt : reported_offset(stream, first.timestamp))
        time = first.timestamp + *offset;
    if (!time) {
        const std::chrono::duration<double> passed = first.arrived - last_->arrived;
        time = last_->timestamp + static_cast<std::uint32_t>(std::max(0.0, passed.count()) * rate);
    }
    // Layers that share a clock keep it exactly, and so does a stream of which only the sequence numbers restarted.
    const auto apart = static_cast<std::int32_t>(*time - (first.timestamp + offset_));
    if (static_cast<std::uint32_t>(apart < 0 ? -apart : apart) < (is_same ? rate : rate / kSameLinePart))
        time = first.timestamp + offset_;
    const auto behind = static_cast<std::int32_t>(last_->timestamp - *time);
    if (behind >= static_cast<std::int32_t>(rate / kBehindPart))
        time = last_->timestamp + rate / kBehindPart;
    return *time;
}

std::optional<MediaPacket> IncomingTrack::poll(TimePoint now) {
    if (target_ != nullptr)
        try_switch(now);
    if (held_)
        if (auto media = forward(*std::exchange(held_, std::nullopt), 0))
            return media;
    while (current_ != nullptr) {
        auto packet = current_->pop(now);
        if (!packet)
            break;
        if (current_->take_restart()) {
            // Sequence numbers and timestamps may differ: treated like a takeover by another stream.
            adopt(*current_, *packet);
            if (video_)
                keys_.need();
            if (const auto layer = layers_.find(current_->rid()))
                layers_.restart(*layer);
        }
        const std::uint64_t gap = current_->gap_before(packet->sequence);
        take_for_layer(*current_, *packet, gap);
        if (auto media = forward(std::move(*packet), gap))
            return media;
    }
    return std::nullopt;
}

std::optional<MediaPacket> IncomingTrack::forward(JitterBuffer::Ordered packet, std::uint64_t gap) {
    next_sequence_ += gap;
    if (gap > 0) {
        has_loss_ = true;
        if (video_)
            keys_.need();
    }
    if (packet.payload.empty())
        return std::nullopt;
    const std::uint32_t timestamp = nudged_ && nudged_->first == packet.timestamp ? nudged_->second : packet.timestamp + offset_;
    MediaPacket media{.kind = format_.kind, .sequence = next_sequence_++, .timestamp = timestamp, .payload = {}};
    media.marker = packet.marker;
    media.follows_loss = std::exchange(has_loss_, false);
    if (key_timestamp_ != media.timestamp && is_key(packet)) {
        media.begins_key = true;
        key_timestamp_ = media.timestamp;
        // While switching, the awaited key frame is the target's.
        if (target_ == nullptr)
            keys_.arrived();
    }
    media.arrived = packet.arrived;
    last_ = {media.timestamp, packet.arrived, packet.marker};
    media.payload = std::move(packet.payload);
    return media;
}

void IncomingTrack::take_for_layer(const ReceiveStream& stream, const JitterBuffer::Ordered& packet, std::uint64_t gap) {
    if (!is_wanted_layer(stream))
        return;
    const bool is_key_packet = is_key(packet);
    layers_.take(*layers_.find(stream.rid()), packet, gap, is_key_packet ? layer_offset(stream, packet) : 0, is_key_packet);
}

// As in continued_time(): layers that share a clock keep it exactly.
std::uint32_t IncomingTrack::layer_offset(const ReceiveStream& stream, const JitterBuffer::Ordered& packet) const {
    if (&stream == current_ || !last_)
        return offset_;
    auto offset = reported_offset(stream, packet.timestamp);
    if (!offset) {
        const std::chrono::duration<double> passed = packet.arrived - last_->arrived;
        const auto ticks = static_cast<std::int64_t>(passed.count() * format_.clock_rate);
        offset = last_->timestamp + static_cast<std::uint32_t>(ticks) - packet.timestamp;
    }
    const auto apart = static_cast<std::int32_t>(*offset - offset_);
    return static_cast<std::uint32_t>(apart < 0 ? -apart : apart) < format_.clock_rate / kSameLinePart ? offset_ : *offset;
}

std::vector<LayerState> IncomingTrack::layer_states(TimePoint now) const {
    std::vector<LayerState> states(layers_.size());
    for (std::size_t i = 0; i < states.size(); ++i)
        if (const ReceiveStream* const stream = streams_.find_rid(layers_.name(i)))
            states[i] = {stream->rate(now), now - stream->received_at() < kSilence};
    return states;
}

void IncomingTrack::want_layer(std::size_t layer, bool is_wanted) {
    layers_.want(layer, is_wanted);
    if (is_wanted || layer >= layers_.size())
        return;
    streams_.for_each([&](ReceiveStream& stream) {
        if (stream.rid() == layers_.name(layer) && !is_forwarded(stream))
            stream.stop();
    });
}

std::optional<LayerPacket> IncomingTrack::poll_layer(TimePoint now) {
    if (layers_.empty())
        return std::nullopt;
    streams_.for_each([&](ReceiveStream& stream) {
        if (is_forwarded(stream) || !is_wanted_layer(stream))
            return;
        while (auto packet = stream.pop(now)) {
            if (stream.take_restart())
                layers_.restart(*layers_.find(stream.rid()));
            take_for_layer(stream, *packet, stream.gap_before(packet->sequence));
        }
    });
    return layers_.poll();
}

std::optional<std::uint32_t> IncomingTrack::take_layer_key_request(TimePoint now) {
    for (std::size_t i = 0; i < layers_.size(); ++i)
        if (const ReceiveStream* const stream = streams_.find_rid(layers_.name(i)); stream != nullptr)
            if (layers_.take_key_request(i, now))
                return stream->ssrc();
    return std::nullopt;
}

std::optional<std::uint32_t> IncomingTrack::take_key_request(TimePoint now) {
    const ReceiveStream* const asked = target_ != nullptr ? target_ : current_;
    if (asked == nullptr || !keys_.take(now))
        return std::nullopt;
    return asked->ssrc();
}

std::optional<TimePoint> IncomingTrack::next_timeout() const {
    std::optional<TimePoint> next;
    const auto add = [&next](std::optional<TimePoint> at) {
        if (at)
            next = next ? std::min(*next, *at) : at;
    };
    for (const ReceiveStream* const stream : {current_, target_})
        if (stream != nullptr)
            add(stream->next_pop());
    for (std::size_t i = 0; i < layers_.size(); ++i)
        if (const ReceiveStream* const stream = streams_.find_rid(layers_.name(i)); stream != nullptr && layers_.is_wanted(i)) {
            add(stream->next_pop());
            add(layers_.key_request_due(i));
        }
    if (current_ != nullptr || target_ != nullptr)
        add(keys_.due());
    return next;
}

std::optional<std::chrono::microseconds> IncomingTrack::time_of(std::uint32_t timestamp) const {
    if (current_ == nullptr)
        return std::nullopt;
    return current_->clock.time_of(timestamp - offset_);
}

}  // namespace live::engine::rtp
