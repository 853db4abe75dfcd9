#include "service/segments/ts_muxer.hpp"

#include <algorithm>

namespace live::service::segments {

namespace {

constexpr std::size_t kNumbersWithAudio = 9;  // in a state

}  // namespace

// Counted audio frames are contiguous; timestamps in whole milliseconds are not.
MediaTime TsMuxer::time_of(const media::Packet& packet) {
    if (audio_ == Audio::timed || packet.kind != MediaKind::audio)
        return packet.dts;
    const auto sample = audio_reader_.push_audio(frame_of(packet));
    const auto& format = audio_reader_.audio();
    if (!sample.ok() || !*sample || !format || format->sample_ticks == 0)
        return packet.dts;
    if (!audio_clock_ || audio_rate_ != format->timescale) {
        audio_rate_ = format->timescale;
        audio_ticks_ = format->sample_ticks;
        audio_clock_.emplace(audio_rate_, audio_ticks_);
    }
    constexpr std::uint64_t kMicros = 1'000'000;
    const std::uint64_t tick = audio_clock_->advance(packet.dts);
    return MediaTime(static_cast<std::int64_t>(tick / audio_rate_ * kMicros + tick % audio_rate_ * kMicros / audio_rate_));
}

Muxer::Change TsMuxer::configure(const media::Packet& config) {
    if (audio_ == Audio::counted && config.kind == MediaKind::audio)
        static_cast<void>(audio_reader_.push_audio(frame_of(config)));
    std::vector<std::uint8_t> nothing;
    const wire::ts::Tracks before = converter_.tracks();
    // An unsupported codec drops only its own kind.
    static_cast<void>(config.kind == MediaKind::video ? converter_.push_video(frame_of(config), nothing)
                                                      : converter_.push_audio(frame_of(config), nothing));
    if (config.kind == MediaKind::video)
        return converter_.tracks().video ? Change::new_segment : Change::none;
    // Audio frames are self-describing.
    if (before == converter_.tracks())
        return converter_.tracks().audio ? Change::in_place : Change::none;
    return before.audio ? Change::new_segment : Change::in_place;
}

void TsMuxer::begin_segment(std::vector<std::uint8_t>& out, const MuxerState* resumed) {
    if (resumed != nullptr)
        restore(*resumed);
    state_ = read_state();
    converter_.write_tables(out);
}

// Four continuity counters, the version of the program map, the clock reference plus one, or 0; the audio clock plus one, or 0;
// the audio's timescale, and its frame duration in samples; and if there is ID3, its continuity counter.
MuxerState TsMuxer::read_state() const {
    const auto state = converter_.state();
    const auto& counters = state.counters;
    const std::uint64_t clock = state.clock ? static_cast<std::uint64_t>(std::max<std::int64_t>(state.clock->count(), 0)) + 1 : 0;
    MuxerState numbers = {counters[0], counters[1], counters[2], counters[3], state.version, clock};
    if (audio_clock_)
        numbers.insert(numbers.end(), {audio_clock_->last().value_or(0) + 1, audio_rate_, audio_ticks_});
    if (converter_.tracks().id3) {
        numbers.resize(kNumbersWithAudio);
        numbers.push_back(counters[4]);
    }
    return numbers;
}

void TsMuxer::restore(const MuxerState& state) {
    constexpr std::size_t kNumbers = 6;
    constexpr std::size_t kCounters = 4;
    if (state.size() < kNumbers)
        return;
    wire::ts::Muxer::State muxer;
    for (std::size_t i = 0; i < kCounters; ++i)
        muxer.counters[i] = static_cast<std::uint8_t>(state[i]);
    if (state.size() > kNumbersWithAudio) {
        converter_.announce_id3();
        muxer.counters[kCounters] = static_cast<std::uint8_t>(state[kNumbersWithAudio]);
    }
    muxer.version = static_cast<std::uint8_t>(state[4]);
    if (state[5] > 0)
        muxer.clock = MediaTime(static_cast<std::int64_t>(state[5] - 1));
    converter_.restore(muxer);
    audio_clock_.reset();
    audio_rate_ = 0;
    if (state.size() < kNumbersWithAudio || state[6] == 0 || state[7] == 0 || state[7] > UINT32_MAX || state[8] > UINT32_MAX)
        return;
    audio_rate_ = static_cast<std::uint32_t>(state[7]);
    audio_ticks_ = static_cast<std::uint32_t>(state[8]);
    audio_clock_.emplace(audio_rate_, audio_ticks_);
    audio_clock_->restore(state[6] - 1);
}

void TsMuxer::add_event(const media::TimedEvent& event, std::vector<std::uint8_t>& out) {
    if (event.kind == media::TimedEvent::Kind::id3)
        converter_.push_id3(event.at, event.data.bytes(), out);
}

bool TsMuxer::add(const media::Packet& packet, std::vector<std::uint8_t>& out) {
    const std::size_t before = out.size();
    wire::codec::Frame frame = frame_of(packet);
    frame.dts = time_of(packet);
    const auto added = packet.kind == MediaKind::video ? converter_.push_video(frame, out) : converter_.push_audio(frame, out);
    return added.ok() && out.size() > before;
}

}  // namespace live::service::segments
