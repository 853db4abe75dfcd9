#include "service/hls/ts_packager.hpp"

namespace live::service::hls {

// Each frame begins where the one before ends; stamps in whole milliseconds do not.
MediaTime TsPackager::time_of(const media::Packet& packet) {
    if (sound_ == Sound::timed || packet.kind != media::Kind::audio)
        return packet.dts;
    const auto sample = sound_reader_.push_audio(frame_of(packet));
    const auto& format = sound_reader_.audio();
    if (!sample.ok() || !*sample || !format || format->sample_ticks == 0)
        return packet.dts;
    if (!sound_clock_ || sound_rate_ != format->timescale) {
        sound_rate_ = format->timescale;
        sound_clock_.emplace(format->timescale, format->sample_ticks);
    }
    constexpr std::uint64_t kMicros = 1'000'000;
    const std::uint64_t tick = sound_clock_->advance(packet.dts);
    return MediaTime(static_cast<std::int64_t>(tick / sound_rate_ * kMicros + tick % sound_rate_ * kMicros / sound_rate_));
}

Packager::Change TsPackager::configure(const media::Packet& config) {
    if (sound_ == Sound::counted && config.kind == media::Kind::audio)
        static_cast<void>(sound_reader_.push_audio(frame_of(config)));
    std::vector<std::uint8_t> nothing;
    const wire::ts::Tracks before = converter_.tracks();
    // A codec that cannot be carried costs the stream that kind, and nothing else.
    static_cast<void>(config.kind == media::Kind::video ? converter_.push_video(frame_of(config), nothing)
                                                        : converter_.push_audio(frame_of(config), nothing));
    if (config.kind == media::Kind::video)
        return converter_.tracks().video ? Change::new_segment : Change::none;
    // Each frame of sound says itself what it is.
    if (before == converter_.tracks())
        return converter_.tracks().audio ? Change::in_place : Change::none;
    return before.audio ? Change::new_segment : Change::in_place;
}

void TsPackager::begin_segment(std::vector<std::uint8_t>& out) { converter_.write_tables(out); }

bool TsPackager::add(const media::Packet& packet, std::vector<std::uint8_t>& out) {
    const std::size_t before = out.size();
    wire::codec::Frame frame = frame_of(packet);
    frame.dts = time_of(packet);
    const auto added = packet.kind == media::Kind::video ? converter_.push_video(frame, out) : converter_.push_audio(frame, out);
    return added.ok() && out.size() > before;
}

}  // namespace live::service::hls
