// Which of a publisher's simulcast layers is forwarded: the best that is alive. Which one is best shows in its rate, since offers
// list them in either order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace live::engine::rtc {

struct LayerState {
    std::uint64_t rate = 0;  // bits a second
    bool is_alive = false;   // something came of late
};

// The index of the layer to forward, given the one that is forwarded now; nothing when none is alive and none was chosen. A
// better one must be better by a third: rates of neighbours differ by a factor of two and more, and a change costs a key picture.
inline std::optional<std::size_t> choose_layer(std::span<const LayerState> layers, std::optional<std::size_t> current) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < layers.size(); ++i)
        if (layers[i].is_alive && (!best || layers[i].rate > layers[*best].rate))
            best = i;
    if (!best || !current)
        return best ? best : current;
    if (!layers[*current].is_alive)
        return best;
    return layers[*best].rate > layers[*current].rate + layers[*current].rate / 3 ? best : current;
}

}  // namespace live::engine::rtc
