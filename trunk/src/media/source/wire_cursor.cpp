#include "media/source/wire_cursor.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/check.hpp"

namespace live::media {

WireCursor::WireCursor(Ref<Source> source, const WireFormat& format, std::vector<std::uint8_t> preamble,
                       std::optional<Sequence> from, Audience audience)
    : source_(std::move(source)),
      wire_log_(source_->wire_logs().hold(format, false, audience)),
      private_(std::move(preamble)),
      format_(format),
      audience_(audience) {
    place(from.value_or(source_->retention().join_point()), true);
    hold_place();
}

WireCursor::~WireCursor() {
    release_place();
    source_->wire_logs().release(format_, audience_);
}

// Where it lands may not have been encoded yet (see Backlog).
bool WireCursor::has_landing() const { return source_->retention().gop_start().value_or(0) <= wire_log_.next(); }

void WireCursor::jump() {
    const Sequence to =
        std::max(source_->retention().gop_start().value_or(wire_log_.next()), next_);  // never back over data already sent
    dropped_ += to - next_;
    source_->count_dropped(to - next_);
    place(to, false);
}

void WireCursor::place(Sequence from, bool joining) {
    if (joining)
        choose_base(from);
    next_ = from;
    position_ = wire_log_.offset_of(from);
    opened_.clear();
    opened_.add(MediaKind::data);  // never needs a header of its own
    settled_ = false;
    must_jump_ = false;
    if (joining || config_version_ != source_->tracks().config_version()) {
        const Ring& ring = source_->ring();
        config_version_ = source_->tracks().config_version();
        if (from == wire_log_.next() || !wire_log_.entry(from).has_introduction)
            introduce(from < ring.next() ? time_of(ring.at(from)) : 0);
    }
}

// The player's zero is the earlier of its first audio's and its first frame's time, so that neither is cut off.
void WireCursor::choose_base(Sequence from) {
    if (wire_log_.encoder().times() == WireTimes::shared)
        return;
    if (format_.is_relayed())
        return;  // the source's timeline
    if (source_->keeps_publisher_time()) {
        base_ms_ = -to_ms(source_->timeline().publisher_offset());
        return;
    }
    const Ring& ring = source_->ring();
    std::optional<MediaTime> base;
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video}) {
        // The next packet of this kind; if there is none yet, the latest one bounds those to come.
        std::optional<MediaTime> time = source_->tracks().last_time(kind);
        for (Sequence sequence = from; sequence < ring.next(); ++sequence) {
            const Packet& packet = ring.at(sequence);
            if (packet.kind == kind && !packet.is_config() && packet.is_of(format_.tracks)) {
                time = packet.dts;
                break;
            }
        }
        if (time)
            base = std::min(base.value_or(*time), *time);
    }
    base_ms_ = to_ms(base.value_or(source_->timeline().newest()));
}

void WireCursor::introduce(std::int64_t time_ms) {
    const auto add = [this](const Packet& packet, std::int64_t at_ms) {
        if (packet.is_config())
            wire_log_.encoder().append_own_message(packet, at_ms, private_);
    };
    add(source_->tracks().config(MediaKind::data), 0);
    add(source_->tracks().config(MediaKind::audio), time_ms);
    add(source_->tracks().config(MediaKind::video), time_ms);
    for (const Packet& config : source_->tracks().extra_configs())
        if (config.is_of(format_.tracks))
            add(config, time_ms);
    if (format_.is_relayed())
        for (const SyncLog::Entry& entry : source_->syncs().newest())
            wire_log_.encoder().append_own_message(packet_of(entry), 0, private_);
}

std::int64_t WireCursor::time_of(const Packet& packet) const { return std::max<std::int64_t>(to_ms(packet.dts) - base_ms_, 0); }

void WireCursor::own_header(Sequence sequence) {
    const Packet& packet = source_->ring().at(sequence);
    const WireLog::Entry& entry = wire_log_.entry(sequence);
    if (wire_log_.encoder().append_own_header(packet, time_of(packet), private_))
        position_ = entry.offset + entry.header_bytes;
    else
        position_ = wire_log_.begin_of(sequence + 1);
    opened_.add(packet.kind);
}

// The position up to which the shared bytes can be sent unchanged.
WireCursor::Position WireCursor::settle() {
    if (wire_log_.encoder().times() != WireTimes::relative || (settled_ && epoch_ == wire_log_.epoch()))
        return wire_log_.head();
    if (settled_) {
        next_ = wire_log_.find(position_);
        settled_ = false;
    }
    for (; next_ < wire_log_.next(); ++next_) {
        const WireLog::Entry& entry = wire_log_.entry(next_);
        const Packet& packet = source_->ring().at(next_);
        if (!packet.is_of(format_.tracks) || (opened_.has(packet.kind) && !entry.needs_own_header))
            continue;
        if (position_ < entry.offset)
            return entry.offset;
        own_header(next_);
    }
    // A kind this player has not received yet still needs its first header.
    settled_ = opened_.has_all(wire_log_.kinds());
    epoch_ = wire_log_.epoch();
    return wire_log_.head();
}

// Copies messages up to `end`, of a large one only the header. Returns up to where the log's own bytes can follow.
WireCursor::Position WireCursor::copy_stamped(Position end) {
    const Ring& ring = source_->ring();
    const WireEncoder& encoder = wire_log_.encoder();
    Sequence sequence = wire_log_.find(position_);
    if (position_ < wire_log_.offset_of(sequence))
        return std::min(end, wire_log_.offset_of(sequence));
    if (private_sent_ > 0)
        return position_;
    while (position_ < end && private_.size() < kCopyBytes) {
        const Packet& packet = ring.at(sequence);
        if (wire_log_.offset_of(sequence + 1) == wire_log_.entry(sequence).offset) {
            ++sequence;  // left out of the log
            continue;
        }
        const bool is_header = encoder.append_own_header(packet, time_of(packet), private_);
        const WireLog::Entry& entry = wire_log_.entry(sequence);
        position_ = wire_log_.offset_of(++sequence);
        if (is_header)
            return std::exchange(position_, entry.offset + entry.header_bytes + encoder.stamped_bytes());
    }
    return position_;
}

bool WireCursor::at_boundary() const { return private_.empty() && rest_ == nullptr && (must_jump_ || !is_inside_message()); }

WireCursor::Batch WireCursor::take_message(std::span<::iovec> out) {
    // The limit is the beginning of a later packet: a packet at position_ may have no bytes, if the format omits it.
    return take_up_to(out, wire_log_.offset_of(wire_log_.find(position_ + 1)));
}

WireCursor::Batch WireCursor::take_up_to(std::span<::iovec> out, Position end) {
    Batch batch;
    if (must_jump_ && private_.empty() && rest_ == nullptr && !paused_ && has_landing())
        jump();
    if (!control_.empty() && at_boundary())
        private_.swap(control_);
    Position limit = position_;
    // Before a jump, what is at position_ may have been dropped already.
    if (paused_ && !must_jump_)
        limit = wire_log_.offset_of(wire_log_.find(position_));
    else if (!must_jump_)
        limit = std::max(position_, std::min(settle(), end));
    if (is_rebased())
        limit = copy_stamped(limit);
    if (private_sent_ < private_.size() && !out.empty()) {
        out[batch.spans++] = {private_.data() + private_sent_, private_.size() - private_sent_};
        batch.bytes += private_.size() - private_sent_;
    }
    std::size_t count = 0;
    if (rest_ != nullptr)
        count = rest_->spans(rest_->tail(), rest_->head(), out.subspan(batch.spans));
    else if (position_ < limit)
        count = wire_log_.spans(position_, limit, out.subspan(batch.spans));
    for (std::size_t i = 0; i < count; ++i)
        batch.bytes += out[batch.spans++].iov_len;
    return batch;
}

void WireCursor::advance(std::size_t count) {
    sent_bytes_ += count;
    const std::size_t own = std::min(count, private_.size() - private_sent_);
    private_sent_ += own;
    if (private_sent_ == private_.size() && !private_.empty()) {
        std::vector<std::uint8_t>().swap(private_);  // an idle player holds no buffer
        private_sent_ = 0;
    }
    count -= own;
    if (rest_ != nullptr) {
        rest_->drop_before(rest_->tail() + count);
        if (rest_->empty())
            rest_.reset();
        return;
    }
    position_ += count;
    CHECK(position_ <= wire_log_.head());
}

Result<void> WireCursor::add_control(Bytes bytes) {
    if (control_.size() + bytes.size() > kControlBytesMax)
        return Error(Errc::limit, "the client does not read the answers to its requests");
    control_.insert(control_.end(), bytes.begin(), bytes.end());
    return {};
}

bool WireCursor::is_in_sync() const {
    const bool needs_no_header = wire_log_.encoder().times() != WireTimes::relative || (settled_ && epoch_ == wire_log_.epoch());
    return needs_no_header && private_.empty() && rest_ == nullptr && control_.empty() && !must_jump_ && !paused_;
}

void WireCursor::resume_at(Position position) {
    sent_bytes_ += position - position_;
    position_ = position;
}

void WireCursor::resume_at(Position position, Bytes rest) {
    resume_at(position);
    sent_bytes_ -= rest.size();
    private_.assign(rest.begin(), rest.end());
}

void WireCursor::hold_place() {
    if (!std::exchange(holds_place_, true))
        wire_log_.hold(*this);
}

void WireCursor::release_place() {
    if (std::exchange(holds_place_, false))
        wire_log_.release(*this);
}

void WireCursor::leave_place() {
    const Position end = wire_log_.offset_of(wire_log_.find(position_));
    if (end - position_ > kCopyBytes) {
        rest_ = wire_log_.copy_of(position_, end);
        position_ = end;
    }
    std::array<::iovec, 8> spans;
    while (position_ < end) {
        const std::size_t count = wire_log_.spans(position_, end, spans);
        for (const ::iovec& span : std::span(spans).first(count)) {
            const auto* data = static_cast<const std::uint8_t*>(span.iov_base);
            private_.insert(private_.end(), data, data + span.iov_len);
            position_ += span.iov_len;
        }
    }
    next_ = wire_log_.find(end);
    must_jump_ = true;
}

MediaTime WireCursor::played() const {
    const Ring& ring = source_->ring();
    if (ring.empty())
        return MediaTime::zero();
    const Sequence at = std::min(wire_log_.find(position_), ring.next() - 1);
    return std::chrono::milliseconds(time_of(ring.at(std::max(at, ring.first()))));
}

std::uint64_t WireCursor::behind() const { return wire_log_.next() - wire_log_.find(position_); }

}  // namespace live::media
