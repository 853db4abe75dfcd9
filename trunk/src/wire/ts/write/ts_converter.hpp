// Converts frames to a transport stream; one converter per stream. It keeps the decoder configurations, assembles access units
// and decides when tables are due; Muxer writes them.
//
// Carries H.264, HEVC, AAC, MP3, Opus and AC-3, one track of each kind. The caller must drop frames of other tracks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/frame.hpp"
#include "wire/ts/write/access_unit.hpp"
#include "wire/ts/write/muxer.hpp"

namespace live::wire::ts {

class TsConverter {
public:
    // Tables precede every key frame, and are repeated when they are this old.
    static constexpr MediaTime kTablesInterval = 500ms;

    static bool carries(codec::Codec codec);

    // Append the transport packets of one frame to `out`: always whole packets, and none for configurations, other content, and
    // frames before the first configuration. Push the newest configurations before the first frames, or the tables will change
    // mid-stream.
    //
    // On error nothing is appended, and the next frame can be pushed. Errc::unsupported: the codec cannot be carried; the rest of
    // the program continues without it. Errc::malformed, Errc::limit, Errc::need_more: this frame is lost.
    Result<void> push_video(const codec::Frame& frame, std::vector<std::uint8_t>& out);
    Result<void> push_audio(const codec::Frame& frame, std::vector<std::uint8_t>& out);

    // Append an ID3 tag that is shown at `pts`, or a section of SCTE 35 unchanged; the first of a kind changes the tables.
    // Nothing is appended before there is a track.
    void push_id3(MediaTime pts, Bytes tag, std::vector<std::uint8_t>& out);
    void push_splice(MediaTime now, Bytes section, std::vector<std::uint8_t>& out);
    // Announces ID3 in the next tables, as another converter has done.
    void announce_id3();

    // push_video() in pieces, for a large frame: `packets_max` packets now, and the others by continue_video() until it is true.
    // Nothing else may be pushed meanwhile, and the frame's bytes must remain valid. If nothing was appended, nothing follows.
    Result<void> begin_video(const codec::Frame& frame, std::size_t packets_max, std::vector<std::uint8_t>& out);
    bool continue_video(std::size_t packets_max, std::vector<std::uint8_t>& out) {
        return muxer_.continue_video(packets_max, out);
    }
    std::size_t packets_left() const { return muxer_.packets_left(); }

    // Writes the tables at the start of a file; the next push does not write them again.
    void write_tables(std::vector<std::uint8_t>& out);
    // Writes the newest tables again for a reader that joins after them; nothing if there were none yet.
    void repeat_tables(std::vector<std::uint8_t>& out) const;

    const Tracks& tracks() const { return muxer_.tracks(); }

    // As of Muxer. Restore after the configurations and before write_tables().
    Muxer::State state() const { return muxer_.state(); }
    void restore(const Muxer::State& state) { muxer_.restore(state); }

private:
    enum class Tables : std::uint8_t { none, fresh, stale };

    Result<void> set_video_config(const codec::Frame& frame);
    Result<void> set_audio_config(const codec::Frame& frame);
    void set_video(std::optional<StreamType> type);
    void set_audio(std::optional<StreamType> type, std::uint8_t opus_channels = 0);
    Result<void> set_aac(const codec::Frame& frame);
    Result<void> set_opus(const codec::Frame& frame);
    Result<void> write_aac(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out);
    // With Opus's control header first, or unchanged for MP3 and AC-3, which are self-describing.
    Result<void> write_opus(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out);
    Result<void> write_whole(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out);
    void set_data(bool id3, bool splices);
    void write_audio(MediaTime pts, std::span<const Bytes> parts, std::vector<std::uint8_t>& out);
    void write_due_tables(MediaTime time, PictureIs is, std::vector<std::uint8_t>& out);

    Muxer muxer_;
    VideoFormat picture_;  // valid if there is a video track
    codec::AudioSpecificConfig aac_;
    std::vector<Bytes> parts_;  // scratch; empty between calls
    MediaTime tables_at_{};     // time of the frame that followed them
    Tables tables_ = Tables::none;
};

}  // namespace live::wire::ts
