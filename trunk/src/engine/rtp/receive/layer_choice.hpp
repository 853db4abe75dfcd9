// Selects the simulcast layer that stands for the whole video where one has to: in recordings, segments and other protocols. It
// is the best one that is active; WebRTC players choose their own (LayerSelector).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/rtp/layer_state.hpp"

namespace live::engine::rtp {

// The index of the layer, given the current one; nothing if none is active and none was chosen.
inline std::optional<std::size_t> choose_layer(std::span<const LayerState> layers, std::optional<std::size_t> current) {
    const auto best = best_layer_within(layers, UINT64_MAX);
    if (!best || !current)
        return best ? best : current;
    const LayerState& now = layers[*current];
    return !now.is_alive || is_better_layer(layers[*best].rate, now.rate) ? best : current;
}

}  // namespace live::engine::rtp
