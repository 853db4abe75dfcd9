// AudioTranscoder: converts audio from one codec to another. RTP players need Opus and all others AAC, and decoding and encoding
// need libraries this room cannot see: service/transcode has them, and app plugs them in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/codec/codec.hpp"

namespace live::media {

struct AudioFrame {
    Slice data;
    MediaTime time{};  // of its first sample
};

// Notified when audio becomes available after the push() it belongs to. Must not suspend.
class AudioListener {
public:
    virtual void on_audio() = 0;

protected:
    ~AudioListener() = default;
};

class AudioTranscoder {
public:
    virtual ~AudioTranscoder() = default;
    // One frame as carried in an audio tag or an RTP packet, in order. Input times may jitter; the output is gapless, with
    // silence for gaps of up to AudioSampleClock::kFillMax. An error applies to this frame only; later frames are accepted.
    // Errc::limit: the frame is dropped, because of its size or because too many are queued.
    virtual Result<void> push(Bytes frame, MediaTime time) = 0;
    // Returns converted audio frame by frame, and nothing if there is none yet; conversion may take a while, and the listener is
    // notified. An error belongs to a frame that was pushed; more frames may follow it.
    virtual Result<std::optional<AudioFrame>> poll() = 0;
    // The configuration of the output: an AudioSpecificConfig for AAC, empty for Opus.
    virtual Bytes config() const = 0;
    // No more output is due until the next push.
    virtual bool is_idle() const = 0;
};

struct Transcoding {
    wire::codec::Codec from = wire::codec::Codec::aac;
    Bytes config;  // of the input: an AudioSpecificConfig for AAC, else empty; read only during creation
    wire::codec::Codec to = wire::codec::Codec::opus;  // always 48 kHz and stereo
    std::uint32_t bitrate = 48'000;                    // of the output, bits per second
};

// Creates transcoders. Fails with Errc::unsupported and a reason. The listener outlives the transcoder.
class AudioTranscoders {
public:
    virtual Result<std::unique_ptr<AudioTranscoder>> create(const Transcoding& what, AudioListener& listener) = 0;

    // Frames of all streams that were dropped because they arrived faster than AudioMeter allows.
    void note_too_fast() { ++too_fast_; }
    std::uint64_t too_fast() const { return too_fast_; }
    // Frames that were dropped because too many were queued for conversion.
    void note_left_out() { ++left_out_; }
    std::uint64_t left_out() const { return left_out_; }

protected:
    ~AudioTranscoders() = default;

private:
    std::uint64_t too_fast_ = 0;
    std::uint64_t left_out_ = 0;
};

}  // namespace live::media
