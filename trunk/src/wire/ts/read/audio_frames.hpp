// AudioFrames: splits one audio stream into frames by their headers. A PES packet holds several frames and may cut one. The times
// continue from the packet's time, and a new configuration comes with its first frame.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/latm.hpp"
#include "wire/codec/frame.hpp"
#include "wire/ts/read/psi_reader.hpp"

namespace live::wire::ts {

class AudioFrames {
public:
    // The bound of an incomplete frame at the end of a packet: the longest frame of any format.
    static constexpr std::size_t kHeldBytesMax = codec::LatmReader::kElementBytesMax;

    // `opus_channels` as in the map.
    AudioFrames(StreamFormat format, std::uint8_t opus_channels) : format_(format), opus_channels_(opus_channels) {}

    // Appends the frames that this payload completes. `pts` is the time of the first that begins in it; without one the times go
    // on. Returns how many bytes were skipped in search of a frame.
    std::size_t push(Bytes payload, std::optional<MediaTime> pts, std::vector<codec::Frame>& out);
    // Something is missing before the next payload.
    void drop() {
        held_.clear();
        held_pts_.reset();
    }
    std::size_t held_bytes() const { return held_.size(); }

private:
    // One frame or, in LATM, several.
    struct Found {
        std::size_t bytes = 0;
        std::vector<Slice> frames;
        std::vector<std::uint8_t> config;
        codec::Codec codec = codec::Codec::none;
        std::uint32_t samples = 0;
        std::uint32_t rate = 0;
    };

    Result<Found> find(Bytes input);
    Result<Found> find_adts(Bytes input);
    Result<Found> find_latm(Bytes input);
    Result<Found> find_mpeg(Bytes input) const;
    Result<Found> find_ac3(Bytes input) const;
    Result<Found> find_opus(Bytes input) const;
    void emit(Found found, std::vector<codec::Frame>& out);
    void emit_config(const Found& found, std::vector<codec::Frame>& out);
    MediaTime now() const;

    StreamFormat format_;
    std::uint8_t opus_channels_;
    codec::LatmReader latm_;
    std::optional<codec::AudioSpecificConfig> adts_config_;  // of the latest frame
    std::vector<std::uint8_t> held_;
    std::optional<MediaTime> held_pts_;  // of the frame that has begun there, if it is the first of its packet
    std::vector<std::uint8_t> config_;
    std::optional<MediaTime> begin_;  // of the samples counted
    std::uint64_t samples_ = 0;
    std::uint32_t rate_ = 0;
};

}  // namespace live::wire::ts
