#include "engine/rtc/incoming_track.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "engine/rtc/layer_choice.hpp"

namespace live::engine::rtc {

namespace {

constexpr std::chrono::milliseconds kChoiceInterval = 250ms;
constexpr std::uint32_t kSameLinePart = 200;  // of a second: times nearer than that are the same
// Of a second: when the key picture is of the same moment as the one before it, or nearly, its time alone is moved a little; when
// it is older by more, all that follows is moved.
constexpr std::uint32_t kBehindPart = 50;
constexpr std::uint32_t kNudgePart = 1'000;

}  // namespace

IncomingTrack::IncomingTrack(const wire::sdp::Accepted& accepted, Nack nack)
    : accepted_(accepted), has_nack_(nack == Nack::on && accepted.codec.has_feedback("nack")) {
    if (accepted_.kind != Kind::video)
        return;
    format_ = wire::rtp_payload::video_format_of(accepted_.codec.name);
    if (format_)
        keys_.need();
    else
        keys_.want();
}

ReceiveStream* IncomingTrack::find(std::uint32_t ssrc) {
    const auto found = std::ranges::find(streams_, ssrc, &ReceiveStream::ssrc);
    return found == streams_.end() ? nullptr : found->get();
}

ReceiveStream* IncomingTrack::find_rtx(std::uint32_t rtx_ssrc) {
    const auto found = std::ranges::find_if(streams_, [rtx_ssrc](const auto& stream) { return stream->rtx_ssrc == rtx_ssrc; });
    return found == streams_.end() ? nullptr : found->get();
}

// The latest, where a layer has changed its SSRC.
ReceiveStream* IncomingTrack::find_rid(std::string_view rid) {
    ReceiveStream* latest = nullptr;
    for (const auto& stream : streams_)
        if (stream->rid() == rid)
            latest = stream.get();
    return latest;
}

ReceiveStream* IncomingTrack::only() { return streams_.size() == 1 ? streams_.front().get() : nullptr; }

ReceiveStream& IncomingTrack::add(TimePoint now, std::uint32_t ssrc, std::string_view rid, std::chrono::microseconds round_trip) {
    if (streams_.size() == kStreamsMax) {
        std::size_t oldest = kStreamsMax;
        for (std::size_t i = 0; i < streams_.size(); ++i)
            if (streams_[i].get() != current_ && (oldest == kStreamsMax || streams_[i]->heard() < streams_[oldest]->heard()))
                oldest = i;
        remove(oldest);
    }
    const ReceiveStream::Options options{.ssrc = ssrc,
                                         .clock_rate = accepted_.codec.clock_rate,
                                         .rid = std::string(rid),
                                         .has_nack = has_nack_,
                                         .round_trip = round_trip};
    streams_.push_back(std::make_unique<ReceiveStream>(options, now));
    next_choice_ = now;
    return *streams_.back();
}

void IncomingTrack::remove(std::size_t index) {
    CHECK(index < streams_.size());
    const ReceiveStream& gone = *streams_[index];
    given_up_before_ += gone.given_up();
    lost_before_ += gone.reception().lost();
    requested_before_ += gone.nacks().requested();
    if (&gone == target_)
        target_ = nullptr;
    if (&gone == current_)
        current_ = nullptr;
    streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(index));
}

bool IncomingTrack::end(std::uint32_t ssrc) {
    const auto found = std::ranges::find(streams_, ssrc, &ReceiveStream::ssrc);
    if (found == streams_.end())
        return false;
    remove(static_cast<std::size_t>(found - streams_.begin()));
    has_ended_ = streams_.empty();
    if (format_)
        keys_.need();
    next_choice_ = {};
    return true;
}

ReceiveStream::Use IncomingTrack::use_of(const ReceiveStream& stream) const {
    return &stream == current_ || &stream == target_ ? ReceiveStream::Use::forward : ReceiveStream::Use::watch;
}

void IncomingTrack::receive(TimePoint now, ReceiveStream& stream, const wire::rtp::Packet& packet, ReceiveStream::Origin origin,
                            std::size_t bytes) {
    has_ended_ = false;
    if (current_ == nullptr && target_ == nullptr)
        aim_at(&stream);
    wire::rtp::Packet taken = packet;
    if (packet.payload_type != accepted_.codec.payload_type)
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
    const auto silence = accepted_.layers.empty() ? kSilenceAlone : kSilence;
    const ReceiveStream* const aim = target_ != nullptr ? target_ : current_;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        layers.push_back({streams_[i]->rate(now), now - streams_[i]->heard() < silence});
        if (streams_[i].get() == aim)
            chosen = i;
    }
    // Without simulcast there is one stream, whatever its rate.
    chosen = choose_layer(layers, chosen, accepted_.layers.empty() ? std::nullopt : limit_);
    if (chosen && streams_[*chosen].get() != aim)
        aim_at(streams_[*chosen].get());
}

void IncomingTrack::aim_at(ReceiveStream* stream) {
    if (target_ != nullptr && target_ != current_)
        target_->stop();
    target_ = stream == current_ ? nullptr : stream;
    if (target_ != nullptr && format_ && last_)
        keys_.need();
}

bool IncomingTrack::is_key(const JitterBuffer::Ordered& packet) const {
    return format_ && wire::rtp_payload::shows_key_picture(*format_, packet.payload.bytes());
}

// The very first stream is forwarded from its first packet on; one that takes over, from a key picture.
void IncomingTrack::try_switch(TimePoint now) {
    while (auto packet = target_->pop(now)) {
        target_->gap_before(packet->sequence);
        if (packet->payload.empty() || (format_ && last_ && !is_key(*packet)))
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
            nudged_ = {first.timestamp, last_->timestamp + accepted_.codec.clock_rate / kNudgePart};
        // A frame that was cut off must not look whole.
        if (format_ && !last_->marker) {
            ++next_sequence_;
            has_loss_ = true;
        }
        switches_ += is_same ? 0 : 1;
    }
    if (is_same)
        return;
    if (current_ != nullptr)
        current_->stop();
    current_ = &stream;
    target_ = nullptr;
}

std::uint32_t IncomingTrack::continued_time(const ReceiveStream& stream, const JitterBuffer::Ordered& first) const {
    const std::uint32_t rate = accepted_.codec.clock_rate;
    const bool is_same = &stream == current_;
    // By both streams' reports; without them by the time that has passed here.
    std::optional<std::uint32_t> time;
    if (const auto sent = stream.clock.time_of(first.timestamp); sent && current_ != nullptr && !is_same)
        if (const auto theirs = current_->clock.timestamp_at(*sent))
            time = *theirs + offset_;
    if (!time) {
        const std::chrono::duration<double> passed = first.came - last_->came;
        time = last_->timestamp + static_cast<std::uint32_t>(std::max(0.0, passed.count()) * rate);
    }
    // Layers that share one clock keep it to the tick, and so does a stream whose numbers alone began anew.
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
            // Numbers and times may be others: as if another stream took over.
            adopt(*current_, *packet);
            if (format_)
                keys_.need();
        }
        const std::uint64_t gap = current_->gap_before(packet->sequence);
        if (auto media = forward(std::move(*packet), gap))
            return media;
    }
    return std::nullopt;
}

std::optional<MediaPacket> IncomingTrack::forward(JitterBuffer::Ordered packet, std::uint64_t gap) {
    next_sequence_ += gap;
    if (gap > 0) {
        has_loss_ = true;
        if (format_)
            keys_.need();
    }
    if (packet.payload.empty())
        return std::nullopt;
    const std::uint32_t timestamp = nudged_ && nudged_->first == packet.timestamp ? nudged_->second : packet.timestamp + offset_;
    MediaPacket media{.kind = accepted_.kind, .sequence = next_sequence_++, .timestamp = timestamp, .payload = {}};
    media.marker = packet.marker;
    media.follows_loss = std::exchange(has_loss_, false);
    if (key_timestamp_ != media.timestamp && is_key(packet)) {
        media.begins_key = true;
        key_timestamp_ = media.timestamp;
        // The one that is waited for is the target's.
        if (target_ == nullptr)
            keys_.came();
    }
    media.arrived = packet.came;
    last_ = {media.timestamp, packet.came, packet.marker};
    media.payload = std::move(packet.payload);
    return media;
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
    if (current_ != nullptr || target_ != nullptr)
        add(keys_.due());
    return next;
}

std::optional<std::chrono::microseconds> IncomingTrack::time_of(std::uint32_t timestamp) const {
    if (current_ == nullptr)
        return std::nullopt;
    return current_->clock.time_of(timestamp - offset_);
}

std::uint64_t IncomingTrack::given_up() const {
    std::uint64_t sum = given_up_before_;
    for_each([&sum](const ReceiveStream& stream) { sum += stream.given_up(); });
    return sum;
}

std::int64_t IncomingTrack::lost() const {
    std::int64_t sum = lost_before_;
    for_each([&sum](const ReceiveStream& stream) { sum += stream.reception().lost(); });
    return sum;
}

std::uint64_t IncomingTrack::requested() const {
    std::uint64_t sum = requested_before_;
    for_each([&sum](const ReceiveStream& stream) { sum += stream.nacks().requested(); });
    return sum;
}

}  // namespace live::engine::rtc
