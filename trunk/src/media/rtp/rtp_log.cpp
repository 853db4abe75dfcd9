#include "media/rtp/rtp_log.hpp"

#include <utility>

#include "base/check.hpp"

namespace live::media {

void RtpLog::start_writer(KeyFrameSource* source) {
    key_frame_source_ = source;
    ++writers_;
    gop_start_.reset();
    origin_ssrcs_ = {};
    layers_ = nullptr;
}

void RtpLog::end_writer(KeyFrameSource* source) {
    if (key_frame_source_ != source)
        return;
    key_frame_source_ = nullptr;
    layers_ = nullptr;
}

void RtpLog::set_track(RtpTrack track) {
    CHECK(track.kind != MediaKind::data);
    auto& held = tracks_[index_of(track.kind)];
    if (held == track)
        return;
    // Decoding cannot start at frames of another format.
    if (track.kind == MediaKind::video)
        gop_start_.reset();
    held = std::move(track);
    ++version_;
}

const RtpTrack* RtpLog::track(MediaKind kind) const {
    if (kind == MediaKind::data)
        return nullptr;
    const auto& held = tracks_[index_of(kind)];
    return held ? &*held : nullptr;
}

void RtpLog::append(RtpPacket packet) {
    CHECK(packet.kind != MediaKind::data);
    if (size() == kPacketsMax)
        drop_first();
    if (size() == slots_.size())
        grow();
    std::uint16_t& next_track_sequence = next_track_sequence_[index_of(packet.kind)];
    if (packet.follows_loss)
        ++next_track_sequence;
    packet.sequence = next_track_sequence++;
    bytes_ += packet.payload.size();
    if (packet.begins_key)
        gop_start_ = next_;
    remember(next_, packet);
    slots_[slot(next_)] = std::move(packet);
    ++next_;
    trim();
}

void RtpLog::flush() {
    const bool has_layer_packets = std::exchange(has_layer_packets_, false);
    if (std::exchange(notified_at_, next_) == next_ && !has_layer_packets)
        return;
    for (std::size_t i = listeners_.size(); i-- > 0;)
        listeners_[i]->on_rtp();
}

const RtpPacket& RtpLog::at(Sequence sequence) const {
    CHECK(sequence >= first_ && sequence < next_);
    return slots_[slot(sequence)];
}

const RtpPacket* RtpLog::find(MediaKind kind, std::uint16_t track_sequence) const {
    if (kind == MediaKind::data || slots_.empty())
        return nullptr;
    const Sequence sequence = by_track_[index_of(kind)][track_sequence & (slots_.size() - 1)];
    if (sequence < first_ || sequence >= next_)
        return nullptr;
    const RtpPacket& packet = slots_[slot(sequence)];
    return packet.kind == kind && packet.sequence == track_sequence ? &packet : nullptr;
}

void RtpLog::want_key_frame() {
    ++key_frames_wanted_;
    if (key_frame_source_ != nullptr)
        key_frame_source_->on_key_frame_wanted();
}

void RtpLog::remember(Sequence sequence, const RtpPacket& packet) {
    by_track_[index_of(packet.kind)][packet.sequence & (slots_.size() - 1)] = sequence;
}

void RtpLog::grow() {
    constexpr std::size_t kInitialSlots = 128;
    std::vector<RtpPacket> larger(slots_.empty() ? kInitialSlots : slots_.size() * 2);
    for (Sequence sequence = first_; sequence < next_; ++sequence)
        larger[static_cast<std::size_t>(sequence) & (larger.size() - 1)] = std::move(slots_[slot(sequence)]);
    slots_ = std::move(larger);
    for (auto& track : by_track_)
        track.assign(slots_.size(), next_);
    for (Sequence sequence = first_; sequence < next_; ++sequence)
        remember(sequence, slots_[slot(sequence)]);
}

void RtpLog::trim() {
    while (bytes_ > kBytesMax)
        drop_first();
    const TimePoint newest = slots_[slot(next_ - 1)].arrived;
    const Sequence keep = gop_start_.value_or(next_);
    while (first_ < keep && newest - slots_[slot(first_)].arrived > kHistory)
        drop_first();
}

void RtpLog::drop_first() {
    RtpPacket& packet = slots_[slot(first_)];
    bytes_ -= packet.payload.size();
    packet.payload = Slice();
    if (gop_start_ == first_)
        gop_start_.reset();
    ++first_;
}

}  // namespace live::media
