#include "engine/webrtc/media_receiver.hpp"

#include <algorithm>
#include <string_view>

#include "wire/rtcp/report.hpp"

namespace live::engine::webrtc {

using Origin = rtp::ReceiveStream::Origin;
using wire::rtcp::Type;

namespace {

std::optional<std::string_view> text_extension(const wire::rtp::Packet& packet, std::uint8_t id) {
    if (id == 0)
        return std::nullopt;
    const auto found = wire::rtp::find_extension(packet, id);
    if (!found)
        return std::nullopt;
    return as_text(found->value);
}

}  // namespace

MediaReceiver::MediaReceiver(const Options& options, const wire::sdp::Agreement& agreement, const wire::sdp::Description* offer)
    : options_(options) {
    for (const wire::sdp::Accepted& accepted : agreement.sections) {
        tracks_.push_back(std::make_unique<rtp::IncomingTrack>(track_format(accepted, {options.nack, options.twcc})));
        const rtp::TrackFormat& format = tracks_.back()->format();
        // RFC 8843, 9.1: in a BUNDLE, an extension id has the same meaning in all sections.
        if (transport_wide_id_ == 0)
            transport_wide_id_ = format.transport_wide_id;
        if (mid_id_ == 0)
            mid_id_ = format.mid_id;
    }
    if (offer != nullptr)
        read_names(agreement, *offer);
}

void MediaReceiver::read_names(const wire::sdp::Agreement& agreement, const wire::sdp::Description& offer) {
    for (std::size_t i = 0; i < agreement.sections.size(); ++i) {
        const std::size_t index = agreement.sections[i].index;
        if (index >= offer.sections.size())
            continue;
        const wire::sdp::Section& section = offer.sections[index];
        for (const wire::sdp::SsrcLine& line : section.ssrcs)
            if (named_.size() < kNamedMax && named(line.ssrc) == nullptr)
                named_.push_back({line.ssrc, i, 0});
        for (const wire::sdp::SsrcGroup& group : section.ssrc_groups)
            if (group.semantics == "FID" && group.ssrcs.size() == 2)
                for (Named& name : named_)
                    if (name.ssrc == group.ssrcs[1])
                        name.repairs = group.ssrcs[0];
    }
}

const MediaReceiver::Named* MediaReceiver::named(std::uint32_t ssrc) const {
    const auto found = std::ranges::find(named_, ssrc, &Named::ssrc);
    return found == named_.end() ? nullptr : &*found;
}

bool MediaReceiver::handle_rtp(TimePoint now, Bytes datagram, std::size_t bytes) {
    const auto packet = wire::rtp::parse_packet(datagram);
    if (!packet.ok())
        return false;
    if (options_.drop_payload_type != 0 && packet->payload_type == options_.drop_payload_type)
        return true;
    Route route = find(packet->ssrc);
    if (route.stream == nullptr)
        route = learn(now, *packet);
    // Unusable packets such as probes are also reported, because the link carried them.
    record_arrival(now, *packet);
    if (route.stream == nullptr)
        return false;
    ++packets_;
    bytes_ += bytes;
    if (!next_report_)
        next_report_ = now + kReportInterval;
    if (route.origin == Origin::stream) {
        media_ssrc_ = packet->ssrc;
        route.track->receive(now, *route.stream, *packet, Origin::stream, bytes);
        return true;
    }
    const auto original = wire::rtp::unwrap_rtx(*packet, route.stream->ssrc(), route.track->format().payload_type);
    // An empty RTX packet: the sender probes the link.
    if (!original.ok())
        return true;
    ++repaired_;
    route.track->receive(now, *route.stream, *original, Origin::repair, bytes);
    return true;
}

void MediaReceiver::record_arrival(TimePoint now, const wire::rtp::Packet& packet) {
    if (transport_wide_id_ == 0)
        return;
    if (const auto number = wire::rtp::find_extension(packet, transport_wide_id_); number && number->value.size() == 2)
        arrivals_.received(now, static_cast<std::uint16_t>(number->value[0] << 8 | number->value[1]));
}

MediaReceiver::Route MediaReceiver::find(std::uint32_t ssrc) const {
    for (const auto& track : tracks_) {
        if (rtp::ReceiveStream* const stream = track->streams().find(ssrc); stream != nullptr)
            return {track.get(), stream, Origin::stream};
        if (rtp::ReceiveStream* const stream = track->streams().find_rtx(ssrc); stream != nullptr)
            return {track.get(), stream, Origin::repair};
    }
    return {};
}

// RFC 8843, 9.2: by the packet's own MID, else by the SSRC in the offer, else by payload type.
rtp::IncomingTrack* MediaReceiver::track_of(const wire::rtp::Packet& packet) const {
    if (const auto mid = text_extension(packet, mid_id_)) {
        for (const auto& track : tracks_)
            if (track->format().mid == *mid)
                return track.get();
        return nullptr;
    }
    if (const Named* const name = named(packet.ssrc); name != nullptr)
        return tracks_[name->section].get();
    for (const auto& track : tracks_)
        if (packet.payload_type == track->format().payload_type || packet.payload_type == track->format().rtx_payload_type)
            return track.get();
    return nullptr;
}

MediaReceiver::Route MediaReceiver::learn(TimePoint now, const wire::rtp::Packet& packet) {
    rtp::IncomingTrack* const track = track_of(packet);
    if (track == nullptr)
        return {};
    if (packet.payload_type == track->format().rtx_payload_type) {
        rtp::ReceiveStream* const stream = repaired_by(*track, packet);
        if (stream != nullptr)
            stream->rtx_ssrc = packet.ssrc;
        return {track, stream, Origin::repair};
    }
    if (packet.payload_type != track->format().payload_type)
        return {};
    return {track, new_stream(now, *track, packet), Origin::stream};
}

rtp::ReceiveStream* MediaReceiver::repaired_by(rtp::IncomingTrack& track, const wire::rtp::Packet& packet) const {
    if (const auto rid = text_extension(packet, track.format().repaired_rid_id))
        return track.streams().find_rid(*rid);
    if (const Named* const name = named(packet.ssrc); name != nullptr && name->repairs != 0)
        return track.streams().find(name->repairs);
    return track.streams().only();
}

rtp::ReceiveStream* MediaReceiver::new_stream(TimePoint now, rtp::IncomingTrack& track, const wire::rtp::Packet& packet) const {
    const auto& layers = track.format().layers;
    const auto rid = text_extension(packet, track.format().rid_id);
    // With simulcast, a packet must name its layer, and one that was negotiated.
    if (!layers.empty() && (!rid || std::ranges::find(layers, *rid) == layers.end()))
        return nullptr;
    return &track.add(now, packet.ssrc, rid.value_or(""), round_trip_);
}

Result<void> MediaReceiver::handle_rtcp(TimePoint now, const wire::rtcp::Packet& packet) {
    if (packet.type == Type::sender_report) {
        const auto report = TRY(wire::rtcp::parse_sender_report(packet));
        if (const Route route = find(report.ssrc); route.origin == Origin::stream && route.stream != nullptr)
            route.stream->clock.reported(now, report);
    } else if (packet.type == Type::goodbye) {
        for (const std::uint32_t ssrc : TRY(wire::rtcp::parse_goodbye(packet)).ssrcs)
            for (const auto& track : tracks_)
                track->end(ssrc);
    }
    return {};
}

std::optional<rtp::MediaPacket> MediaReceiver::poll(TimePoint now) {
    for (const auto& track : tracks_)
        if (auto media = track->poll(now))
            return media;
    return std::nullopt;
}

void MediaReceiver::request_key_frame() {
    for (const auto& track : tracks_)
        if (track->kind() == MediaKind::video)
            track->want_key();
}

rtp::IncomingTrack* MediaReceiver::layered() const {
    for (const auto& track : tracks_)
        if (track->kind() == MediaKind::video && !track->format().layers.empty())
            return track.get();
    return nullptr;
}

std::uint64_t MediaReceiver::audio_rate(TimePoint now) const {
    for (const auto& track : tracks_)
        if (track->kind() == MediaKind::audio && track->current() != nullptr)
            return track->current()->rate(now);
    return 0;
}

void MediaReceiver::handle_timeout(TimePoint now, rtp::RtcpOutput& out, Skip skip) {
    write_nacks(now, out, skip);
    write_reports(now, out);
    write_key_requests(now, out);
    write_arrivals(now, out, skip);
}

void MediaReceiver::write_nacks(TimePoint now, rtp::RtcpOutput& out, const Skip& skip) {
    if (nacked_ && now - *nacked_ < kNackInterval)
        return;
    bool has_looked = false;
    const auto ask = [&](rtp::ReceiveStream& stream) {
        const auto due = stream.due_nacks(now);
        for (std::size_t at = 0; at < due.size(); at += kNackSequencesMax) {
            const auto begin = due.begin() + static_cast<std::ptrdiff_t>(at);
            const auto count = static_cast<std::ptrdiff_t>(std::min(kNackSequencesMax, due.size() - at));
            if (!skip.nack)
                write(out.next(), wire::rtcp::Nack{options_.ssrc, stream.ssrc(), {begin, begin + count}});
            has_looked = true;
        }
    };
    for (const auto& track : tracks_)
        track->streams().for_each(ask);
    if (has_looked)
        nacked_ = now;
}

void MediaReceiver::write_reports(TimePoint now, rtp::RtcpOutput& out) {
    if (!next_report_ || now < *next_report_)
        return;
    next_report_ = now + kReportInterval;
    wire::rtcp::ReceiverReport report;
    report.ssrc = options_.ssrc;
    for (const auto& track : tracks_)
        track->streams().for_each([&](rtp::ReceiveStream& stream) {
            if (report.blocks.size() < wire::rtcp::kReportsMax)
                report.blocks.push_back(stream.report(now));
        });
    write(out.next(), report);
}

void MediaReceiver::write_key_requests(TimePoint now, rtp::RtcpOutput& out) {
    const auto ask = [&](std::uint32_t ssrc) {
        write(out.next(), wire::rtcp::Pli{options_.ssrc, ssrc});
        ++key_requests_;
    };
    for (const auto& track : tracks_) {
        if (const auto ssrc = track->take_key_request(now))
            ask(*ssrc);
        while (const auto ssrc = track->take_layer_key_request(now))
            ask(*ssrc);
    }
}

void MediaReceiver::write_arrivals(TimePoint now, rtp::RtcpOutput& out, const Skip& skip) {
    while (const auto feedback = arrivals_.poll(now, options_.ssrc, media_ssrc_))
        if (!skip.arrivals)
            write(out.next(), *feedback);
}

std::optional<TimePoint> MediaReceiver::next_nack() const {
    std::optional<TimePoint> next;
    for (const auto& track : tracks_)
        track->streams().for_each([&next](const rtp::ReceiveStream& stream) {
            if (const auto at = stream.next_nack())
                next = next ? std::min(*next, *at) : at;
        });
    if (next && nacked_)
        next = std::max(*next, *nacked_ + kNackInterval);
    return next;
}

std::optional<TimePoint> MediaReceiver::next_timeout() const {
    std::optional<TimePoint> next = next_nack();
    const auto add = [&next](std::optional<TimePoint> at) {
        if (at)
            next = next ? std::min(*next, *at) : at;
    };
    add(next_report_);
    add(arrivals_.next_timeout());
    for (const auto& track : tracks_)
        add(track->next_timeout());
    return next;
}

std::optional<std::chrono::microseconds> MediaReceiver::time_of(MediaKind kind, std::uint32_t timestamp) const {
    for (const auto& track : tracks_)
        if (track->kind() == kind)
            return track->time_of(timestamp);
    return std::nullopt;
}

bool MediaReceiver::has_ended(MediaKind kind) const {
    return std::ranges::any_of(tracks_, [kind](const auto& track) { return track->kind() == kind && track->has_ended(); });
}

std::size_t MediaReceiver::bytes() const {
    std::size_t sum = sizeof *this + named_.capacity() * sizeof(Named);
    for (const auto& track : tracks_) {
        sum += sizeof *track;
        track->streams().for_each([&sum](const rtp::ReceiveStream& stream) { sum += sizeof stream + stream.waiting_bytes(); });
    }
    return sum;
}

void MediaReceiver::fill(SessionFigures& figures) const {
    figures.packets_in = packets_;
    figures.bytes_in = bytes_;
    figures.repaired = repaired_;
    figures.key_requests = key_requests_;
    std::int64_t lost = 0;
    for (const auto& track : tracks_) {
        lost += track->streams().lost();
        figures.given_up += track->streams().given_up();
        figures.nacked += track->streams().requested();
        figures.layer_switches += track->switches();
        const rtp::ReceiveStream* const stream = track->current();
        if (stream == nullptr)
            continue;
        figures.loss = std::max(figures.loss, stream->reception().fraction_lost());
        figures.round_trip = std::max(figures.round_trip, stream->nacks().round_trip());
        if (track->kind() == MediaKind::video || figures.jitter.count() == 0)
            figures.jitter = stream->reception().jitter();
    }
    figures.lost = static_cast<std::uint64_t>(std::max<std::int64_t>(0, lost));
}

}  // namespace live::engine::webrtc
