// The state of one layer of a simulcast video, and the choices that its publisher and its players share. Layers are ranked by
// rate, because offers list them in either order.
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

// The best active layer of at most `limit`; if none is that small, the smallest; nothing if none is active.
inline std::optional<std::size_t> best_layer_within(std::span<const LayerState> layers, std::uint64_t limit) {
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

// Neighbouring rates differ by a factor of two or more, and a switch costs a key frame.
constexpr bool is_better_layer(std::uint64_t rate, std::uint64_t current) { return rate > current + current / 3; }

}  // namespace live::engine::rtp
