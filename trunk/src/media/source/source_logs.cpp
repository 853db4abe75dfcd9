// The part of Source that keeps what its packets are encoded into: WireLogs, and RtpLogs with their converters.
#include "media/source/source.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "base/log/log_format.hpp"
#include "media/rtp/frames_to_rtp.hpp"
#include "media/wire_log/audio_wire_encoder.hpp"
#include "media/wire_log/flv_wire_encoder.hpp"
#include "media/wire_log/rtmp_wire_encoder.hpp"
#include "media/wire_log/ts_wire_encoder.hpp"

namespace live::media {

void Source::append_to_logs(const Packet& packet) {
    bool is_left = has_unencoded();
    for (HeldWireLog& held : wire_logs_) {
        if (held.wire_log->next() != ring_.next())
            continue;
        if (held.wire_log->encoder().is_slow(packet))
            is_left = true;
        else
            held.wire_log->append(packet);
    }
    if (convert(packet) == Converted::left)
        is_left = true;
    if (is_left)
        unencoded_bytes_ += std::max<std::size_t>(packet.payload.size(), 1);
}

// Encoding it all at once would hold the loop, so the publisher loses frames until the RestEncoder is done; video until the next
// key frame.
bool Source::is_outrun_by(const Packet& packet) {
    if (packet.kind == MediaKind::data || packet.is_config())
        return false;
    if (unencoded_bytes_ > kUnencodedMax && !std::exchange(is_outrun_, true))
        LOG_WARN(conversion_log_, "the publisher of {} sends faster than its frames are encoded: some are dropped", url_);
    if (!is_outrun_)
        return false;
    if (has_unencoded() || (packet.kind == MediaKind::video && !packet.key)) {
        ++counters_.dropped_packets;
        return true;
    }
    is_outrun_ = packet.kind != MediaKind::video;
    return false;
}

void Source::encode_some() {
    for (HeldWireLog& held : wire_logs_)
        if (held.has_caught_up && held.wire_log->next() < ring_.next()) {
            catch_up(held, kCatchUpBytes);
            return;
        }
    for (HeldRtpLog& held : rtp_logs_)
        if (held.has_caught_up && held.converter != nullptr && held.next < ring_.next()) {
            catch_up(held, 1);
            return;
        }
    unencoded_bytes_ = 0;
}

void Source::have_rest_encoded() {
    if (has_unencoded() && (rest_encoder_ == nullptr || !rest_encoder_->add(*this)))
        encode_rest();
}

void Source::encode_rest() {
    while (has_unencoded())
        encode_some();
}

void Source::set_chunk_size(std::uint32_t bytes) {
    next_chunk_size_ = bytes;
    if (readers() == 0)
        chunk_size_ = bytes;
}

std::unique_ptr<WireEncoder> Source::encoder_for(const WireFormat& format) const {
    switch (format.container) {
        case Container::flv: return std::make_unique<FlvWireEncoder>(format.framing, format.kinds);
        case Container::ts:
            return std::make_unique<TsWireEncoder>(format.framing, config(MediaKind::audio), config(MediaKind::video));
        case Container::aac: return std::make_unique<AudioWireEncoder>(format.framing, Codec::aac, config(MediaKind::audio));
        case Container::mp3: return std::make_unique<AudioWireEncoder>(format.framing, Codec::mp3, config(MediaKind::audio));
        case Container::rtmp: break;
    }
    return std::make_unique<RtmpWireEncoder>(chunk_size_);
}

WireLog& Source::hold_wire_log(const WireFormat& format, bool catches_up, Audience audience) {
    auto held = std::ranges::find(wire_logs_, format, &HeldWireLog::format);
    if (held == wire_logs_.end()) {
        if (format.container == Container::rtmp)
            chunk_size_ = next_chunk_size_;
        wire_logs_.push_back({format, std::make_unique<WireLog>(encoder_for(format), pool_, ring_.first(), format.tracks), 0});
        ++attached_;
        held = std::prev(wire_logs_.end());
    }
    if (!catches_up)
        catch_up(*held, std::numeric_limits<std::size_t>::max());
    ++held->holders;
    if (audience == Audience::none)
        ++unwatched_holders_;
    note_viewers();
    return *held->wire_log;
}

bool Source::catch_up_wire_log(const WireFormat& format, std::size_t bytes) {
    const auto held = std::ranges::find(wire_logs_, format, &HeldWireLog::format);
    return held == wire_logs_.end() || catch_up(*held, bytes);
}

bool Source::catch_up(HeldWireLog& held, std::size_t bytes) const {
    const bool has_all = held.wire_log->catch_up(ring_, bytes);
    held.has_caught_up = held.has_caught_up || has_all;
    return has_all;
}

void Source::release_wire_log(const WireFormat& format, Audience audience) {
    const auto held = std::ranges::find(wire_logs_, format, &HeldWireLog::format);
    CHECK(held != wire_logs_.end());
    if (--held->holders == 0) {
        wire_logs_.erase(held);
        --attached_;
    }
    if (audience == Audience::none)
        --unwatched_holders_;
    note_viewers();
}

WireLog* Source::wire_log(const WireFormat& format) const {
    const auto held = std::ranges::find(wire_logs_, format, &HeldWireLog::format);
    return held == wire_logs_.end() ? nullptr : held->wire_log.get();
}

RtpLog& Source::hold_rtp_log(const TrackChoice& choice) {
    auto held = std::ranges::find(rtp_logs_, choice, &HeldRtpLog::choice);
    if (held == rtp_logs_.end()) {
        rtp_logs_.push_back({choice, std::make_unique<RtpLog>(), nullptr, 0});
        ++attached_;
        held = std::prev(rtp_logs_.end());
    }
    ++held->holders;
    start_conversion(*held);
    note_viewers();
    return *held->rtp_log;
}

RtpLog* Source::rtp_log(const TrackChoice& choice) const {
    const auto held = std::ranges::find(rtp_logs_, choice, &HeldRtpLog::choice);
    return held == rtp_logs_.end() ? nullptr : held->rtp_log.get();
}

const FramesToRtp* Source::frames_to_rtp() const {
    const auto held = std::ranges::find(rtp_logs_, TrackChoice(), &HeldRtpLog::choice);
    return held == rtp_logs_.end() ? nullptr : held->converter.get();
}

bool Source::has_listeners_at_once() const {
    return !listeners_.empty() ||
           std::ranges::any_of(rtp_logs_, [](const HeldRtpLog& held) { return held.rtp_log->has_listeners(); });
}

void Source::set_conversion(AudioTranscoders* transcoders, const Log& log) {
    transcoders_ = transcoders;
    conversion_log_ = log;
}

Source::Converted Source::convert(const Packet& packet) {
    const bool is_slow = packet.kind == MediaKind::video && packet.payload.size() >= WireEncoder::kSlowBytes;
    Converted converted = Converted::all;
    for (HeldRtpLog& held : rtp_logs_) {
        start_conversion(held);
        if (held.converter == nullptr)
            continue;
        const bool is_behind = has_unencoded() && held.next < ring_.next();
        if (is_behind || (is_slow && held.choice.has(packet))) {
            converted = Converted::left;
            continue;
        }
        if (!catch_up(held, kCatchUpBytes))
            continue;
        held.next = ring_.next() + 1;
        if (held.choice.has(packet))
            held.converter->push(packet);
    }
    return converted;
}

bool Source::catch_up_rtp_log(const TrackChoice& choice, std::size_t bytes) {
    const auto held = std::ranges::find(rtp_logs_, choice, &HeldRtpLog::choice);
    return held == rtp_logs_.end() || held->converter == nullptr || catch_up(*held, bytes);
}

// Old audio would be dropped anyway, so only what has come since the start is converted.
bool Source::catch_up(HeldRtpLog& held, std::size_t bytes) const {
    if (held.next < ring_.first())
        held.next = newest_key_of(held.choice).value_or(ring_.next());
    for (std::size_t sum = 0; held.next < ring_.next() && sum < bytes; ++held.next) {
        const Packet& packet = ring_.at(held.next);
        const bool is_wanted =
            packet.kind == MediaKind::video || (packet.kind == MediaKind::audio && held.next >= held.audio_from);
        if (!is_wanted || !held.choice.has(packet))
            continue;
        held.converter->push(packet);
        sum += packet.payload.size();
    }
    held.has_caught_up = held.has_caught_up || held.next == ring_.next();
    return held.next == ring_.next();
}

const Packet* Source::config_for(const TrackChoice& choice, MediaKind kind) const {
    const std::optional<TrackId>& named = kind == MediaKind::audio ? choice.audio : choice.video;
    const Packet* const config = named ? config_of(kind, *named) : &configs_[index_of(kind)];
    return config != nullptr && config->is_config() ? config : nullptr;
}

// GOPs are tracked only for the default video track.
std::optional<Sequence> Source::newest_key_of(const TrackChoice& choice) const {
    if (!choice.video)
        return gop_start();
    for (Sequence at = ring_.next(); at > std::max(ring_.first(), published_from_); --at)
        if (const Packet& packet = ring_.at(at - 1); packet.kind == MediaKind::video && packet.key && choice.has(packet))
            return at - 1;
    return std::nullopt;
}

// Starts with the frames since the newest key frame, so that the first player has video at once.
void Source::start_conversion(HeldRtpLog& held) {
    if (held.converter != nullptr || !options_.bridge.rtmp_to_rtc || publication_ == nullptr || brings_rtp())
        return;
    held.converter = std::make_unique<FramesToRtp>(*held.rtp_log, options_.bridge, transcoders_, conversion_log_);
    for (const MediaKind kind : {MediaKind::video, MediaKind::audio}) {
        if (const Packet* const config = config_for(held.choice, kind)) {
            Packet packet = *config;
            packet.dts = timeline_.newest();
            held.converter->push(packet);
        }
    }
    const auto key = newest_key_of(held.choice);
    held.has_caught_up = false;
    held.audio_from = ring_.next();
    held.next = key && *key >= published_from_ ? *key : ring_.next();
    catch_up(held, kCatchUpBytes);
}

void Source::release_rtp_log(const TrackChoice& choice) {
    const auto held = std::ranges::find(rtp_logs_, choice, &HeldRtpLog::choice);
    CHECK(held != rtp_logs_.end());
    if (--held->holders == 0) {
        rtp_logs_.erase(held);
        --attached_;
    }
    note_viewers();
}

}  // namespace live::media
