#include "session/rtsp/play_session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "media/ring/rendition_names.hpp"
#include "media/source/wire_log_hold.hpp"
#include "media/wire_log/rtsp_wire_encoder.hpp"
#include "session/common/join.hpp"
#include "session/fan_out/rendition_wait.hpp"
#include "session/rtsp/first_packets.hpp"
#include "session/rtsp/stream_request.hpp"
#include "wire/rtsp/description.hpp"
#include "wire/rtsp/message.hpp"

namespace live::session::rtsp {

namespace rtsp = engine::rtsp;

namespace {

// By the newest packet: it was captured when it arrived, as far as is known here.
MediaTime unix_at_zero_of(const media::Source& source) {
    const auto unix = std::chrono::duration_cast<MediaTime>(std::chrono::system_clock::now().time_since_epoch());
    const auto age = std::chrono::duration_cast<MediaTime>(io::now() - source.arrival());
    const media::Ring& ring = source.ring();
    return ring.first() == ring.next() ? unix : unix - age - ring.newest().dts;
}

Error missing_rendition() { return Error(Errc::not_found, "the stream has no such rendition"); }

constexpr std::array kOrder = {MediaKind::video, MediaKind::audio};

}  // namespace

PlaySession::PlaySession(Peer& peer, Context& context, const StreamPlan& plan, const RtspOptions& options,
                         Ref<media::Source> source, Asked asked, const Log& log)
    : peer_(peer),
      context_(context),
      plan_(plan),
      options_(options),
      source_(std::move(source)),
      asked_(std::move(asked)),
      log_(log) {}

PlaySession::~PlaySession() { context_.ports.remove(*this); }

void PlaySession::add_track(const media::TrackList::Place& place, const media::Track& track) {
    media::TrackList list = list_;
    list.add(place);
    const auto known = media::rtsp_track_at(list, list.size() - 1, track.codec, track.config.bytes());
    if (!known)
        return;
    list_ = list;
    tracks_.push_back(*known);
}

// A publisher that has announced one kind may be about to send the other: for this long after its first packet.
bool PlaySession::find_tracks() {
    constexpr MediaTime kOneKindAfter = std::chrono::milliseconds(500);
    list_ = {};
    tracks_.clear();
    if (!source_->is_published() || (!options_.rtmp_to_rtsp && !context_.published.contains(plan_.url)))
        return false;
    const MediaKindSet expected = source_->tracks().expected_kinds();
    for (const MediaKind kind : kOrder) {
        const media::Track* const first = source_->tracks().default_of(kind);
        const media::Track* const track = find_track(kind);
        if (track != nullptr && track == first)
            add_track({kind, true, {}}, *track);
        else if (track != nullptr)
            add_track({kind, false, track->id}, *track);
        else if (expected.has(kind) && (first == nullptr || request_rendition(*source_, asked_.rendition)))
            return false;
    }
    if (lacks_rendition())
        return true;  // to be refused
    // The description of an RTSP publisher has named all of its tracks.
    const bool is_described = context_.published.contains(plan_.url);
    const media::Ring& ring = source_->ring();
    const bool is_new = ring.first() == ring.next() || ring.newest().dts - ring.at(ring.first()).dts < kOneKindAfter;
    if (tracks_.empty() || (tracks_.size() < kOrder.size() && is_new && !is_described))
        return false;
    find_further_tracks();
    return true;
}

const media::Track* PlaySession::find_track(MediaKind kind) const {
    const media::Tracks& tracks = source_->tracks();
    const media::Track* const first = tracks.default_of(kind);
    return kind == MediaKind::video ? find_rendition(tracks.all(), first, asked_.rendition) : first;
}

// A rendition comes with all tracks of audio and without other tracks.
void PlaySession::find_further_tracks() {
    for (const media::Track& track : source_->tracks().all()) {
        const bool is_further = track.kind == MediaKind::audio
                                    ? &track != source_->tracks().default_of(track.kind)
                                    : asked_.rendition.empty() &&
                                          (track.kind == MediaKind::data || &track != source_->tracks().default_of(track.kind));
        if (is_further && track.rendition == media::RenditionId::none && !list_.is_full())
            add_track({track.kind, false, track.id}, track);
    }
}

Bytes PlaySession::config_at(std::size_t place) const {
    const media::TrackList::Place& at = list_[place];
    const media::Track* const track =
        at.is_default ? source_->tracks().default_of(at.kind) : source_->tracks().find(at.kind, at.id);
    return track == nullptr ? Bytes() : track->config.bytes();
}

// The player may arrive before the publisher, or before its rendition.
Result<void> PlaySession::wait_for_tracks(io::Deadline deadline) {
    Signal published;
    std::optional<PacketWatch> watch;
    const auto for_publisher = deadline.sooner(io::Deadline::after(options_.publisher_wait));
    const auto for_rendition = deadline.sooner(io::Deadline::after(kRenditionWait));
    for (;;) {
        if (find_tracks())
            return {};
        const bool is_missing = source_->is_published() && lacks_rendition();
        if (!watch)
            watch.emplace(*source_, published);
        const auto ready =
            TRY(peer_.stream().wait_ready(io::Interest::readable, &published, is_missing ? for_rendition : for_publisher));
        if (ready.timed_out)
            return is_missing ? missing_rendition() : Error(Errc::not_found, "there is no stream " + plan_.url);
        if (ready.readable)
            TRY(peer_.read_piece());
    }
}

Result<void> PlaySession::refuse(const Error& error, io::Deadline deadline) {
    peer_.engine().refuse(status_for(error.code()), error.sentence());
    TRY(peer_.write_output(deadline));
    return error;
}

Result<void> PlaySession::describe(io::Deadline deadline) {
    if (auto known = wait_for_tracks(deadline); !known.ok())
        return known.code() == Errc::not_found ? refuse(known.error(), deadline) : std::move(known);
    if (lacks_rendition())
        return refuse(missing_rendition(), deadline);
    std::vector<wire::rtsp::TrackToDescribe> described;
    for (std::size_t place = 0; place < tracks_.size(); ++place) {
        const Track& track = tracks_[place];
        described.push_back({track.kind, track.codec, track.payload_type, track.clock_rate, track.channels, config_at(place)});
    }
    const auto text = wire::rtsp::write_description("Play", described);
    if (!text.ok())
        return refuse(text.error(), deadline);
    peer_.engine().accept_describe(*text, tracks_.size());
    return {};
}

// Media goes to the address of the connection only: no other one has asked for it.
Result<void> PlaySession::set_up_udp(std::size_t track, wire::rtsp::Transport& transport) {
    const auto ip = TRY(peer_.client_ip());
    TRY(context_.ports.add(ip, *transport.client_port, *this, track));
    transport.server_port = context_.ports.numbers();
    if (udp_ == nullptr)
        udp_ = std::make_unique<UdpSender>(context_.ports, context_.udp_fan_out);
    const std::uint8_t channel = media::rtsp_channel_of(track);
    udp_->set_address(channel, {ip, transport.client_port->rtp});
    udp_->set_address(channel + std::size_t{1}, {ip, transport.client_port->rtcp});
    return {};
}

Result<void> PlaySession::set_up(const rtsp::WantsToSetUp& asked) {
    wire::rtsp::Transport transport = asked.transport;
    if (transport.lower == wire::rtsp::Transport::Lower::udp) {
        if (const auto added = set_up_udp(asked.track, transport); added.ok())
            peer_.engine().accept_set_up(transport);
        else
            peer_.engine().refuse(wire::rtsp::status::kUnsupportedTransport);
        return {};
    }
    // All players of a stream share one log, and so its channels.
    const std::uint8_t channel = media::rtsp_channel_of(asked.track);
    transport.interleaved = wire::rtsp::NumberPair{channel, static_cast<std::uint16_t>(channel + 1)};
    peer_.engine().accept_set_up(transport);
    return {};
}

Result<void> PlaySession::run(io::Deadline deadline) { return TRY(negotiate(deadline)) ? stream(deadline) : Result<void>(); }

[[gnu::noinline]] Result<bool> PlaySession::negotiate(io::Deadline deadline) {
    TRY(describe(deadline));
    for (;;) {
        const auto event = TRY(peer_.next_event(deadline.sooner(io::Deadline::after(kSetUpLimit))));
        if (const auto* asked = std::get_if<rtsp::WantsToSetUp>(&event)) {
            TRY(set_up(*asked));
        } else if (const auto* again = std::get_if<rtsp::WantsToDescribe>(&event)) {
            if (again->url == asked_.url)
                TRY(describe(deadline));
            else
                peer_.engine().refuse(wire::rtsp::status::kWrongState);
        } else if (std::holds_alternative<rtsp::WantsToPlay>(event)) {
            return true;
        } else if (std::holds_alternative<rtsp::TornDown>(event)) {
            TRY(peer_.write_output(deadline));
            return false;
        }
    }
}

// The key frames of a rendition arrive later than those of the stream, where other players begin.
std::optional<media::Sequence> PlaySession::find_begin() const {
    const media::TrackList::Place& first = list_[0];
    if (first.kind != MediaKind::video || first.is_default)
        return std::nullopt;
    return source_->retention().newest_key_of({.audio = {}, .video = first.id});
}

// One-time steps have a frame of their own: the stack of a parked fiber should fit into one page.
[[gnu::noinline]] Result<void> PlaySession::prepare(io::Deadline deadline) {
    media::WireFormat format;
    format.container = media::kRtsp;
    format.tracks = media::TrackSelection::every;
    format.list = list_;
    for (std::size_t i = 0; i < tracks_.size(); ++i)
        if (peer_.engine().transport(i) != nullptr)
            format.list.set_up(i);
    if (source_->wire_logs().find(format) == nullptr)
        source_->wire_logs().set_unix_at_zero(unix_at_zero_of(*source_));
    media::WireLogHold hold(source_, format);
    TRY(catch_up(hold, deadline));
    cursor_.emplace(source_, format, std::vector<std::uint8_t>(), find_begin());
    const auto starts = find_starts();
    LOG_INFO(log_, "RTSP: PLAY url={}, transport={}, tracks={}, mw_sleep={}, streaming started", plan_.url,
             udp_ == nullptr ? "tcp" : "udp", starts.size(), plan_.play.mw_latency.count());
    peer_.engine().accept_play(starts);
    TRY(peer_.write_output(deadline));
    peer_.engine().release_buffers();
    if (udp_ != nullptr)
        return {};
    PlayerProtocol& protocol = *this;
    player_.emplace(peer_.stream(), *cursor_, context_.fan_out, plan_.play, protocol, peer_.traffic().sent_bytes, log_);
    return {};
}

Result<void> PlaySession::stream(io::Deadline deadline) {
    TRY(prepare(deadline));
    if (udp_ != nullptr)
        return stream_by_udp(deadline);
    end_watch_.emplace(source_, player_->wake());
    auto ended = player_->run(deadline);
    if (ended.ok() && is_over())
        LOG_INFO(log_, "the stream {} has ended", source_->url());
    return ended;
}

Result<void> PlaySession::stream_by_udp(io::Deadline deadline) {
    Signal wake;
    std::optional<PacketWatch> packets;  // while no cohort sends
    end_watch_.emplace(source_, wake);
    heard_ = io::now();
    for (;;) {
        if (is_over())
            udp_->leave_cohort();
        if (!udp_->has_cohort() && !packets)
            packets.emplace(*source_, wake);
        const bool has_more = udp_->send_some(*cursor_, source_);
        if (udp_->has_cohort())
            packets.reset();
        if (is_over() && !has_more) {
            udp_->send_goodbye(media::RtspWireEncoder::kSsrcBase);
            LOG_INFO(log_, "the stream {} has ended", source_->url());
            return {};
        }
        auto due = deadline.sooner(io::Deadline::at(io::silence_from(heard_) + kSilenceMax));
        if (has_more)
            due = due.sooner(io::Deadline::after(kPieceInterval));
        if (udp_->has_cohort())
            io::trim_stack();  // reading and sending use more stack than waiting
        const auto ready = TRY(peer_.stream().wait_ready(io::Interest::readable, has_more ? nullptr : &wake, due));
        if (ready.readable) {
            heard_ = io::now();
            TRY(peer_.read_piece());
            const Step step = TRY(handle_requests());
            TRY(peer_.write_output(deadline));
            if (step == Step::stopped)
                return {};
        }
        if (io::now() >= io::silence_from(heard_) + kSilenceMax)
            return Error(Errc::timed_out, "the player is silent");
    }
}

void PlaySession::on_datagram(std::size_t, bool, Bytes) { heard_ = io::now(); }

// Where each track begins for the player, as far as the log has it.
std::vector<rtsp::TrackStart> PlaySession::find_starts() {
    std::array<::iovec, 64> parts;
    const auto batch = cursor_->take(parts);
    std::vector<rtsp::TrackStart> starts;
    for (const FirstPacket& first : first_packets(std::span(parts).first(batch.spans), tracks_.size()))
        for (std::size_t i = 0; i < tracks_.size(); ++i)
            if (media::rtsp_channel_of(i) == first.channel)
                starts.push_back({i, first.sequence, first.timestamp});
    return starts;
}

Result<PlayerProtocol::Step> PlaySession::on_readable() {
    TRY(peer_.read_piece());
    const Step step = TRY(handle_requests());
    TRY(player_->answer(as_bytes(peer_.take_output())));
    return step;
}

void PlaySession::set_paused(bool paused) {
    if (player_)
        player_->set_paused(paused);
    else {
        udp_->leave_cohort();
        cursor_->set_paused(paused);
    }
}

Result<PlayerProtocol::Step> PlaySession::handle_requests() {
    Step step = Step::go_on;
    while (step == Step::go_on) {
        const auto event = TRY(peer_.engine().poll_event());
        if (!event)
            break;
        if (std::holds_alternative<rtsp::Paused>(*event)) {
            set_paused(true);
        } else if (std::holds_alternative<rtsp::WantsToPlay>(*event)) {
            peer_.engine().accept_play({});
            set_paused(false);
        } else if (std::holds_alternative<rtsp::TornDown>(*event)) {
            step = Step::stopped;
        } else if (std::holds_alternative<rtsp::WantsToSetUp>(*event)) {
            peer_.engine().refuse(wire::rtsp::status::kWrongState);
        }
    }
    return step;
}

// The stream is over only after its last frame, which may not have been encoded yet.
bool PlaySession::is_over() {
    return !source_->is_published() && !source_->publications().may_return() && source_->backlog().empty();
}

ClientFigures PlaySession::figures() const {
    ClientFigures figures = player_ ? player_->figures() : ClientFigures();
    if (udp_ != nullptr) {
        figures.sent_bytes = udp_->sent_bytes();
        figures.dropped_packets = cursor_ ? cursor_->dropped() : 0;
    }
    return figures;
}

}  // namespace live::session::rtsp
