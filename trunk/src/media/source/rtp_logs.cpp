#include "media/source/rtp_logs.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"
#include "media/ring/rendition_names.hpp"
#include "media/rtp/frames_to_rtp.hpp"
#include "media/rtp/rtp_layers.hpp"

namespace live::media {

namespace {

// The video tracks among which players may change: those of the default one's codec, with their configurations.
std::vector<TrackLayers::Track> layer_tracks(const Tracks& tracks) {
    std::vector<TrackLayers::Track> found;
    const Track* const first = tracks.default_of(MediaKind::video);
    if (first == nullptr || !tracks.has_default(MediaKind::video))
        return found;
    found.push_back({first->id, std::string(kSourceRendition), nullptr});
    for (const Track& track : tracks.all()) {
        if (track.kind != MediaKind::video || &track == first || track.codec != first->codec)
            continue;
        const Packet* const config = tracks.config_of(MediaKind::video, track.id);
        if (config != nullptr || track.codec == Codec::vp8)
            found.push_back({track.id, rendition_name(tracks.all(), track), config});
    }
    return found;
}

// `packet` is the next one of the ring.
void push_layers(FramesToRtp& converter, const Packet& packet, const RtpLogs::Parts& parts, const TrackChoice& choice) {
    if (converter.layers() != nullptr && (packet.kind == MediaKind::video || choice.has(packet)))
        converter.layers()->push(packet);
    if (converter.tracks_version() != parts.tracks.version())
        converter.set_tracks(layer_tracks(parts.tracks), parts.tracks.version(),
                             {parts.retention.ring(), parts.retention.published_from()});
}

}  // namespace

RtpLogs::RtpLogs(const Parts& parts) : parts_(parts) {}

RtpLogs::~RtpLogs() { CHECK(logs_.empty()); }

RtpLogs::Held& RtpLogs::hold_log(const TrackChoice& choice) {
    auto held = std::ranges::find(logs_, choice, &Held::choice);
    if (held == logs_.end()) {
        logs_.push_back({choice, std::make_unique<RtpLog>(), nullptr, 0});
        parts_.readers.add_log();
        held = std::prev(logs_.end());
    }
    ++held->holders;
    return *held;
}

void RtpLogs::release_log(const TrackChoice& choice) {
    const auto held = std::ranges::find(logs_, choice, &Held::choice);
    CHECK(held != logs_.end());
    if (--held->holders == 0) {
        // It refers to its log, which erase() would destroy first.
        held->converter.reset();
        logs_.erase(held);
        parts_.readers.remove_log();
    }
}

RtpLog& RtpLogs::hold(const TrackChoice& choice) {
    Held& held = hold_log(choice);
    RtpLog& rtp_log = *held.rtp_log;
    start_conversion(held);
    parts_.readers.add_log_reader(Audience::some);
    return rtp_log;
}

void RtpLogs::release(const TrackChoice& choice) {
    release_log(choice);
    parts_.readers.remove_log_reader(Audience::some);
}

RtpLog& RtpLogs::hold_for_writer() { return *hold_log({}).rtp_log; }

void RtpLogs::release_for_writer() { release_log({}); }

RtpLog* RtpLogs::find(const TrackChoice& choice) const {
    const auto held = std::ranges::find(logs_, choice, &Held::choice);
    return held == logs_.end() ? nullptr : held->rtp_log.get();
}

const FramesToRtp* RtpLogs::converter() const {
    const auto held = std::ranges::find(logs_, TrackChoice(), &Held::choice);
    return held == logs_.end() ? nullptr : held->converter.get();
}

bool RtpLogs::has_listeners() const {
    return std::ranges::any_of(logs_, [](const Held& held) { return held.rtp_log->has_listeners(); });
}

std::size_t RtpLogs::held_bytes() const {
    std::size_t sum = 0;
    for_each([&sum](const RtpLog& rtp_log) {
        sum += rtp_log.held_bytes() + (rtp_log.layers() == nullptr ? 0 : rtp_log.layers()->held_bytes());
    });
    return sum;
}

void RtpLogs::set_conversion(AudioTranscoders* transcoders, const Log& log) {
    transcoders_ = transcoders;
    log_ = log;
}

void RtpLogs::start_publisher() {
    for (Held& held : logs_)
        held.converter.reset();
}

void RtpLogs::end_publisher() {
    for (Held& held : logs_)
        if (held.converter != nullptr && held.converter->is_idle())
            held.converter.reset();
}

RtpLogs::Converted RtpLogs::append(const Packet& packet, bool is_lagging) {
    const Sequence at = parts_.retention.ring().next();
    const bool is_slow = packet.kind == MediaKind::video && packet.payload.size() >= WireEncoder::kSlowBytes;
    Converted converted = Converted::all;
    for (Held& held : logs_) {
        start_conversion(held);
        if (held.converter == nullptr)
            continue;
        if (!held.choice.video &&
            (held.converter->layers() != nullptr || held.converter->tracks_version() != parts_.tracks.version()))
            push_layers(*held.converter, packet, parts_, held.choice);
        if ((is_lagging && held.next < at) || (is_slow && held.choice.has(packet))) {
            converted = Converted::left;
            continue;
        }
        if (held.next != at && !catch_up(held, WireLogs::kCatchUpBytes))
            continue;
        held.next = at + 1;
        if (held.choice.has(packet))
            held.converter->push(packet);
    }
    return converted;
}

bool RtpLogs::convert_some() {
    for (Held& held : logs_)
        if (held.has_caught_up && held.converter != nullptr && held.next < parts_.retention.ring().next()) {
            catch_up(held, 1);
            return true;
        }
    return false;
}

bool RtpLogs::catch_up(const TrackChoice& choice, std::size_t bytes) {
    const auto held = std::ranges::find(logs_, choice, &Held::choice);
    return held == logs_.end() || held->converter == nullptr || catch_up(*held, bytes);
}

// Old audio would be dropped anyway, so only audio that arrived since the start is converted.
bool RtpLogs::catch_up(Held& held, std::size_t bytes) const {
    const Ring& ring = parts_.retention.ring();
    if (held.next < ring.first())
        held.next = parts_.retention.newest_key_of(held.choice).value_or(ring.next());
    for (std::size_t sum = 0; held.next < ring.next() && sum < bytes; ++held.next) {
        const Packet& packet = ring.at(held.next);
        const bool is_wanted =
            packet.kind == MediaKind::video || (packet.kind == MediaKind::audio && held.next >= held.audio_from);
        if (!is_wanted || !held.choice.has(packet))
            continue;
        held.converter->push(packet);
        sum += packet.payload.size();
    }
    held.has_caught_up = held.has_caught_up || held.next == ring.next();
    return held.next == ring.next();
}

// Starts with the frames since the newest key frame, so that the first player has video at once.
void RtpLogs::start_conversion(Held& held) {
    const Publications& publications = parts_.publications;
    if (held.converter != nullptr || !parts_.options.bridge.rtmp_to_rtc || !publications.is_published() ||
        publications.brings_rtp())
        return;
    const Retention& retention = parts_.retention;
    held.converter = std::make_unique<FramesToRtp>(*held.rtp_log, parts_.options.bridge, transcoders_, log_);
    for (const MediaKind kind : {MediaKind::video, MediaKind::audio}) {
        if (const Packet* const config = parts_.tracks.config_of(kind, held.choice)) {
            Packet packet = *config;
            packet.dts = parts_.timeline.newest();
            held.converter->push(packet);
        }
    }
    const auto key = retention.newest_key_of(held.choice);
    held.has_caught_up = false;
    held.audio_from = retention.ring().next();
    held.next = key && *key >= retention.published_from() ? *key : retention.ring().next();
    catch_up(held, WireLogs::kCatchUpBytes);
    if (!held.choice.video)
        held.converter->set_tracks(layer_tracks(parts_.tracks), parts_.tracks.version(),
                                   {retention.ring(), retention.published_from()});
}

}  // namespace live::media
