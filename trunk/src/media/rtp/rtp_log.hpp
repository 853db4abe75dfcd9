// RtpLog: the second log of a source, RTP payloads in the order they are to be sent. An RTP publisher fills it directly; for any
// other publisher a converter fills it while somebody holds the log. Each packet is prepared once: a player's copy differs only
// in its header. Sent packets are kept for a while, so that players can request retransmission.
//
// A packet has two numbers: its 64-bit position in the RTP log, which never wraps, and its track's RTP sequence number, which has
// a gap only where the writer lost something for good. Both continue when one writer follows another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "media/ring/packet.hpp"
#include "media/ring/ring.hpp"

namespace live::media {

// One track of the RTP log.
struct RtpTrack {
    MediaKind kind = MediaKind::video;  // audio or video
    std::string codec;                  // as in SDP: "H264", "H265", "VP8", "VP9", "AV1", "opus"
    std::uint32_t clock_rate;           // Hz
    std::uint8_t channels;              // audio, else 0
    std::string format;                 // the part of a=fmtp after the payload type; may be empty

    bool operator==(const RtpTrack&) const = default;
};

struct RtpPacket {
    MediaKind kind = MediaKind::video;  // audio or video
    std::uint16_t sequence = 0;         // of its track; assigned by the RTP log
    std::uint32_t timestamp = 0;
    bool marker = false;
    bool begins_key = false;    // the first packet of a frame at which decoding can start
    bool follows_loss = false;  // something before it is lost: one number is skipped, so that readers notice
    Slice payload{};
    TimePoint arrived{};  // at this server
    MediaTime time{};     // of the frame, on one timeline for audio and video: sender reports are made of it
};

// Notified after every batch of packets. Must not suspend.
class RtpListener {
public:
    virtual void on_rtp() = 0;

protected:
    ~RtpListener() = default;
};

// The writer of the RTP log, which receives key frame requests. It limits their rate itself and may ignore them: an RTMP
// publisher cannot be asked.
class KeyFrameSource {
public:
    virtual void on_key_frame_wanted() = 0;

protected:
    ~KeyFrameSource() = default;
};

// The RTP time of a place on a source's timeline: 32 bits that wrap. Writers that generate timestamps use it, so that timestamps
// continue when one writer follows another.
constexpr std::uint32_t rtp_timestamp(MediaTime time, std::uint32_t clock_rate) {
    constexpr std::int64_t kMicroseconds = 1'000'000;
    // In two parts: microseconds times the clock rate would overflow within months.
    const std::int64_t seconds = time.count() / kMicroseconds;
    const std::int64_t rest = time.count() % kMicroseconds;
    return static_cast<std::uint32_t>(seconds * clock_rate + rest * clock_rate / kMicroseconds);
}

class RtpLayers;

class RtpLog {
public:
    // Upper bounds; only packets of the newest GOP are kept longer than kHistory.
    static constexpr std::size_t kPacketsMax = 8'192;
    static constexpr std::size_t kBytesMax = 16U << 20;
    static constexpr std::chrono::seconds kHistory{3};

    RtpLog() = default;
    RtpLog(const RtpLog&) = delete;
    RtpLog& operator=(const RtpLog&) = delete;

    // The writer, one at a time. `source` (may be nullptr) receives key frame requests until the next writer starts or it ends.
    // No reader joins at packets of the previous writer.
    void start_writer(KeyFrameSource* source);
    // Ignored unless `source` is still the current one.
    void end_writer(KeyFrameSource* source);
    void set_track(RtpTrack track);
    // For a writer with simulcast: the layers of its video. They are known until it ends or the next writer starts.
    void set_layers(RtpLayers& layers) { layers_ = &layers; }
    // The SSRC the publisher uses for a track, if announced; valid until the next writer starts.
    void set_origin_ssrc(MediaKind kind, std::uint32_t ssrc) { origin_ssrcs_[index_of(kind)] = ssrc; }
    // Appends audio or video. The caller must not change the payload afterwards.
    void append(RtpPacket packet);
    // Ends a batch: notifies the listeners if anything was appended to this log, or to a layer.
    void flush();
    // For RtpLayers: a layer has got a packet, so that the next flush() notifies the listeners.
    void note_layer_packet() { has_layer_packets_ = true; }

    // For readers. `at` takes a number in [first, next).
    Sequence first() const { return first_; }
    Sequence next() const { return next_; }
    bool empty() const { return first_ == next_; }
    std::size_t size() const { return static_cast<std::size_t>(next_ - first_); }
    std::size_t bytes() const { return bytes_; }
    // The same plus the memory of the indexes.
    std::size_t held_bytes() const {
        return bytes_ + slots_.capacity() * sizeof(RtpPacket) + by_track_.size() * by_track_[0].capacity() * sizeof(Sequence);
    }
    const RtpPacket& at(Sequence sequence) const;
    // Looks up a packet by the sequence number a player is missing; nullptr if it was dropped or never existed. Valid until the
    // next append.
    const RtpPacket* find(MediaKind kind, std::uint16_t track_sequence) const;
    // The newest frame at which decoding can start, while all of it is kept. The audio between it and the newest packet is old:
    // a new reader sends the frames at once to catch up, and may skip that audio.
    std::optional<Sequence> gop_start() const { return gop_start_; }

    // nullptr if there is none so far.
    const RtpTrack* track(MediaKind kind) const;
    // 0 if unknown.
    std::uint32_t origin_ssrc(MediaKind kind) const { return origin_ssrcs_[index_of(kind)]; }
    // Counts track changes. After a change, a player's negotiated formats may not fit.
    std::uint32_t version() const { return version_; }
    // Counts writers.
    std::uint32_t writers() const { return writers_; }
    // nullptr unless the writer has layers.
    RtpLayers* layers() const { return layers_; }

    void add_listener(RtpListener& listener) { listeners_.push_back(&listener); }
    void remove_listener(RtpListener& listener) { std::erase(listeners_, &listener); }
    bool has_listeners() const { return !listeners_.empty(); }
    // A player lost a frame, or joined without a gop_start.
    void want_key_frame();
    // The number of requests from readers.
    std::uint64_t key_frames_wanted() const { return key_frames_wanted_; }

private:
    static constexpr std::size_t kTracks = 2;

    std::size_t slot(Sequence sequence) const { return static_cast<std::size_t>(sequence) & (slots_.size() - 1); }
    void remember(Sequence sequence, const RtpPacket& packet);
    void grow();
    void trim();
    void drop_first();

    std::vector<RtpPacket> slots_;                         // size is a power of two
    std::array<std::vector<Sequence>, kTracks> by_track_;  // by the low bits of a track's number; as large as slots_
    std::array<std::optional<RtpTrack>, kTracks> tracks_;
    std::array<std::uint16_t, kTracks> next_track_sequence_{};
    std::array<std::uint32_t, kTracks> origin_ssrcs_{};
    std::vector<RtpListener*> listeners_;
    KeyFrameSource* key_frame_source_ = nullptr;
    RtpLayers* layers_ = nullptr;
    std::optional<Sequence> gop_start_;
    Sequence first_ = 0;
    Sequence next_ = 0;
    Sequence notified_at_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t key_frames_wanted_ = 0;
    std::uint32_t version_ = 0;
    std::uint32_t writers_ = 0;
    bool has_layer_packets_ = false;
};

}  // namespace live::media
