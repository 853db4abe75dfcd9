// From frames to a transport stream: one per stream of frames. It keeps the decoder configurations, puts access units together
// and decides when tables are due; Muxer writes them.
//
// Carries H.264, HEVC, AAC, MP3, Opus and AC-3: one track of each kind. Frames of others are its
// caller's to leave out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/codec/aac.hpp"
#include "wire/codec/frame.hpp"
#include "wire/ts/access_unit.hpp"
#include "wire/ts/muxer.hpp"

namespace live::wire::ts {

class TsConverter {
public:
    // Tables come in front of every key frame, and when they are this old.
    static constexpr MediaTime kTablesInterval = 500ms;

    static bool carries(codec::Codec codec);

    // Each appends the transport packets of one frame to `out`: whole ones, none for configurations, other content and frames
    // in front of the first configuration. Push the newest configurations before the first frames, or the tables change on the
    // way.
    //
    // After an error nothing was appended and the next frame can be pushed. Errc::unsupported: this codec cannot be carried; what
    // is left of the program goes on without it. Errc::malformed, Errc::limit, Errc::need_more: this frame is lost.
    Result<void> push_video(const codec::Frame& frame, std::vector<std::uint8_t>& out);
    Result<void> push_audio(const codec::Frame& frame, std::vector<std::uint8_t>& out);

    // The tables as a file begins with them; not written a second time by the next push.
    void write_tables(std::vector<std::uint8_t>& out);
    // The newest tables once more, for one reader that comes in behind them. Nothing before there were any.
    void repeat_tables(std::vector<std::uint8_t>& out) const;

    const Tracks& tracks() const { return muxer_.tracks(); }

private:
    enum class Tables : std::uint8_t { none, fresh, stale };

    Result<void> set_video_config(const codec::Frame& frame);
    Result<void> set_audio_config(const codec::Frame& frame);
    void set_video(std::optional<StreamType> type);
    void set_audio(std::optional<StreamType> type, std::uint8_t opus_channels = 0);
    Result<void> set_aac(const codec::Frame& frame);
    Result<void> set_opus(const codec::Frame& frame);
    Result<void> write_aac(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out);
    // With Opus' control header in front, or as it is: MP3 and AC-3 say themselves what they are.
    Result<void> write_opus(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out);
    Result<void> write_whole(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out);
    void write_audio(MediaTime pts, std::span<const Bytes> parts, std::vector<std::uint8_t>& out);
    void write_due_tables(MediaTime time, PictureIs is, std::vector<std::uint8_t>& out);

    Muxer muxer_;
    VideoFormat picture_;  // valid while there is a video track
    codec::AudioSpecificConfig aac_;
    std::vector<Bytes> parts_;  // holds something only inside a call
    MediaTime tables_at_{};     // the time of what was written behind them
    Tables tables_ = Tables::none;
};

}  // namespace live::wire::ts
