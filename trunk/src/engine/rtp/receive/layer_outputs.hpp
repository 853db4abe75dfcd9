// LayerOutputs: the layers of a simulcast video as streams of their own, for the players that chose them. Their timestamps are on
// the timeline of the track, so that a player can change between them; a change is its own affair. IncomingTrack passes the
// packets of the layers that are wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "engine/rtp/media_types.hpp"
#include "engine/rtp/receive/jitter_buffer.hpp"
#include "engine/rtp/receive/key_requests.hpp"

namespace live::engine::rtp {

class LayerOutputs {
public:
    // `names` are rids; the index of a name is the number of its layer.
    LayerOutputs(const std::vector<std::string>& names, std::uint32_t clock_rate);

    bool empty() const { return layers_.empty(); }
    std::size_t size() const { return layers_.size(); }
    const std::string& name(std::size_t layer) const { return layers_[layer].name; }
    std::optional<std::size_t> find(std::string_view name) const;

    // Numbers of layers that do not exist have no effect.
    void want(std::size_t layer, bool is_wanted);
    bool is_wanted(std::size_t layer) const { return layer < layers_.size() && layers_[layer].is_wanted; }
    // Repeats the request until a key frame of the layer arrives.
    void want_key(std::size_t layer);
    bool take_key_request(std::size_t layer, TimePoint now);
    std::optional<TimePoint> key_request_due(std::size_t layer) const;

    // A packet of a layer, in order. `gap` packets before it are lost. `offset` leads from the timestamps of the layer to those
    // of the track; it takes effect at key frames.
    void take(std::size_t layer, const JitterBuffer::Ordered& packet, std::uint64_t gap, std::uint32_t offset, bool is_key);
    // The numbers of the layer's stream have restarted, or another stream has replaced it.
    void restart(std::size_t layer);
    std::optional<LayerPacket> poll();

private:
    struct Layer {
        std::string name;
        KeyRequests keys{};
        std::optional<std::uint32_t> offset{};  // nothing before the first key frame
        std::optional<std::uint32_t> last{};    // timestamp on the track's timeline
        std::optional<std::uint32_t> key{};     // timestamp of the latest key frame
        bool is_wanted = false;
        bool has_loss = false;
    };
    void adopt(Layer& layer, std::uint32_t timestamp, std::uint32_t offset) const;

    std::vector<Layer> layers_;
    std::uint32_t clock_rate_;
    std::deque<LayerPacket> packets_;  // as many as one poll of the streams has given
};

}  // namespace live::engine::rtp
