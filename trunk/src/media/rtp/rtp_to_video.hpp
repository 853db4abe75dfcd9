// RtpToVideo: converts packets of one video track to frames. H.264 and HEVC carry their parameter sets with the key frames;
// configurations are built from them, and rebuilt when they change.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/log/log.hpp"
#include "media/rtp/frame_blocks.hpp"
#include "media/rtp/picture_order.hpp"
#include "media/rtp/rtp_log.hpp"
#include "wire/codec/frame.hpp"
#include "wire/codec/video/picture.hpp"
#include "wire/rtp_payload/av1.hpp"
#include "wire/rtp_payload/jpeg.hpp"
#include "wire/rtp_payload/nal.hpp"
#include "wire/rtp_payload/vpx.hpp"

namespace live::media {

class RtpToVideo {
public:
    // Maximum parameter sets kept of one type.
    static constexpr std::size_t kParameterSetsMax = 16;

    struct Counters {
        std::uint64_t frames = 0;
        std::uint64_t dropped = 0;  // waited for a key frame, or could not be parsed
    };

    // `log` outlives this.
    explicit RtpToVideo(const Log& log) : log_(log) {}

    // Starts over. False if RTMP cannot carry this codec, which is logged.
    bool set_track(const RtpTrack& track);
    // Parameter sets of the session's description, of H.264 or HEVC: used until the stream brings its own.
    void add_parameter_sets(const std::vector<std::vector<std::uint8_t>>& units);
    // The next packet in order, of a frame that is shown at `time`.
    void push(const wire::rtp_payload::Fragment& packet, MediaTime time);
    std::optional<wire::codec::Frame> poll();
    // True once each time a key frame is needed.
    bool take_key_frame_request() { return std::exchange(wants_key_frame_, false); }
    // The sequence parameters of the latest key frame.
    const wire::codec::SpsInfo& picture() const { return picture_; }
    Codec codec() const { return codec_; }
    const Counters& counters() const { return counters_; }

private:
    using Depacketizer = std::variant<std::monostate, wire::rtp_payload::NalDepacketizer, wire::rtp_payload::VpxDepacketizer,
                                      wire::rtp_payload::Av1Depacketizer, wire::rtp_payload::JpegDepacketizer>;
    using Sets = std::vector<std::vector<std::uint8_t>>;
    struct Stamp {
        std::uint32_t timestamp = 0;
        MediaTime time{};
    };

    MediaTime time_of(std::uint32_t timestamp) const;
    void take(wire::rtp_payload::Frame& frame);
    Result<void> convert(const wire::rtp_payload::Frame& frame);
    // Stores the parameter sets of a frame, and returns the rest: the frame itself if it has none, or else units_.
    Result<Bytes> split_off_sets(Bytes frame);
    std::size_t type_of_set(Bytes unit) const;
    Result<void> remake_config(const wire::rtp_payload::Frame& frame);
    Result<std::vector<std::uint8_t>> make_config(Bytes frame);
    void emit(wire::codec::Frame frame, Bytes data);

    const Log& log_;
    Codec codec_ = Codec::none;
    Depacketizer depacketizer_;
    std::array<Stamp, 8> stamps_{};  // of the latest RTP timestamps
    std::size_t next_stamp_ = 0;
    std::array<Sets, 3> sets_;          // VPS, SPS, PPS
    std::vector<std::uint8_t> units_;   // of a frame with parameter sets, without them
    std::vector<std::uint8_t> config_;  // emitted last, to recognise a repetition
    PictureOrder order_;
    FrameBlocks blocks_;
    std::deque<wire::codec::Frame> frames_;
    wire::codec::SpsInfo picture_;
    Counters counters_;
    bool waits_ = true;  // for a key frame
    bool wants_key_frame_ = false;
};

}  // namespace live::media
