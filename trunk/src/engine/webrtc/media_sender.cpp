#include "engine/webrtc/media_sender.hpp"

#include <algorithm>

#include "engine/rtp/sender_clock.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtcp/transport_feedback.hpp"

namespace live::engine::webrtc {

using wire::rtcp::Type;

namespace {

// A frame of typical size is sent at once; a long one at a multiple of the link rate, so that a key frame does not take seconds.
constexpr std::chrono::milliseconds kBurst = 40ms;
// On average only slightly more than the estimated rate is sent: a stream that exceeds the link then queues here, where the delay
// is visible, and not in a router. A key frame as long as one second of the rate is exempt.
constexpr double kAverageHeadroom = 1.1;
constexpr std::chrono::milliseconds kAverageBurst = 1s;
// Minimum of the retransmission rate limit, which otherwise follows the estimated rate.
constexpr std::uint64_t kRepairRateMin = 2'000'000;
constexpr std::chrono::milliseconds kRepairBurst = 500ms;
constexpr std::chrono::milliseconds kPaddingBurst = 20ms;

// Our clock in reports is the steady clock plus an offset that makes it a date: 1970 in NTP time.
constexpr std::chrono::seconds kUnixOverNtp{2'208'988'800};
std::chrono::microseconds report_clock(TimePoint now) {
    return std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()) + kUnixOverNtp;
}

}  // namespace

MediaSender::MediaSender(Options options, const wire::sdp::Agreement& agreement, TimePoint now)
    : pacer_({.bits_per_second = options.bandwidth.start, .burst = kBurst}, now - kBurst),
      repairs_({.bits_per_second = std::max(kRepairRateMin, options.bandwidth.start), .headroom = 1, .burst = kRepairBurst},
               now - kRepairBurst),
      cname_(std::move(options.cname)) {
    tracks_.reserve(agreement.sections.size());
    for (const wire::sdp::Accepted& accepted : agreement.sections) {
        const rtp::TrackFormat format = track_format(accepted, {options.nack, options.twcc});
        tracks_.emplace_back(format, format.kind == MediaKind::audio ? options.audio : options.video);
        if (tracks_.back().has_transport_wide() && !estimator_)
            estimator_.emplace(options.bandwidth);
    }
}

rtp::OutgoingTrack* MediaSender::find(MediaKind kind) {
    const auto found = std::ranges::find_if(tracks_, [kind](const auto& track) { return track.kind() == kind; });
    return found == tracks_.end() ? nullptr : &*found;
}

rtp::OutgoingTrack* MediaSender::find(std::uint32_t ssrc) {
    const auto found = std::ranges::find_if(tracks_, [ssrc](const auto& track) { return track.is(ssrc); });
    return found == tracks_.end() ? nullptr : &*found;
}

rtp::Pacer* MediaSender::held_by(TimePoint now) {
    if (!estimator_)
        return nullptr;
    rtp::Pacer* const later = average_ && average_->next_send(now) > pacer_.next_send(now) ? &*average_ : &pacer_;
    return later->may_send(now) ? nullptr : later;
}

bool MediaSender::may_send(TimePoint now, MediaKind kind) { return kind == MediaKind::audio || held_by(now) == nullptr; }

std::optional<TimePoint> MediaSender::next_send(TimePoint now) {
    rtp::Pacer* const holder = held_by(now);
    if (holder == nullptr)
        return std::nullopt;
    return holder->next_send(now);
}

void MediaSender::pace(TimePoint now, std::size_t bytes) {
    pacer_.sent(now, bytes);
    if (average_)
        average_->sent(now, bytes);
    if (padder_)
        padder_->sent(now, bytes);
}

void MediaSender::count_sent(TimePoint now, const rtp::OutgoingTrack& track, std::size_t bytes) {
    if (!began_)
        began_ = now;
    const std::uint16_t number = track.has_transport_wide() ? transport_number_++ : transport_number_;
    if (!estimator_) {
        if (padder_)
            padder_->sent(now, bytes);
        return;
    }
    pace(now, bytes);
    if (!has_report_ && now - *began_ > kSilentMax)
        estimator_.reset();
    else if (track.has_transport_wide())
        estimator_->sent(now, number, bytes);
}

std::optional<std::size_t> MediaSender::write_first(MutBytes storage, TimePoint now, MediaKind kind,
                                                    const rtp::RtpLogHeader& header, std::size_t payload_bytes) {
    rtp::OutgoingTrack* const track = find(kind);
    if (track == nullptr)
        return std::nullopt;
    if (!began_)
        for (rtp::OutgoingTrack& each : tracks_)
            each.set_clock(report_clock(now) - header.time);
    if (!track->has_sent())
        next_report_ = now;
    const std::size_t bytes = track->write_first(storage, now, header, transport_number_, payload_bytes);
    count_sent(now, *track, bytes + payload_bytes);
    return bytes;
}

std::optional<std::size_t> MediaSender::write_again(MutBytes storage, TimePoint now, MediaKind kind,
                                                    const rtp::RtpLogHeader& header, std::size_t payload_bytes) {
    rtp::OutgoingTrack* const track = find(kind);
    if (track == nullptr || !repairs_.may_send(now))
        return std::nullopt;
    const auto again = track->write_again(storage, header, transport_number_);
    if (!again)
        return std::nullopt;
    const std::size_t bytes = again->header_bytes + payload_bytes;
    repairs_.sent(now, bytes);
    if (again->uses_number)
        count_sent(now, *track, bytes);
    else if (estimator_)
        pace(now, bytes);
    ++resent_;
    return again->header_bytes;
}

std::uint64_t MediaSender::estimated_rate() const {
    if (!estimator_)
        return reported_.rate(reported_at_);
    return has_report_ ? estimator_->rate() : 0;
}

rtp::LinkState MediaSender::link(TimePoint now) const {
    const bool has_rtx =
        std::ranges::any_of(tracks_, [](const auto& track) { return track.kind() == MediaKind::video && track.has_rtx(); });
    if (!estimator_)
        return reported_.state(now, has_rtx);
    const bool has_numbers = std::ranges::any_of(
        tracks_, [](const auto& track) { return track.kind() == MediaKind::video && track.has_transport_wide(); });
    using enum rtp::LinkState::Reports;
    return {.reports = has_report_ ? arrived : awaited,
            .rate = estimator_->rate(),
            .received = estimator_->received(),
            .limits_met = estimator_->limits_met(),
            .queue = estimator_->queue(),
            .may_pad = has_rtx && has_numbers};
}

void MediaSender::set_padding(TimePoint now, std::uint64_t bits_per_second) {
    if (bits_per_second == 0)
        padder_.reset();
    else if (padder_)
        padder_->set_rate(now, bits_per_second);
    else
        padder_.emplace(rtp::Pacer::Options{.bits_per_second = bits_per_second, .headroom = 1, .burst = kPaddingBurst}, now);
}

bool MediaSender::may_pad(TimePoint now) { return padder_ && padder_->may_send(now) && held_by(now) == nullptr; }

std::optional<std::size_t> MediaSender::write_padding(MutBytes storage, TimePoint now, const rtp::RtpLogHeader& header,
                                                      std::size_t payload_bytes) {
    rtp::OutgoingTrack* const track = find(MediaKind::video);
    const auto again =
        track == nullptr || !track->has_rtx() ? std::nullopt : track->write_again(storage, header, transport_number_);
    if (!again)
        return std::nullopt;
    count_sent(now, *track, again->header_bytes + payload_bytes);
    padded_bytes_ += payload_bytes;
    return again->header_bytes;
}

Result<void> MediaSender::handle_rtcp(TimePoint now, const wire::rtcp::Packet& packet) {
    if (packet.type == Type::receiver_report)
        for (const auto& block : TRY(wire::rtcp::parse_receiver_report(packet)).blocks)
            take_block(now, block);
    else if (packet.type == Type::sender_report)
        for (const auto& block : TRY(wire::rtcp::parse_sender_report(packet)).blocks)
            take_block(now, block);
    else if (packet.is(Type::transport_feedback, wire::rtcp::kNackFormat))
        return take_nack(packet);
    else if (packet.is(Type::transport_feedback, wire::rtcp::kTransportWideFormat))
        return take_arrivals(now, packet);
    else if (packet.is(Type::payload_feedback, wire::rtcp::kApplicationFormat))
        return take_remb(now, packet);
    else if (packet.type == Type::payload_feedback)
        return read_key_request(packet);
    return {};
}

void MediaSender::take_block(TimePoint now, const wire::rtcp::ReportBlock& block) {
    rtp::OutgoingTrack* const track = find(block.ssrc);
    if (track == nullptr)
        return;
    track->reported(block);
    if (track->kind() == MediaKind::video) {
        reported_.reported(now, track->loss(), sent_bytes());
        reported_at_ = now;
    }
    if (const auto sent = track->report_sent(block.last_sender_report)) {
        // RFC 3550, 6.4.1.
        const auto held = std::chrono::microseconds(std::uint64_t{block.delay_since} * 1'000'000 >> 16);
        const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(now - *sent);
        if (held <= passed)
            round_trip_ = passed - held;
    }
}

Result<void> MediaSender::take_remb(TimePoint now, const wire::rtcp::Packet& packet) {
    const auto remb = wire::rtcp::parse_remb(packet);
    if (!remb.ok())
        return remb.code() == Errc::unsupported ? Result<void>() : remb.error();
    reported_.estimated(now, remb->bits_per_second, sent_bytes());
    reported_at_ = now;
    return {};
}

std::uint64_t MediaSender::sent_bytes() const {
    std::uint64_t sum = padded_bytes_;
    for (const rtp::OutgoingTrack& track : tracks_)
        sum += track.payload_bytes();
    return sum;
}

Result<void> MediaSender::take_nack(const wire::rtcp::Packet& packet) {
    const auto nack = TRY(wire::rtcp::parse_nack(packet));
    rtp::OutgoingTrack* const track = find(nack.media_ssrc);
    if (track == nullptr)
        return {};
    for (const std::uint16_t sequence : nack.sequences) {
        ++nacked_;
        const auto rtp_log = track->log_number(sequence);
        if (rtp_log && nacks_.size() < kNacksMax)
            nacks_.emplace_back(track->kind(), *rtp_log);
    }
    return {};
}

Result<void> MediaSender::take_arrivals(TimePoint now, const wire::rtcp::Packet& packet) {
    const auto arrivals = TRY(wire::rtcp::ArrivalReport::parse(packet));
    if (!estimator_)
        return {};
    has_report_ = true;
    estimator_->reported(now, arrivals);
    pacer_.set_rate(now, estimator_->rate());
    if (average_)
        average_->set_rate(now, estimator_->rate());
    else if (estimator_->has_met_limit())
        average_.emplace(rtp::Pacer::Options{estimator_->rate(), kAverageHeadroom, kAverageBurst}, now);
    repairs_.set_rate(now, std::max(kRepairRateMin, estimator_->rate()));
    return {};
}

Result<void> MediaSender::read_key_request(const wire::rtcp::Packet& packet) {
    bool is_ours = false;
    const auto is_video = [this](std::uint32_t ssrc) {
        const rtp::OutgoingTrack* const track = find(ssrc);
        return track != nullptr && track->kind() == MediaKind::video;
    };
    if (packet.count == wire::rtcp::kPliFormat)
        is_ours = is_video(TRY(wire::rtcp::parse_pli(packet)).media_ssrc);
    else if (packet.count == wire::rtcp::kFirFormat)
        for (const auto& entry : TRY(wire::rtcp::parse_fir(packet)).entries)
            is_ours = is_ours || is_video(entry.ssrc);
    if (is_ours) {
        wants_key_ = true;
        ++key_requests_;
    }
    return {};
}

void MediaSender::handle_timeout(TimePoint now, rtp::RtcpOutput& out) {
    if (!next_report_ || now < *next_report_)
        return;
    next_report_ = now + kReportInterval;
    for (rtp::OutgoingTrack& track : tracks_)
        if (const auto report = track.report(now)) {
            // RFC 3550, 6.1: the CNAME after each report associates audio and video.
            ByteWriter& writer = out.next();
            write(writer, *report);
            write(writer, wire::rtcp::SourceName{report->ssrc, cname_});
        }
}

std::optional<TimePoint> MediaSender::next_timeout() const { return next_report_; }

void MediaSender::write_goodbye(rtp::RtcpOutput& out) const {
    wire::rtcp::Goodbye goodbye;
    for (const rtp::OutgoingTrack& track : tracks_)
        if (track.has_sent())
            goodbye.ssrcs.push_back(track.ssrc());
    if (goodbye.ssrcs.empty())
        return;
    ByteWriter& writer = out.next();
    // RFC 3550, 6.1: a report must come first.
    write(writer, wire::rtcp::ReceiverReport{goodbye.ssrcs.front(), {}});
    write(writer, goodbye);
}

std::size_t MediaSender::bytes() const {
    std::size_t sum = sizeof *this + nacks_.capacity() * sizeof nacks_.front() + (estimator_ ? estimator_->held_bytes() : 0);
    for (const rtp::OutgoingTrack& track : tracks_)
        sum += sizeof track + track.held_bytes();
    return sum;
}

void MediaSender::add_hot_lines(HotLines& lines) const {
    constexpr std::size_t kOfEstimator = 128;
    lines.add_range(tracks_, average_);
    lines.add(&estimator_, kOfEstimator);
    for (const rtp::OutgoingTrack& track : tracks_)
        track.add_hot_lines(lines);
}

void MediaSender::fill(SessionFigures& figures) const {
    figures.nacked = nacked_;
    figures.repaired = resent_;
    figures.key_requests = key_requests_;
    figures.round_trip = round_trip_;
    if (round_trip_.count() == 0 && estimator_)
        figures.round_trip = estimator_->round_trip();
    figures.estimated_rate = estimated_rate();
    std::int64_t lost = 0;
    for (const rtp::OutgoingTrack& track : tracks_) {
        lost += track.lost();
        figures.loss = std::max(figures.loss, track.loss());
        if (track.kind() == MediaKind::video || figures.jitter.count() == 0)
            figures.jitter = track.jitter();
    }
    figures.lost = static_cast<std::uint64_t>(std::max<std::int64_t>(0, lost));
}

}  // namespace live::engine::webrtc
