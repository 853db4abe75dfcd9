#include "media/rtp/rtp_layers.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace live::media {

namespace {

// Rates are measured over about a second, and key frames are rarer than that.
constexpr std::uint64_t kAverage = 4;

}  // namespace

RtpLayers::Layer::Layer(LayerSource& publisher, std::size_t number, std::string name_)
    : source(publisher), index(number), name(std::move(name_)) {}

RtpLayers::RtpLayers(LayerSource& source, RtpLog& stream, const std::vector<std::string>& names, KeyFrames key_frames)
    : source_(source), stream_(stream), key_frames_(key_frames) {
    for (const std::string& name : names)
        add(name);
}

std::optional<std::size_t> RtpLayers::add(std::string name, Log log) {
    if (layers_.size() == kMax)
        return std::nullopt;
    layers_.push_back(std::make_unique<Layer>(source_, layers_.size(), std::move(name)));
    if (log == Log::shared)
        shared_ = layers_.size() - 1;
    return layers_.size() - 1;
}

std::optional<std::size_t> RtpLayers::find(std::string_view name) const {
    for (std::size_t i = 0; i < layers_.size(); ++i)
        if (layers_[i]->name == name)
            return i;
    return std::nullopt;
}

RtpLog& RtpLayers::hold(std::size_t layer) {
    Layer& held = *layers_[layer];
    if (held.players++ == 0 && !is_shared(layer)) {
        held.log.start_writer(&held);
        held.begin = held.log.next();
        source_.on_layer_wanted(layer, true);
    }
    return log(layer);
}

void RtpLayers::release(std::size_t layer) {
    Layer& held = *layers_[layer];
    CHECK(held.players > 0);
    if (--held.players == 0 && !is_shared(layer))
        source_.on_layer_wanted(layer, false);
}

void RtpLayers::append(std::size_t layer, RtpPacket packet) {
    if (layer >= layers_.size() || layers_[layer]->players == 0)
        return;
    layers_[layer]->log.append(std::move(packet));
    stream_.note_layer_packet();
}

void RtpLayers::set_state(std::size_t layer, std::uint64_t video, bool is_alive) {
    if (layer >= layers_.size())
        return;
    Layer& state = *layers_[layer];
    if (is_alive)
        state.rate = state.is_alive ? state.rate + video / kAverage - state.rate / kAverage : video;
    state.is_alive = is_alive && state.rate > 0;
}

std::size_t RtpLayers::held_bytes() const {
    std::size_t sum = sizeof *this;
    for (const auto& layer : layers_)
        sum += sizeof *layer + layer->log.held_bytes();
    return sum;
}

}  // namespace live::media
