#include "media/rtp/track_layers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/log/log_format.hpp"

namespace live::media {

namespace {

// The newest packets of the ring that the first measurement counts, and the time that they must cover.
constexpr Sequence kHistoryMax = 4'096;
constexpr std::chrono::milliseconds kHistoryMin{400};

std::uint64_t bits_per_second(std::uint64_t bytes, MediaTime time) {
    constexpr std::uint64_t kBitsPerMicrosecond = 8'000'000;
    return bytes * kBitsPerMicrosecond / static_cast<std::uint64_t>(time.count());
}

}  // namespace

TrackLayers::TrackLayers(RtpLog& stream, const History& history, const BridgeOptions& options, const Log& log)
    : ring_(history.ring),
      from_(history.from),
      options_(options),
      log_(log),
      stream_(stream),
      layers_(*this, stream, {}, RtpLayers::KeyFrames::at_own_times) {}

void TrackLayers::set_tracks(const std::vector<Track>& tracks) {
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        const auto is_it = [&](const Track& track) { return track.name == layers_.name(i); };
        if (std::ranges::any_of(tracks, is_it))
            continue;
        tracks_[i].id.reset();
        layers_.set_state(i, 0, false);
    }
    for (const Track& track : tracks) {
        auto index = layers_.find(track.name);
        if (!index)
            index = layers_.add(track.name, tracks_.empty() ? RtpLayers::Log::shared : RtpLayers::Log::own);
        if (!index)
            continue;
        tracks_.resize(layers_.size());
        set_track(*index, track);
    }
    measure_history();
    if (stream_.layers() == nullptr && layers_.size() > 1)
        stream_.set_layers(layers_);
}

void TrackLayers::set_track(std::size_t index, const Track& track) {
    Layer& layer = tracks_[index];
    const bool is_same = layer.id == track.id;
    layer.id = track.id;
    layer.config = track.config == nullptr ? Packet() : *track.config;
    if (!is_same)
        layer.newest.reset();
    if (!is_same && layer.converter != nullptr)
        restart(index);
}

void TrackLayers::on_layer_wanted(std::size_t layer, bool is_wanted) {
    if (is_wanted)
        start(layer);
    else
        tracks_[layer].converter.reset();
}

void TrackLayers::restart(std::size_t index) {
    Layer& layer = tracks_[index];
    layer.converter = std::make_unique<VideoToRtp>(layers_.log(index), options_, log_);
    layer.next = ring_.next();
    if (layer.config.is_config())
        convert(index, layer.config);
}

// Starts with the frames since the newest key frame, so that a player has video at once.
void TrackLayers::start(std::size_t index) {
    restart(index);
    Layer& layer = tracks_[index];
    const Sequence first = std::max(ring_.first(), from_);
    for (Sequence at = ring_.next(); at > first; --at)
        if (const Packet& packet = ring_.at(at - 1);
            packet.kind == MediaKind::video && packet.key && !packet.is_config() && packet.track == layer.id) {
            layer.next = at - 1;
            break;
        }
    catch_up(index, kCatchUpBytes);
}

// Reports whether the layer has everything in the ring.
bool TrackLayers::catch_up(std::size_t index, std::size_t bytes) {
    Layer& layer = tracks_[index];
    layer.next = std::max(layer.next, ring_.first());
    for (std::size_t sum = 0; layer.next < ring_.next() && sum < bytes; ++layer.next) {
        const Packet& packet = ring_.at(layer.next);
        if (packet.kind != MediaKind::video || packet.track != layer.id)
            continue;
        convert(index, packet);
        sum += packet.payload.size();
    }
    return layer.next == ring_.next();
}

void TrackLayers::convert(std::size_t index, const Packet& packet) {
    const auto pushed = tracks_[index].converter->push(packet);
    if (!pushed.ok() && broken_frames_++ == 0)
        LOG_WARN(log_, "a frame of rendition {} could not be converted to RTP ({}); further ones are left out",
                 layers_.name(index), pushed.error().text());
    stream_.note_layer_packet();
}

void TrackLayers::push(const Packet& packet) {
    count(packet);
    if (packet.kind != MediaKind::video)
        return;
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        Layer& layer = tracks_[i];
        if (layer.converter == nullptr || !catch_up(i, kCatchUpBytes))
            continue;
        ++layer.next;
        if (packet.track == layer.id)
            convert(i, packet);
    }
}

std::optional<std::size_t> TrackLayers::find(TrackId id) const {
    const auto found = std::ranges::find(tracks_, std::optional(id), &Layer::id);
    return found == tracks_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - tracks_.begin()));
}

void TrackLayers::count(const Packet& packet) {
    if (packet.content != Content::frame)
        return;
    if (packet.kind == MediaKind::audio) {
        audio_bytes_ += packet.frame_bytes();
        return;
    }
    const auto index = find(packet.track);
    if (!index)
        return;
    Layer& layer = tracks_[*index];
    if (!newest_)
        window_ = packet.dts;
    newest_ = std::max(newest_.value_or(packet.dts), packet.dts);
    layer.newest = packet.dts;
    layer.bytes += packet.frame_bytes();
    if (*newest_ - window_ >= kWindow)
        measure();
}

void TrackLayers::measure() {
    const MediaTime time = *newest_ - std::exchange(window_, *newest_);
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        Layer& layer = tracks_[i];
        const bool is_alive = layer.id && layer.newest && *newest_ - *layer.newest <= kLagMax;
        layers_.set_state(i, bits_per_second(std::exchange(layer.bytes, 0), time), is_alive);
    }
    layers_.set_audio_rate(bits_per_second(std::exchange(audio_bytes_, 0), time));
}

// Layers whose rates are not known yet get them from the ring, so that the first player need not wait for them.
void TrackLayers::measure_history() {
    struct Sum {
        std::uint64_t bytes = 0;
        MediaTime first{};
    };
    std::array<Sum, RtpLayers::kMax> sums{};
    const Sequence oldest = std::max({ring_.first(), from_, ring_.next() - std::min(ring_.next(), kHistoryMax)});
    for (Sequence at = oldest; at < ring_.next(); ++at) {
        const Packet& packet = ring_.at(at);
        const auto index =
            packet.kind == MediaKind::video && packet.content == Content::frame ? find(packet.track) : std::nullopt;
        if (!index || layers_.is_alive(*index))
            continue;
        Sum& sum = sums[*index];
        if (sum.bytes == 0)
            sum.first = packet.dts;
        sum.bytes += packet.frame_bytes();
        tracks_[*index].newest = packet.dts;
    }
    for (std::size_t i = 0; i < tracks_.size(); ++i)
        if (const Layer& layer = tracks_[i]; sums[i].bytes > 0 && *layer.newest - sums[i].first >= kHistoryMin)
            layers_.set_state(i, bits_per_second(sums[i].bytes, *layer.newest - sums[i].first), true);
}

}  // namespace live::media
