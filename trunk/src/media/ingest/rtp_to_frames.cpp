#include "media/ingest/rtp_to_frames.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/byte_writer.hpp"
#include "wire/amf/amf.hpp"

namespace live::media {

namespace amf = wire::amf;

namespace {

// A frame may be stamped slightly before the first packet, because audio encoders look ahead. The source's timeline starts at its
// first stamp, wherever that is.
constexpr std::int64_t kStampBase = 1'000;

std::uint32_t stamp_of(MediaTime time) { return static_cast<std::uint32_t>(to_ms(time) + kStampBase); }

}  // namespace

RtpToFrames::RtpToFrames(Publication& publication, RtpLog& rtp_log, const PublishOptions& options, AudioTranscoders* transcoders,
                         const Log& log)
    : publication_(publication),
      rtp_log_(rtp_log),
      ingest_(publication, publication.source().options(), options, log),
      video_(log),
      audio_(publication.source().options().bridge, transcoders, *this, log),
      next_(rtp_log.next()),
      key_frame_period_(publication.source().options().bridge.pli_for_rtmp) {
    rtp_log_.add_listener(*this);
}

RtpToFrames::~RtpToFrames() { rtp_log_.remove_listener(*this); }

void RtpToFrames::on_rtp() {
    if (!publication_.is_current())
        return;
    watch_tracks();
    for (next_ = std::max(next_, rtp_log_.first()); next_ < rtp_log_.next(); ++next_)
        take(rtp_log_.at(next_));
    publication_.source().flush();
}

void RtpToFrames::on_audio() {
    if (!publication_.is_current())
        return;
    audio_.collect();
    push_audio();
    publication_.source().flush();
}

void RtpToFrames::watch_tracks() {
    if (version_ == rtp_log_.version())
        return;
    version_ = rtp_log_.version();
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video}) {
        const RtpTrack* track = rtp_log_.track(kind);
        auto& known = tracks_[index_of(kind)];
        if (track == nullptr || known == *track)
            continue;
        known = *track;
        if (kind == MediaKind::audio)
            audio_.set_track(*track);
        else
            video_.set_track(*track);
    }
}

void RtpToFrames::take(const RtpPacket& packet) {
    publication_.source().set_arrival(packet.arrived);
    std::uint64_t& sequence = sequences_[index_of(packet.kind)];
    sequence += static_cast<std::uint16_t>(packet.sequence - static_cast<std::uint16_t>(sequence));
    if (packet.kind == MediaKind::audio) {
        audio_.push(packet);
        push_audio();
        return;
    }
    video_.push({sequence, packet.timestamp, packet.marker, packet.payload.bytes()}, packet.time);
    push_video();
    care_for_key_frames(packet);
}

void RtpToFrames::push_video() {
    while (auto frame = video_.poll()) {
        if (frame->content == Content::config)
            push_metadata(frame->dts);
        const auto stamp_ms = stamp_of(frame->dts);
        ingest_.push_frame(MediaKind::video, stamp_ms, *std::move(frame));
    }
}

void RtpToFrames::push_audio() {
    while (auto frame = audio_.poll()) {
        // If video is expected, the metadata waits until its codec is known.
        if (!has_metadata_ && rtp_log_.track(MediaKind::video) == nullptr)
            push_metadata(frame->dts);
        const auto stamp_ms = stamp_of(frame->dts);
        ingest_.push_frame(MediaKind::audio, stamp_ms, *std::move(frame));
    }
}

void RtpToFrames::push_metadata(MediaTime time) {
    has_metadata_ = true;
    amf::Value values = amf::Value::ecma_array();
    if (video_.codec() != Codec::none) {
        values.set("width", amf::Value(double{video_.picture().width * 1.0}));
        values.set("height", amf::Value(double{video_.picture().height * 1.0}));
        values.set("videocodecid", amf::Value(metadata_id_of(video_.codec())));
    }
    if (audio_.codec() != Codec::none) {
        values.set("audiocodecid", amf::Value(metadata_id_of(audio_.codec())));
        values.set("audiosamplerate", amf::Value(48'000.0));
        values.set("audiosamplesize", amf::Value(16.0));
        values.set("stereo", amf::Value(true));
    }
    ByteWriter out;
    amf::write_amf0(out, amf::Value("onMetaData"));
    amf::write_amf0(out, values);
    ingest_.push_data(stamp_of(time), Slice::copy_of(out.written()));
}

// Frames are usable only from a key frame on, and segments are cut at key frames; a WebRTC encoder makes one only on request.
void RtpToFrames::care_for_key_frames(const RtpPacket& packet) {
    if (!key_frame_at_ || packet.begins_key)
        key_frame_at_ = packet.arrived;
    const auto since = packet.arrived - *key_frame_at_;
    const bool is_needed = since >= kKeyRequestInterval && video_.take_key_frame_request();
    if (!is_needed && since < key_frame_period_)
        return;
    key_frame_at_ = packet.arrived;
    rtp_log_.want_key_frame();
}

}  // namespace live::media
