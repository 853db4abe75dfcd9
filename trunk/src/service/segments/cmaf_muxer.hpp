// CmafMuxer: segments of fragmented MP4 (RFC 8216, 3.3; ISO/IEC 23000-19), one fragment per part, of one track or of the default
// tracks together. A change of tracks needs a new initialization section, and so a new segment.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "service/segments/muxer.hpp"
#include "wire/mp4/fragment_writer.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace live::service::segments {

class CmafMuxer final : public Muxer {
public:
    // DASH requires a segment type box at the start of each segment.
    enum class SegmentType : std::uint8_t { unsaid, said };
    // Limit of event messages in front of a fragment; further ones are left out.
    static constexpr std::size_t kMessageBytesMax = 64U << 10;
    explicit CmafMuxer(SegmentType type = SegmentType::unsaid) : type_(type) {}

    bool may_change_format(const media::Packet& packet) const override;
    Change configure(const media::Packet& packet) override;
    bool knows(MediaKind kind) const override;
    void begin_segment(std::vector<std::uint8_t>&, const MuxerState* resumed = nullptr) override;
    MuxerState state() const override { return state_; }
    // Frames of a track that is not in the segment's header are dropped.
    bool add(const media::Packet& packet, std::vector<std::uint8_t>& out) override;
    void add_event(const media::TimedEvent& event, std::vector<std::uint8_t>& out) override;
    void end_part(MediaTime end, std::optional<MediaKind> next, std::vector<std::uint8_t>& out) override;
    std::vector<std::uint8_t> init() const override { return init_; }
    std::optional<wire::mp4::TrackFormat> format() const override;
    std::optional<Extent> extent() const override;

private:
    void renew();
    MuxerState read_state() const;
    void restore(const MuxerState& state);
    void cut(std::optional<wire::mp4::FragmentWriter::Next> next, std::vector<std::uint8_t>& out);
    std::optional<std::size_t>& track(MediaKind kind) { return kind == MediaKind::video ? video_ : audio_; }

    SegmentType type_;
    wire::mp4::SampleReader reader_;
    std::optional<wire::mp4::FragmentWriter> writer_;
    std::vector<wire::mp4::TrackFormat> tracks_;  // in the writer
    std::optional<std::size_t> video_;            // index in tracks_
    std::optional<std::size_t> audio_;
    std::vector<std::uint8_t> init_;
    bool is_fresh_ = true;     // no byte of the segment has been written
    std::uint64_t start_ = 0;  // of the segment's first track, in its timescale
    std::uint64_t length_ = 0;
    std::vector<std::uint8_t> messages_;  // event messages before the next fragment
    MuxerState state_;
};

}  // namespace live::service::segments
