#include "session/rtc/play_session.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/ascii.hpp"
#include "io/fibers/loop.hpp"
#include "media/rtp/rtp_layers.hpp"
#include "session/common/join.hpp"
#include "session/fan_out/rendition_wait.hpp"

namespace live::session::rtc {

namespace {

// The default track is not named, so that all its players share an RTP log. A stream that is not published yet may have any
// track.
Result<void> fit_track(const media::Source& source, MediaKind kind, std::optional<media::TrackId>& named) {
    if (!named || !source.is_published())
        return {};
    const media::Track* const first = source.tracks().default_of(kind);
    if (source.publications().brings_rtp() ? *named == media::TrackId() : first != nullptr && first->id == *named)
        named.reset();
    else if (source.publications().brings_rtp() || (first != nullptr && source.tracks().find(kind, *named) == nullptr))
        return Error(Errc::not_found, fmt::format("the stream has no {} track {}", kind == MediaKind::audio ? "audio" : "video",
                                                  static_cast<unsigned>(*named)));
    return {};
}

const media::Track* video_named(const media::Source& source, std::string_view name) {
    return find_rendition(source.tracks().all(), source.tracks().default_of(MediaKind::video), name);
}

// A rendition is a layer of the publisher, or a video track with that name; "source" is the stream itself. A track of another
// codec than the stream's cannot be a layer.
Result<void> fit_rendition(const media::Source& source, const std::string& name, media::TrackChoice& wanted) {
    if (name.empty() || name == media::kSourceRendition || !source.is_published())
        return {};
    if (const media::RtpLog* const log = source.rtp_logs().find(); source.publications().brings_rtp()) {
        if (log->layers() != nullptr && log->layers()->find(name))
            return {};
    } else if (const media::Track* const track = video_named(source, name); track != nullptr) {
        const media::Track* const first = source.tracks().default_of(MediaKind::video);
        if (first == nullptr || first->codec != track->codec)
            wanted.video = track->id;
        return {};
    }
    return Error(Errc::not_found, fmt::format("the stream has no rendition {}", name));
}

Result<media::TrackChoice> tracks_of(const media::Source& source, media::TrackChoice wanted) {
    TRY(fit_track(source, MediaKind::audio, wanted.audio));
    TRY(fit_track(source, MediaKind::video, wanted.video));
    return wanted;
}

}  // namespace

PlaySession::PlaySession(Context& context, ClientRequest request, RtcOptions options, std::string ufrag, std::string token)
    : SessionPeer(context, std::move(request), std::move(options), std::move(ufrag), std::move(token)),
      layers_(context.port.shared()) {}

PlaySession::~PlaySession() {
    if (group_ != nullptr && layers_.follow(group_->rtp_log()))
        layers_.release();
    context().players.leave(*this);
    finish();
    admitted_.reset();
}

// A player that names a video track gets no other one.
void PlaySession::choose(const media::TrackChoice& tracks, std::string rendition) {
    tracks_ = tracks;
    rendition_ = tracks.video && rendition.empty() ? std::string(media::kSourceRendition) : std::move(rendition);
    layers_.keep_to(rendition_);
}

Result<void> PlaySession::admit(io::Deadline deadline) {
    auto served = context().admission.serve_play(request(), deadline);
    if (!served.ok())
        return served.error();
    if (auto* elsewhere = std::get_if<Redirect>(&*served)) {
        set_redirect(std::move(*elsewhere));
        return {};
    }
    mutable_plan() = std::get<StreamPlan>(*std::move(served));
    admitted_.emplace(context().events, request(), plan());
    const auto source = TRY(context().streams.find_or_create(plan().url, plan().play, plan().chunk_size));
    if (source->is_published() && !source->publications().brings_rtp() && !options().rtmp_to_rtc)
        return Error(Errc::unsupported, "the stream is not published by WebRTC, and rtmp_to_rtc is off");
    source->set_options(plan().play);
    TRY(await_rendition(source, deadline));
    TRY(fit_rendition(*source, rendition_, tracks_));
    tracks_ = TRY(tracks_of(*source, tracks_));
    return join(TRY(without_b_frames(source, deadline)), deadline);
}

// The layers of a WebRTC publisher are not made on demand, and its renditions are not among them.
Result<void> PlaySession::await_rendition(const Ref<media::Source>& source, io::Deadline deadline) const {
    return !names_layer() || source->publications().brings_rtp() ? Result<void>()
                                                                 : wait_for_rendition(source, rendition_, deadline);
}

// Returns the version of the stream without B-frames, where the options request it and it exists.
Result<Ref<media::Source>> PlaySession::without_b_frames(const Ref<media::Source>& source, io::Deadline deadline) {
    const bool is_wanted =
        options().bframes == BFrames::transcode && context().plain_video != nullptr && !tracks_.video && !names_layer();
    if (!is_wanted || !source->is_published() || source->publications().brings_rtp() || !source->tracks().has_b_frames())
        return source;
    auto plain = context().plain_video->fetch_plain(request(), plan(), deadline);
    if (plain.ok() || plain.code() == Errc::cancelled)
        return plain;
    LOG_WARN(log(), "RTC: B-frames of {} are left out, because ffmpeg gives no other version: {}", plan().url,
             plain.error().sentence());
    return source;
}

Result<void> PlaySession::join(const Ref<media::Source>& source, io::Deadline deadline) {
    if (!source->rtp_logs().has_room_for(tracks_))
        return Error(Errc::limit, "players of this stream have chosen too many combinations of tracks");
    group_ = &context().players.join(source, *this, Packing::any, log(), tracks_);
    return catch_up([&](std::size_t bytes) { return source->rtp_logs().catch_up(tracks_, bytes); }, deadline);
}

Result<void> PlaySession::begin(const engine::dtls::Context& dtls, const engine::webrtc::SessionOptions& options) {
    engine_ = TRY(begin_as<engine::webrtc::PlaySession>(dtls, options));
    return {};
}

void PlaySession::play(const wire::sdp::Agreement& agreement) {
    for (const wire::sdp::Accepted& section : agreement.sections) {
        agreed_[index_of(section.kind)].codec = section.codec.name;
        if (section.codec.is("H264") && section.codec.parameter("packetization-mode") != "1")
            take_single_nal_units();
    }
    version_ = group_->rtp_log().version();
    LOG_INFO(log(), "RTC: start play url={}, session={}", plan().url, session_id());
}

// Moves to the group for single NAL units, which has no layers; the RTP log stays held meanwhile.
void PlaySession::take_single_nal_units() {
    const Ref<media::Source> source(&group_->source());
    const media::TrackChoice before = tracks_;
    source->rtp_logs().hold(before);
    context().players.leave(*this);
    if (const auto* const track =
            names_layer() && !source->publications().brings_rtp() ? video_named(*source, rendition_) : nullptr)
        tracks_.video = track->id;
    group_ = &context().players.join(source, *this, Packing::single_nal, log(), tracks_);
    source->rtp_logs().release(before);
}

void PlaySession::on_established(TimePoint) { context().players.wake(*this); }

void PlaySession::add_hot_lines(HotLines& lines) const {
    add_own_hot_lines(lines);
    lines.add_range(engine_, was_left_out_);
    add_peer_hot_lines(lines);
    if (engine_ == nullptr)
        return;
    engine_->add_hot_lines(lines);
    if (const auto to = engine_->selected())
        context().port.add_hot_lines(*to, lines);
}

void PlaySession::drain(TimePoint now) {
    media::RtpLog& rtp_log = group_->rtp_log();
    const bool has_layers = layers_.follow(rtp_log);
    for (const auto& [kind, number] : engine_->take_nacks())
        if (number.layer != 0)
            layers_.resend(now, number, *engine_);
        else if (const auto* packet = rtp_log.find(kind, number.sequence))
            engine_->resend(now, kind, header_of(*packet), packet->payload.bytes());
    if (!engine_->take_key_frame_request() || agreed_[index_of(MediaKind::video)].codec.empty())
        return;
    if (has_layers)
        layers_.want_key_frame();
    else
        rtp_log.want_key_frame();
}

std::optional<LinkFigures> PlaySession::link_figures() const {
    if (engine_ == nullptr)
        return std::nullopt;
    const auto figures = engine_->figures();
    return LinkFigures{"rtc",
                       {{"layer", layers_.name()},
                        {"layer_changes", layers_.changes()},
                        {"estimate_kbps", figures.estimated_rate / 1'000},
                        {"loss", figures.loss},
                        {"rtt_ms", std::chrono::duration<double, std::milli>(figures.round_trip).count()}}};
}

// A publisher may return with another codec, but the negotiated one is final.
bool PlaySession::fits_tracks() {
    const media::RtpLog& rtp_log = group_->rtp_log();
    if (version_ == rtp_log.version())
        return true;
    version_ = rtp_log.version();
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video}) {
        const std::string& codec = agreed_[index_of(kind)].codec;
        const auto* track = rtp_log.track(kind);
        if (track == nullptr || codec.empty() || ascii::are_same(track->codec, codec))
            continue;
        end(Error(Errc::unsupported, fmt::format("the stream's {} codec is {} now, the player negotiated {}",
                                                 kind == MediaKind::audio ? "audio" : "video", track->codec, codec)));
        return false;
    }
    return true;
}

// Joins at the newest key frame, whose audio is old. If that is too old, requests a new one from publishers that support it.
void PlaySession::join_rtp_log(TimePoint now) {
    media::RtpLog& rtp_log = group_->rtp_log();
    next_ = next_audio_ = rtp_log.next();
    has_joined_ = is_catching_up_ = true;
    const auto key = rtp_log.gop_start();
    waits_for_key_ = !key || (group_->source().publications().brings_rtp() && now - rtp_log.at(*key).arrived > kKeyAgeMax);
    if (waits_for_key_)
        rtp_log.want_key_frame();
    else
        next_ = *key;
}

void PlaySession::skip_to_key(TimePoint now) {
    media::RtpLog& rtp_log = group_->rtp_log();
    const auto key = rtp_log.gop_start();
    const bool is_fresh = key && *key > next_ && now - rtp_log.at(*key).arrived <= kBehindMax;
    const media::Sequence to = is_fresh ? *key : rtp_log.next();
    count_lost(unsent_before(to));
    next_ = to;
    waits_for_key_ = !is_fresh;
    if (is_fresh)
        is_catching_up_ = false;
    else
        rtp_log.want_key_frame();
    next_audio_ = std::max(next_audio_, rtp_log.first());
}

// Unsent video, and audio that was not sent ahead of it.
std::uint64_t PlaySession::unsent_before(media::Sequence to) const {
    const media::RtpLog& rtp_log = group_->rtp_log();
    std::uint64_t unsent = rtp_log.first() - std::min(next_, rtp_log.first());
    for (media::Sequence at = std::max(next_, rtp_log.first()); at < to; ++at)
        if (rtp_log.at(at).kind == MediaKind::video || at >= next_audio_)
            ++unsent;
    return unsent;
}

// A new player starts with old media and catches up as fast as possible: packets that it skips until then do not count as lost.
void PlaySession::count_lost(std::uint64_t packets) {
    if (is_catching_up_)
        return;
    count_dropped(packets);
    group_->source().count_dropped(packets);
}

// If the current GOP is old, but a new player starts at it because there is no newer one, it is sent as fast as the link
// permits.
bool PlaySession::is_far_behind(TimePoint now) {
    media::RtpLog& rtp_log = group_->rtp_log();
    if (next_ < rtp_log.first())
        return true;
    if (next_ == rtp_log.next() || now - rtp_log.at(next_).arrived <= kBehindMax)
        return false;
    if (rtp_log.gop_start().value_or(0) > next_)
        return true;
    rtp_log.want_key_frame();
    return false;
}

std::optional<TimePoint> PlaySession::serve(TimePoint now) {
    if (!is_running() || is_half_open() || !fits_tracks())
        return std::nullopt;
    if (!has_joined_)
        join_rtp_log(now);
    if (context().players.is_dropping()) {
        leave_out();
        return std::nullopt;
    }
    if (layers_.follow(group_->rtp_log()))
        return serve_layers(now);
    if (std::exchange(was_left_out_, false))
        group_->rtp_log().want_key_frame();
    if (is_far_behind(now))
        skip_to_key(now);
    // Audio never waits, so it may be sent ahead of a delayed frame.
    const media::RtpLog& rtp_log = group_->rtp_log();
    bool is_blocked = false;
    for (media::Sequence at = next_; at < rtp_log.next(); ++at) {
        const media::RtpPacket& packet = rtp_log.at(at);
        if (packet.kind == MediaKind::audio) {
            if (at >= next_audio_)
                send(now, packet);
        } else if (!is_blocked) {
            if (waits_for_key_ && !packet.begins_key) {
                count_lost(1);
                continue;
            }
            if (!engine_->may_send(now, MediaKind::video)) {
                is_blocked = true;
                next_ = at;
                // Audio before next_audio_ was already sent; look only for newer.
                at = std::max(at + 1, next_audio_) - 1;
                continue;
            }
            waits_for_key_ = false;
            has_video_ = true;
            send(now, packet);
        }
    }
    next_audio_ = rtp_log.next();
    if (!is_blocked) {
        next_ = rtp_log.next();
        is_catching_up_ = is_catching_up_ && waits_for_key_;
    }
    return is_blocked ? engine_->next_send(now) : std::nullopt;
}

// Audio comes from the stream's own log, video from that of a layer.
std::optional<TimePoint> PlaySession::serve_layers(TimePoint now) {
    const media::RtpLog& rtp_log = group_->rtp_log();
    for (media::Sequence at = std::max(next_audio_, rtp_log.first()); at < rtp_log.next(); ++at)
        if (const media::RtpPacket& packet = rtp_log.at(at); packet.kind == MediaKind::audio)
            send(now, packet);
    if (std::exchange(has_video_, false)) {
        layers_.continue_from(now, rtp_log, next_);
        if (waits_for_key_)
            layers_.leave_out();
    }
    next_ = next_audio_ = rtp_log.next();
    waits_for_key_ = true;  // should the next publisher have no layers
    if (std::exchange(was_left_out_, false))
        layers_.want_key_frame();
    const auto again = agreed_[index_of(MediaKind::video)].codec.empty() ? std::nullopt : layers_.serve(now, *engine_);
    count_lost(layers_.take_lost());
    is_catching_up_ = false;
    return again;
}

// Drops everything pending, including audio.
void PlaySession::leave_out() {
    if (layers_.follow(group_->rtp_log()))
        layers_.leave_out();
    const media::Sequence end = group_->rtp_log().next();
    count_lost(unsent_before(end));
    next_ = next_audio_ = end;
    waits_for_key_ = was_left_out_ = true;
}

void PlaySession::send(TimePoint now, const media::RtpPacket& packet) {
    engine_->send(now, packet.kind, header_of(packet), packet.payload.bytes());
}

}  // namespace live::session::rtc
