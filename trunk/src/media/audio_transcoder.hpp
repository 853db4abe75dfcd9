// AudioTranscoder: sound of one codec in, of another out. What players of RTP want (Opus) and what all others want (AAC) differ,
// and decoding and encoding need libraries that this room does not see: service/transcode has them, and main plugs them in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/flv/codec.hpp"

namespace live::media {

struct SoundFrame {
    Slice data;
    MediaTime time{};  // of its first sample
};

class AudioTranscoder {
public:
    virtual ~AudioTranscoder() = default;
    // One frame as it stands in an audio tag or an RTP packet, in order. Times may shake: what comes out is without gaps, with
    // silence in holes of up to SampleLine::kFillMax. An error is this frame's; the next one is welcome.
    virtual Result<void> push(Bytes frame, MediaTime time) = 0;
    // What has come of it so far, frame by frame.
    virtual std::optional<SoundFrame> poll() = 0;
    // Of what comes out: an AudioSpecificConfig for AAC, empty for Opus.
    virtual Bytes config() const = 0;
};

struct Transcoding {
    wire::flv::AudioCodec from = wire::flv::AudioCodec::aac;
    Bytes config;  // of what comes in: an AudioSpecificConfig for AAC, else empty; only looked at while the transcoder is made
    wire::flv::AudioCodec to = wire::flv::AudioCodec::opus;  // always 48 kHz and stereo
    std::uint32_t bitrate = 48'000;                          // of what comes out, bits a second
};

// Makes them. Errc::unsupported with a sentence when it cannot.
class AudioTranscoders {
public:
    virtual Result<std::unique_ptr<AudioTranscoder>> create(const Transcoding& what) = 0;

    // Frames that were left out because they came faster than SoundMeter allows, of all streams.
    void note_too_fast() { ++too_fast_; }
    std::uint64_t too_fast() const { return too_fast_; }

protected:
    ~AudioTranscoders() = default;

private:
    std::uint64_t too_fast_ = 0;
};

}  // namespace live::media
