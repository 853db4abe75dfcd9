#include "session/rtsp/receive/media_input.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/deadline.hpp"

namespace live::session::rtsp {

namespace {

constexpr std::uint32_t kOwnSsrc = 0x4D52'5350;
constexpr std::string_view kName = "millrace";

// A frame may be stamped slightly before the first packet, because encoders look ahead. The source's timeline starts at its first
// stamp, wherever that is.
std::uint32_t stamp_of(MediaTime time) {
    constexpr std::int64_t kStampBase = 1'000;
    return static_cast<std::uint32_t>(media::to_ms(time) + kStampBase);
}

// Audio without a FourCC cannot be a further track.
bool is_law(wire::codec::Codec codec) { return codec == wire::codec::Codec::g711a || codec == wire::codec::Codec::g711u; }

media::RtpTrackReader::Format format_of(const wire::rtsp::Media& media) {
    return {.kind = media.kind,
            .codec = media.codec,
            .clock_rate = media.clock_rate,
            .channels = media.channels,
            .parameter_sets = media.parameter_sets,
            .config = media.config,
            .aac = {media.packing.size_bits, media.packing.index_bits, media.packing.index_delta_bits},
            .is_latm = media.is_latm};
}

}  // namespace

Result<std::vector<std::size_t>> MediaInput::choose(const wire::rtsp::Description& description, Choice choice, const Log& log) {
    std::vector<std::size_t> chosen;
    std::array<std::size_t, kMediaKindCount> counts{};
    for (std::size_t i = 0; i < description.media.size(); ++i) {
        const wire::rtsp::Media& media = description.media[i];
        std::size_t& count = counts[index_of(media.kind)];
        const bool is_further = count > 0 || media.kind == MediaKind::data;
        const bool fits = !is_further || (choice == Choice::all && count < kTracksOfKindMax && !is_law(media.codec));
        if (fits && media::RtpTrackReader::check(format_of(media)).ok()) {
            ++count;
            chosen.push_back(i);
        } else {
            LOG_WARN(log, "RTSP: track {} ({} {}) is not published", i, name_of(media.kind), media.name);
        }
    }
    if (counts[index_of(MediaKind::audio)] + counts[index_of(MediaKind::video)] == 0)
        return Error(Errc::unsupported, "no track has a supported codec");
    return chosen;
}

MediaInput::MediaInput(media::Publication& publication, const StreamPlan& plan, const wire::rtsp::Description& description,
                       const std::vector<std::size_t>& chosen, Counters& counters, const Log& log)
    : publication_(publication),
      ingest_(publication, plan.play, plan.publish, log),
      bridge_(plan.play.bridge),
      log_(log),
      counters_(counters),
      tracks_(description.media.size()),
      clock_(MediaTime::zero(), media::RtpClock::Begin::by_reports),
      silent_since_(io::now()),
      report_at_(io::now() + kReportInterval) {
    MediaKindSet announced;
    std::array<std::uint8_t, kMediaKindCount> counts{};
    std::size_t further = 0;
    for (const std::size_t index : chosen) {
        const wire::rtsp::Media& media = description.media[index];
        tracks_[index].emplace(Track{engine::rtsp::TrackReceiver(media.payload_type, media.clock_rate),
                                     std::make_unique<media::RtpTrackReader>(format_of(media), log), media.clock_rate,
                                     media::TrackId(counts[index_of(media.kind)]++)});
        if (media.kind == MediaKind::data || announced.has(media.kind))
            tracks_[index]->further = further++;
        if (media.kind != MediaKind::data)
            announced.add(media.kind);
        if (media.codec == wire::codec::Codec::mjpeg)
            LOG_WARN(log, "RTSP: track {} is M-JPEG, which RTSP players get; other protocols do not carry it", index);
    }
    publication_.announce(announced);
}

void MediaInput::take(std::size_t index, bool is_rtcp, Bytes bytes, TimePoint now) {
    auto& track = tracks_[index];
    if (!track)
        return;
    if (is_rtcp)
        return track->receiver.handle_rtcp(now, bytes);
    if (const auto packet = track->receiver.handle_rtp(now, bytes))
        push(*track, *packet);
    ++counters_.received_packets;
    if (track->receiver.is_waiting())
        drain(*track, now);
}

void MediaInput::drain(TimePoint now) {
    for (auto& track : tracks_)
        if (track)
            drain(*track, now);
}

void MediaInput::drain(Track& track, TimePoint now) {
    const std::uint64_t lost = track.receiver.counters().lost;
    while (const auto packet = track.receiver.pop(now))
        push(track, *packet);
    counters_.lost_packets += track.receiver.counters().lost - lost;
}

void MediaInput::push(Track& track, const engine::rtsp::TrackReceiver::Packet& packet) {
    const MediaKind kind = track.reader->kind();
    const MediaTime time =
        track.further ? clock_.place_further(*track.further, packet.timestamp, track.clock_rate, packet.arrived, packet.reported)
                      : clock_.place(kind, packet.timestamp, track.clock_rate, packet.arrived, packet.reported).time;
    track.reader->push({packet.sequence, packet.timestamp, packet.marker, packet.payload}, time);
    while (auto frame = track.reader->poll()) {
        got_media_ = true;
        track.has_begun = true;
        silent_since_ = packet.arrived;
        if (!is_law(frame->codec) || !laws_ || !laws_->push(*frame, packet.arrived))
            publish(kind, track.id, *std::move(frame));
    }
    publish_converted();
}

bool MediaInput::have_all_begun() const {
    return std::ranges::all_of(
        tracks_, [](const auto& track) { return !track || track->has_begun || track->reader->kind() == MediaKind::data; });
}

void MediaInput::publish(MediaKind kind, media::TrackId track, wire::codec::Frame frame) {
    frame.track = track;
    const std::uint32_t stamp = stamp_of(frame.dts);
    ingest_.push_frame(kind, stamp, std::move(frame));
}

void MediaInput::convert_laws(media::AudioTranscoders* transcoders) {
    laws_.emplace(transcoders, bridge_, static_cast<media::AudioListener&>(*this), log_);
}

void MediaInput::publish_converted() {
    while (laws_) {
        auto audio = laws_->next();
        if (!audio)
            return;
        publish(MediaKind::audio, media::TrackId(), *std::move(audio));
    }
}

void MediaInput::on_audio() {
    if (!publication_.is_current())
        return;
    publish_converted();
    publication_.source().flush();
}

std::optional<TimePoint> MediaInput::next_timeout() const {
    std::optional<TimePoint> next;
    for (const auto& track : tracks_)
        if (const auto due = track ? track->receiver.next_timeout() : std::nullopt; due && (!next || *due < *next))
            next = due;
    return next;
}

bool MediaInput::take_report_turn(TimePoint now) {
    if (now < report_at_)
        return false;
    report_at_ = now + kReportInterval;
    return true;
}

void MediaInput::write_report(std::size_t index, TimePoint now, ByteWriter& out) {
    if (tracks_[index])
        tracks_[index]->receiver.write_report(now, kOwnSsrc, kName, out);
}

engine::rtsp::TrackReceiver::Counters MediaInput::counters() const {
    engine::rtsp::TrackReceiver::Counters sum;
    for (const auto& track : tracks_) {
        const auto one = track ? track->receiver.counters() : engine::rtsp::TrackReceiver::Counters();
        sum.packets += one.packets;
        sum.lost += one.lost;
        sum.ignored += one.ignored;
    }
    return sum;
}

std::size_t MediaInput::held_bytes() const {
    std::size_t bytes = 0;
    for (const auto& track : tracks_)
        bytes += track ? track->receiver.held_bytes() : 0;
    return bytes;
}

}  // namespace live::session::rtsp
