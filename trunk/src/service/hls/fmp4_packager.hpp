// Fmp4Packager: segments of fragmented MP4 (RFC 8216, 3.3), a fragment for each part. Another set of tracks needs another
// initialisation section, and so another segment.
#pragma once

#include <optional>

#include "service/hls/packager.hpp"
#include "wire/mp4/fragment_writer.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace live::service::hls {

class Fmp4Packager final : public Packager {
public:
    Change configure(const media::Packet& config) override;
    void begin_segment(std::vector<std::uint8_t>&) override { is_fresh_ = true; }
    // Frames of a track that is not in the segment's header are not carried: of MP3 that begins in the middle of one.
    bool add(const media::Packet& packet, std::vector<std::uint8_t>& out) override;
    void end_part(MediaTime end, std::optional<media::Kind> next, std::vector<std::uint8_t>& out) override;
    std::vector<std::uint8_t> init() const override { return init_; }

private:
    void renew();
    std::optional<std::size_t>& track(media::Kind kind) { return kind == media::Kind::video ? video_ : audio_; }

    wire::mp4::SampleReader reader_;
    std::optional<wire::mp4::FragmentWriter> writer_;
    std::vector<wire::mp4::TrackFormat> tracks_;  // of the writer
    std::optional<std::size_t> video_;            // their places
    std::optional<std::size_t> audio_;
    std::vector<std::uint8_t> init_;
    bool is_fresh_ = true;  // nothing of the segment is there yet
};

}  // namespace live::service::hls
