// TsMuxer: segments of MPEG-TS (RFC 8216, 3.2). Each begins with its tables; continuity counters carry on across segments.
#pragma once

#include <optional>

#include "service/segments/muxer.hpp"
#include "wire/mp4/sample_reader.hpp"
#include "wire/mp4/track_clock.hpp"
#include "wire/ts/write/ts_converter.hpp"

namespace live::service::segments {

class TsMuxer final : public Muxer {
public:
    // Audio timestamps are those of the stream, or counted in samples while both are close (hls_dts_directly).
    enum class Audio : std::uint8_t { timed, counted };
    explicit TsMuxer(Audio audio = Audio::timed) : audio_(audio) {}

    Change configure(const media::Packet& config) override;
    // Audio frames are self-describing, and frames that cannot be carried cost nothing.
    bool knows(MediaKind) const override { return true; }
    void begin_segment(std::vector<std::uint8_t>& out, const MuxerState* resumed = nullptr) override;
    MuxerState state() const override { return state_; }
    bool add(const media::Packet& packet, std::vector<std::uint8_t>& out) override;
    void add_event(const media::TimedEvent& event, std::vector<std::uint8_t>& out) override;
    void end_part(MediaTime, std::optional<MediaKind>, std::vector<std::uint8_t>&) override {}

private:
    MediaTime time_of(const media::Packet& packet);
    MuxerState read_state() const;
    void restore(const MuxerState& state);

    Audio audio_;
    wire::mp4::SampleReader audio_reader_;  // for counted audio
    std::optional<wire::mp4::TrackClock> audio_clock_;
    std::uint32_t audio_rate_ = 0;
    std::uint32_t audio_ticks_ = 0;  // of one frame
    wire::ts::TsConverter converter_;
    MuxerState state_;
};

}  // namespace live::service::segments
