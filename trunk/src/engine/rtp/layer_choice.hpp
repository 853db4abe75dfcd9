// Which of a publisher's simulcast layers is forwarded: the best that is alive and that the players' links carry. Which one is
// best shows in its rate, since offers list them in either order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace live::engine::rtp {

struct LayerState {
    std::uint64_t rate = 0;  // bits a second
    bool is_alive = false;   // something came of late
};

namespace layer_choice {

// The best of at most `limit`; where none is so small, the smallest.
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

// The index of the layer to forward, given the one that is forwarded now; nothing when none is alive and none was chosen. A
// better one must be better by a third: rates of neighbours differ by a factor of two and more, and a change costs a key frame.
// `limit`, bits a second, is what a layer may have; a better one must stay a quarter below it, so that it is not taken back soon.
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
