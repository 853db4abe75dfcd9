#include "engine/rtp/send/outgoing_track.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "engine/rtp/sender_clock.hpp"
#include "wire/rtp/packet.hpp"

namespace live::engine::rtp {

namespace {

void put_u16(MutBytes bytes, std::size_t at, std::uint32_t value) {
    bytes[at] = static_cast<std::uint8_t>(value >> 8);
    bytes[at + 1] = static_cast<std::uint8_t>(value);
}
void put_u32(MutBytes bytes, std::size_t at, std::uint32_t value) {
    put_u16(bytes, at, value >> 16);
    put_u16(bytes, at + 2, value);
}

}  // namespace

OutgoingTrack::OutgoingTrack(const TrackFormat& format, Ssrcs ssrcs)
    : kind_(format.kind),
      ssrcs_(ssrcs),
      payload_type_(format.payload_type),
      rtx_payload_type_(ssrcs.rtx != 0 ? format.rtx_payload_type : std::nullopt),
      transport_wide_id_(format.transport_wide_id),
      has_nack_(format.has_nack),
      clock_rate_(format.clock_rate),
      numbering_(ssrcs.media) {
    if (remembers_numbers())
        numbers_.resize(kNumbersMax);
}

std::optional<LogNumber> OutgoingTrack::log_number(std::uint16_t sequence) const {
    if (!has_nack_)
        return std::nullopt;
    return numbering_.log_number(sequence, !has_rtx() && has_transport_wide() ? kNumbersMax : kResendBack);
}

std::size_t OutgoingTrack::write_header(MutBytes storage, std::uint8_t payload_type, std::uint16_t sequence, std::uint32_t ssrc,
                                        const RtpLogHeader& header, std::uint16_t transport_number) const {
    storage[0] = has_transport_wide() ? 0x90 : 0x80;
    storage[1] = static_cast<std::uint8_t>((header.marker ? 0x80U : 0U) | payload_type);
    put_u16(storage, 2, sequence);
    put_u32(storage, 4, header.timestamp);
    put_u32(storage, 8, ssrc);
    if (!has_transport_wide())
        return wire::rtp::kHeaderBytes;
    // RFC 8285: one word in both forms, because the value has two bytes.
    const bool is_short = transport_wide_id_ < 15;
    put_u16(storage, 12, is_short ? wire::rtp::kOneByteProfile : wire::rtp::kTwoByteProfile);
    put_u16(storage, 14, 1);
    if (is_short) {
        storage[16] = static_cast<std::uint8_t>(transport_wide_id_ << 4 | 1);
        put_u16(storage, 17, transport_number);
        storage[19] = 0;
    } else {
        storage[16] = transport_wide_id_;
        storage[17] = 2;
        put_u16(storage, 18, transport_number);
    }
    return wire::rtp::kHeaderBytes + 8;
}

std::size_t OutgoingTrack::write_first(MutBytes storage, TimePoint now, const RtpLogHeader& header,
                                       std::uint16_t transport_number, std::size_t payload_bytes) {
    CHECK(storage.size() >= kHeaderBytesMax);
    const std::uint64_t out = numbering_.advance(header.number(), header.follows_loss);
    if (!numbers_.empty())
        numbers_[out % kNumbersMax] = transport_number;
    last_ = {now, header.timestamp, header.time};
    ++packets_;
    payload_bytes_ += payload_bytes;
    return write_header(storage, payload_type_, static_cast<std::uint16_t>(out), ssrcs_.media, header, transport_number);
}

std::optional<OutgoingTrack::Again> OutgoingTrack::write_again(MutBytes storage, const RtpLogHeader& header,
                                                               std::uint16_t transport_number) {
    CHECK(storage.size() >= kHeaderBytesMax);
    const auto out = has_nack_ ? numbering_.out_of(header.number()) : std::nullopt;
    if (!out || numbering_.next() - *out > (numbers_.empty() ? kResendBack : kNumbersMax))
        return std::nullopt;
    const auto sequence = static_cast<std::uint16_t>(*out);
    if (!has_rtx()) {
        if (!numbers_.empty())
            transport_number = numbers_[*out % kNumbersMax];
        return Again{write_header(storage, payload_type_, sequence, ssrcs_.media, header, transport_number), false};
    }
    const std::size_t bytes = write_header(storage, *rtx_payload_type_, next_rtx_++, ssrcs_.rtx, header, transport_number);
    put_u16(storage, bytes, sequence);
    return Again{bytes + 2, has_transport_wide()};
}

std::optional<wire::rtcp::SenderReport> OutgoingTrack::report(TimePoint now) {
    if (!last_)
        return std::nullopt;
    wire::rtcp::SenderReport report;
    report.ssrc = ssrcs_.media;
    // The current time on the clock shared by all tracks, and the timestamp a packet sent now would have.
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(now - last_->at);
    report.ntp = to_ntp(clock_ + last_->time + since);
    report.rtp_time = last_->timestamp + static_cast<std::uint32_t>(since.count() * clock_rate_ / 1'000'000);
    report.packets = static_cast<std::uint32_t>(packets_);
    report.payload_bytes = static_cast<std::uint32_t>(payload_bytes_);
    reported_[next_reported_++ % reported_.size()] = {report.middle_of_ntp(), now};
    return report;
}

std::optional<TimePoint> OutgoingTrack::report_sent(std::uint32_t middle_of_ntp) const {
    const auto found = std::ranges::find(reported_, middle_of_ntp, &Reported::middle_of_ntp);
    if (middle_of_ntp == 0 || found == reported_.end())
        return std::nullopt;
    return found->at;
}

void OutgoingTrack::reported(const wire::rtcp::ReportBlock& block) {
    loss_ = block.fraction_lost / 256.0;
    lost_ = block.lost;
    jitter_ = block.jitter;
}

std::chrono::microseconds OutgoingTrack::jitter() const {
    return std::chrono::microseconds(std::uint64_t{jitter_} * 1'000'000 / clock_rate_);
}

}  // namespace live::engine::rtp
