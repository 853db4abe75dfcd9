// Selects the simulcast layer to forward: the best one that is active and fits the players' links. Layers are ranked by rate,
// because offers list them in either order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace live::engine::rtp {

struct LayerState {
    std::uint64_t rate = 0;  // bits per second
    bool is_alive = false;   // packets arrived recently
};

namespace layer_choice {

// The best layer of at most `limit`; if none is that small, the smallest.
inline std::optional<std::size_t> best_within(std::span<const LayerState> layers, std::uint64_t limit) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (!layers[i].is_alive)
            continue;
        const bool fits = layers[i].rate <= limit;
        if (!best || (layers[*best].rate <= limit ? fits && layers[i].rate > layers[*best].rate
                                                  : fits || layers[i].rate < layers[*best].rate))
            best = i;
    }
    return best;
}

}  // namespace layer_choice

// The index of the layer to forward, given the current one; nothing if none is active and none was chosen. A better layer must be
// better by a third: neighbouring rates differ by a factor of two or more, and a switch costs a key frame. `limit` is the maximum
// rate in bits per second; a better layer must stay a quarter below it, to avoid an early switch back.
inline std::optional<std::size_t> choose_layer(std::span<const LayerState> layers, std::optional<std::size_t> current,
                                               std::optional<std::uint64_t> limit = std::nullopt) {
    const std::uint64_t most = limit.value_or(UINT64_MAX);
    const auto best = layer_choice::best_within(layers, most);
    if (!best || !current)
        return best ? best : current;
    const LayerState& now = layers[*current];
    if (!now.is_alive || now.rate > most)
        return best;
    const auto better = layer_choice::best_within(layers, most - most / 4);
    const std::uint64_t rate = layers[*better].rate;
    return rate <= most && rate > now.rate + now.rate / 3 ? better : current;
}

}  // namespace live::engine::rtp
