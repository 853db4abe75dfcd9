// RtpLog: the second RTP log of a source, RTP payloads in the order they are to be sent. A publisher over RTP fills it itself;
// for any other publisher a converter does, as long as somebody holds the rtp_log. Each packet is prepared once: a player's copy
// differs in its header only. What has been sent stays for a while, so that a player can ask for it again.
//
// A packet has two numbers: its place in the RTP log, counted in 64 bits for ever, and its track's RTP sequence number, which has
// a hole only where the writer lost something for good. Both go on when one writer follows another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "media/packet.hpp"
#include "media/ring.hpp"

namespace live::media {

// What one track of the RTP log carries.
struct RtpTrack {
    Kind kind = Kind::video;   // audio or video
    std::string codec;         // as in SDP: "H264", "H265", "VP8", "VP9", "AV1", "opus"
    std::uint32_t clock_rate;  // Hz
    std::uint8_t channels;     // of audio, else 0
    std::string format;        // what stands behind a=fmtp and the payload type; may be empty

    bool operator==(const RtpTrack&) const = default;
};

struct RtpPacket {
    Kind kind = Kind::video;     // audio or video
    std::uint16_t sequence = 0;  // of its track; the RTP log writes it
    std::uint32_t timestamp = 0;
    bool marker = false;
    bool begins_key = false;    // the first packet of a frame that decoding may start at
    bool follows_loss = false;  // something before it is lost: one number is left out, so that readers notice
    Slice payload;
    TimePoint arrived{};  // at this server
    MediaTime time{};     // of the frame, on one line for audio and video: what sender reports are made of
};

// Told after every batch of packets. Must not suspend.
class RtpListener {
public:
    virtual void on_rtp() = 0;

protected:
    ~RtpListener() = default;
};

// Whoever fills the RTP log, asked for a key frame. It limits the rate itself, and may ignore it: an RTMP publisher cannot be
// asked.
class KeyFrameSource {
public:
    virtual void on_key_frame_wanted() = 0;

protected:
    ~KeyFrameSource() = default;
};

// RTP time of a place on a source's timeline: 32 bits that wrap. Writers that make their own timestamps use it, so that they go
// on in line when one follows another.
constexpr std::uint32_t rtp_timestamp(MediaTime time, std::uint32_t clock_rate) {
    constexpr std::int64_t kMicroseconds = 1'000'000;
    // In two parts: microseconds times the clock rate would overflow within months.
    const std::int64_t seconds = time.count() / kMicroseconds;
    const std::int64_t rest = time.count() % kMicroseconds;
    return static_cast<std::uint32_t>(seconds * clock_rate + rest * clock_rate / kMicroseconds);
}

class RtpLog {
public:
    // Kept at most, and longer than kHistory only what belongs to the newest group of video.
    static constexpr std::size_t kPacketsMax = 8'192;
    static constexpr std::size_t kBytesMax = 16U << 20;
    static constexpr std::chrono::seconds kHistory{3};

    RtpLog() = default;
    RtpLog(const RtpLog&) = delete;
    RtpLog& operator=(const RtpLog&) = delete;

    // The writer. One at a time; `source` (may be nullptr) is asked for key frames until the next writer starts or it goes.
    // Nobody joins at what the writer before it left.
    void start_writer(KeyFrameSource* source);
    // Only when `source` is still the one that is asked.
    void end_writer(KeyFrameSource* source);
    void set_track(RtpTrack track);
    // Under which the publisher sends a track, where it says so; until the next writer starts.
    void set_origin_ssrc(Kind kind, std::uint32_t ssrc) { origin_ssrcs_[index_of(kind)] = ssrc; }
    // Audio or video. The payload must not be changed any more.
    void append(RtpPacket packet);
    // The batch is complete: listeners are told.
    void flush();

    // Readers. `at` wants a number in [first, next).
    Sequence first() const { return first_; }
    Sequence next() const { return next_; }
    bool empty() const { return first_ == next_; }
    std::size_t size() const { return static_cast<std::size_t>(next_ - first_); }
    std::size_t bytes() const { return bytes_; }
    // The same with what keeps them in order.
    std::size_t held_bytes() const {
        return bytes_ + slots_.capacity() * sizeof(RtpPacket) + by_track_.size() * by_track_[0].capacity() * sizeof(Sequence);
    }
    const RtpPacket& at(Sequence sequence) const;
    // By the number that a player misses; nullptr when it has gone, or was never there. Valid until the next append.
    const RtpPacket* find(Kind kind, std::uint16_t track_sequence) const;
    // The newest frame that decoding may start at, while all of it is here. The audio between it and the newest packet is old:
    // a newcomer sends the frames at once to catch up, and may leave that audio out.
    std::optional<Sequence> gop_start() const { return gop_start_; }

    // nullptr when there is none so far.
    const RtpTrack* track(Kind kind) const;
    // 0 where it is not known.
    std::uint32_t origin_ssrc(Kind kind) const { return origin_ssrcs_[index_of(kind)]; }
    // Counts changes of tracks. What a player has agreed on may not fit any more.
    std::uint32_t version() const { return version_; }
    // Counts writers.
    std::uint32_t writers() const { return writers_; }

    void add_listener(RtpListener& listener) { listeners_.push_back(&listener); }
    void remove_listener(RtpListener& listener) { std::erase(listeners_, &listener); }
    bool has_listeners() const { return !listeners_.empty(); }
    // A player lost the frame, or joins without a gop_start.
    void want_key_frame();
    // How often readers have asked.
    std::uint64_t key_frames_wanted() const { return key_frames_wanted_; }

private:
    static constexpr std::size_t kTracks = 2;

    std::size_t slot(Sequence sequence) const { return static_cast<std::size_t>(sequence) & (slots_.size() - 1); }
    void remember(Sequence sequence, const RtpPacket& packet);
    void grow();
    void trim();
    void drop_first();

    std::vector<RtpPacket> slots_;                         // size is a power of two
    std::array<std::vector<Sequence>, kTracks> by_track_;  // by the low bits of a track's number; as many as slots_
    std::array<std::optional<RtpTrack>, kTracks> tracks_;
    std::array<std::uint16_t, kTracks> next_track_sequence_{};
    std::array<std::uint32_t, kTracks> origin_ssrcs_{};
    std::vector<RtpListener*> listeners_;
    KeyFrameSource* key_frame_source_ = nullptr;
    std::optional<Sequence> gop_start_;
    Sequence first_ = 0;
    Sequence next_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t key_frames_wanted_ = 0;
    std::uint32_t version_ = 0;
    std::uint32_t writers_ = 0;
};

}  // namespace live::media
