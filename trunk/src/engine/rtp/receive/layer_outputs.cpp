#include "engine/rtp/receive/layer_outputs.hpp"

#include <algorithm>
#include <utility>

namespace live::engine::rtp {

namespace {

constexpr std::uint32_t kSameOffsetPart = 50;     // of a second: offsets closer than that are measured anew, and not different
constexpr std::uint32_t kBehindLastPart = 1'000;  // a key frame that is not newer than the frame before it is moved behind it

}  // namespace

LayerOutputs::LayerOutputs(const std::vector<std::string>& names, std::uint32_t clock_rate) : clock_rate_(clock_rate) {
    layers_.reserve(names.size());
    for (const std::string& name : names)
        layers_.push_back({.name = name});
}

std::optional<std::size_t> LayerOutputs::find(std::string_view name) const {
    const auto found = std::ranges::find(layers_, name, &Layer::name);
    return found == layers_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - layers_.begin()));
}

void LayerOutputs::want(std::size_t layer, bool is_wanted) {
    if (layer >= layers_.size() || layers_[layer].is_wanted == is_wanted)
        return;
    layers_[layer].is_wanted = is_wanted;
    layers_[layer].keys.arrived();
    restart(layer);
}

void LayerOutputs::want_key(std::size_t layer) {
    if (is_wanted(layer))
        layers_[layer].keys.need();
}

bool LayerOutputs::take_key_request(std::size_t layer, TimePoint now) {
    return is_wanted(layer) && layers_[layer].keys.take(now);
}

std::optional<TimePoint> LayerOutputs::key_request_due(std::size_t layer) const {
    return is_wanted(layer) ? layers_[layer].keys.due() : std::nullopt;
}

void LayerOutputs::restart(std::size_t layer) {
    layers_[layer].offset.reset();
    layers_[layer].has_loss = true;
}

void LayerOutputs::take(std::size_t layer, const JitterBuffer::Ordered& packet, std::uint64_t gap, std::uint32_t offset,
                        bool is_key) {
    Layer& to = layers_[layer];
    if (gap > 0) {
        to.has_loss = true;
        to.keys.need();
    }
    if (packet.payload.empty())
        return;
    const bool begins_key = is_key && to.key != packet.timestamp;
    if (begins_key) {
        adopt(to, packet.timestamp, offset);
        to.key = packet.timestamp;
        to.keys.arrived();
    }
    // Nobody can use frames before the first key frame.
    if (!to.offset)
        return;
    MediaPacket media{.kind = MediaKind::video, .timestamp = packet.timestamp + *to.offset, .payload = packet.payload};
    media.marker = packet.marker;
    media.follows_loss = std::exchange(to.has_loss, false);
    media.begins_key = begins_key;
    media.arrived = packet.arrived;
    to.last = media.timestamp;
    packets_.push_back({layer, std::move(media)});
}

void LayerOutputs::adopt(Layer& layer, std::uint32_t timestamp, std::uint32_t offset) const {
    const auto moved = static_cast<std::int32_t>(offset - layer.offset.value_or(offset));
    if (layer.offset && static_cast<std::uint32_t>(moved < 0 ? -moved : moved) < clock_rate_ / kSameOffsetPart)
        offset = *layer.offset;
    if (layer.last && static_cast<std::int32_t>(timestamp + offset - *layer.last) <= 0)
        offset = *layer.last + clock_rate_ / kBehindLastPart - timestamp;
    layer.offset = offset;
}

std::optional<LayerPacket> LayerOutputs::poll() {
    if (packets_.empty())
        return std::nullopt;
    LayerPacket first = std::move(packets_.front());
    packets_.pop_front();
    return first;
}

}  // namespace live::engine::rtp
