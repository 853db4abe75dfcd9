#include "media/rtp/single_nal_log.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"

namespace live::media {

namespace {

// RFC 6184, 5.2: packet types.
constexpr std::uint8_t kTypeMask = 0x1F;
constexpr std::uint8_t kSingleMax = 23;
constexpr std::uint8_t kStapA = 24;
constexpr std::uint8_t kFuA = 28;
constexpr std::uint8_t kFuBegins = 0x80;
constexpr std::size_t kLengthBytes = 2;

}  // namespace

SingleNalLog::SingleNalLog(RtpLog& from, const Log& log)
    : from_(from), log_(log), next_(from.gop_start().value_or(from.next())), writer_(from.writers()) {
    rtp_log_.start_writer(this);
    on_rtp();
    from_.add_listener(*this);
}

SingleNalLog::~SingleNalLog() { from_.remove_listener(*this); }

void SingleNalLog::take_tracks() {
    if (std::exchange(writer_, from_.writers()) != from_.writers())
        rtp_log_.start_writer(this);
    if (std::exchange(version_, from_.version()) == from_.version())
        return;
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video})
        if (const RtpTrack* const track = from_.track(kind))
            rtp_log_.set_track(*track);
    const RtpTrack* const video = from_.track(MediaKind::video);
    is_avc_ = video != nullptr && video->codec == "H264";
}

void SingleNalLog::on_rtp() {
    take_tracks();
    for (next_ = std::max(next_, from_.first()); next_ < from_.next(); ++next_)
        take(from_.at(next_));
    release();
    rtp_log_.flush();
}

void SingleNalLog::take(const RtpPacket& packet) {
    if (packet.kind == MediaKind::audio || !is_avc_ || packet.payload.empty()) {
        rtp_log_.append(packet);
        return;
    }
    const std::uint8_t type = packet.payload.data()[0] & kTypeMask;
    if (type <= kSingleMax)
        hold(packet);
    else if (type == kStapA)
        take_aggregate(packet);
    else
        leave_out(packet);
}

void SingleNalLog::take_aggregate(const RtpPacket& packet) {
    RtpPacket part = packet;
    part.marker = false;
    const Bytes bytes = packet.payload.bytes();
    for (std::size_t at = 1; at + kLengthBytes < bytes.size();) {
        const std::size_t length = std::size_t{bytes[at]} << 8 | bytes[at + 1];
        at += kLengthBytes;
        if (length == 0 || length > bytes.size() - at)
            break;
        part.payload = packet.payload.sub(at, length);
        hold(part);
        part.begins_key = part.follows_loss = false;
        at += length;
    }
    if (packet.marker && held_)
        held_->marker = true;
}

void SingleNalLog::leave_out(const RtpPacket& packet) {
    if (packet.begins_key)
        key_timestamp_ = packet.timestamp;
    follows_loss_ = follows_loss_ || packet.follows_loss;
    if (packet.marker && held_ && held_->timestamp == packet.timestamp)
        held_->marker = true;
    const Bytes bytes = packet.payload.bytes();
    if ((bytes[0] & kTypeMask) == kFuA && bytes.size() > 1 && (bytes[1] & kFuBegins) == 0)
        return;
    if (left_out_++ == 0)
        LOG_WARN(
            log_,
            "a player takes H.264 in packetization-mode 0 only: NAL units that do not fit into one packet are left out for it; "
            "let the encoder make slices of less than 1,200 bytes");
}

void SingleNalLog::hold(RtpPacket packet) {
    release();
    if (key_timestamp_ == packet.timestamp)
        packet.begins_key = true;
    key_timestamp_.reset();
    packet.follows_loss = packet.follows_loss || std::exchange(follows_loss_, false);
    held_ = std::move(packet);
}

void SingleNalLog::release() {
    if (held_)
        rtp_log_.append(*std::exchange(held_, std::nullopt));
}

}  // namespace live::media
