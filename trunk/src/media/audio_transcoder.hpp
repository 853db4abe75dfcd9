// AudioTranscoder: audio of one codec in, of another out. What players of RTP want (Opus) and what all others want (AAC) differ,
// and decoding and encoding need libraries that this room does not see: service/transcode has them, and main plugs them in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/codec/codec.hpp"

namespace live::media {

struct AudioFrame {
    Slice data;
    MediaTime time{};  // of its first sample
};

// Told that there is something to poll which came after the push that it belongs to. Must not suspend.
class AudioListener {
public:
    virtual void on_audio() = 0;

protected:
    ~AudioListener() = default;
};

class AudioTranscoder {
public:
    virtual ~AudioTranscoder() = default;
    // One frame as it stands in an audio tag or an RTP packet, in order. Times may shake: what comes out is without gaps, with
    // silence in holes of up to SampleLine::kFillMax. An error is this frame's; the next one is welcome. Errc::limit: it is left
    // out, because of its size or because too many wait.
    virtual Result<void> push(Bytes frame, MediaTime time) = 0;
    // What has come of it so far, frame by frame, and nothing where there is no more for now; that may take a while, and the
    // listener is told. An error is that of a frame which was pushed; there may be more behind it.
    virtual Result<std::optional<AudioFrame>> poll() = 0;
    // Of what comes out: an AudioSpecificConfig for AAC, empty for Opus.
    virtual Bytes config() const = 0;
    // Of what was pushed, nothing more is to come before the next push.
    virtual bool is_idle() const = 0;
};

struct Transcoding {
    wire::codec::Codec from = wire::codec::Codec::aac;
    Bytes config;  // of what comes in: an AudioSpecificConfig for AAC, else empty; only looked at while the transcoder is made
    wire::codec::Codec to = wire::codec::Codec::opus;  // always 48 kHz and stereo
    std::uint32_t bitrate = 48'000;                    // of what comes out, bits a second
};

// Makes them. Errc::unsupported with a sentence when it cannot. The listener outlives what is made.
class AudioTranscoders {
public:
    virtual Result<std::unique_ptr<AudioTranscoder>> create(const Transcoding& what, AudioListener& listener) = 0;

    // Frames that were left out because they came faster than AudioMeter allows, of all streams.
    void note_too_fast() { ++too_fast_; }
    std::uint64_t too_fast() const { return too_fast_; }
    // Frames that were left out because too many waited to be converted.
    void note_left_out() { ++left_out_; }
    std::uint64_t left_out() const { return left_out_; }

protected:
    ~AudioTranscoders() = default;

private:
    std::uint64_t too_fast_ = 0;
    std::uint64_t left_out_ = 0;
};

}  // namespace live::media
