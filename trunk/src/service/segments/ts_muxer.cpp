#include "service/segments/ts_muxer.hpp"

namespace live::service::segments {

// Counted audio frames are contiguous; timestamps in whole milliseconds are not.
MediaTime TsMuxer::time_of(const media::Packet& packet) {
    if (audio_ == Audio::timed || packet.kind != media::Kind::audio)
        return packet.dts;
    const auto sample = audio_reader_.push_audio(frame_of(packet));
    const auto& format = audio_reader_.audio();
    if (!sample.ok() || !*sample || !format || format->sample_ticks == 0)
        return packet.dts;
    if (!audio_clock_ || audio_rate_ != format->timescale) {
        audio_rate_ = format->timescale;
        audio_clock_.emplace(format->timescale, format->sample_ticks);
    }
    constexpr std::uint64_t kMicros = 1'000'000;
    const std::uint64_t tick = audio_clock_->advance(packet.dts);
    return MediaTime(static_cast<std::int64_t>(tick / audio_rate_ * kMicros + tick % audio_rate_ * kMicros / audio_rate_));
}

Muxer::Change TsMuxer::configure(const media::Packet& config) {
    if (audio_ == Audio::counted && config.kind == media::Kind::audio)
        static_cast<void>(audio_reader_.push_audio(frame_of(config)));
    std::vector<std::uint8_t> nothing;
    const wire::ts::Tracks before = converter_.tracks();
    // An unsupported codec drops only its own kind.
    static_cast<void>(config.kind == media::Kind::video ? converter_.push_video(frame_of(config), nothing)
                                                        : converter_.push_audio(frame_of(config), nothing));
    if (config.kind == media::Kind::video)
        return converter_.tracks().video ? Change::new_segment : Change::none;
    // Audio frames are self-describing.
    if (before == converter_.tracks())
        return converter_.tracks().audio ? Change::in_place : Change::none;
    return before.audio ? Change::new_segment : Change::in_place;
}

void TsMuxer::begin_segment(std::vector<std::uint8_t>& out) { converter_.write_tables(out); }

bool TsMuxer::add(const media::Packet& packet, std::vector<std::uint8_t>& out) {
    const std::size_t before = out.size();
    wire::codec::Frame frame = frame_of(packet);
    frame.dts = time_of(packet);
    const auto added = packet.kind == media::Kind::video ? converter_.push_video(frame, out) : converter_.push_audio(frame, out);
    return added.ok() && out.size() > before;
}

}  // namespace live::service::segments
