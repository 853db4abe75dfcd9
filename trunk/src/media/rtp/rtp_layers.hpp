// RtpLayers: the layers of a stream's video, each with an RTP log of its own while somebody plays it: those of a simulcast
// publisher, or the video tracks of a stream of frames (TrackLayers). The video in the stream's own log is one of them; audio is
// only there. Timestamps are on one timeline, so that a player may change from one log to another at a key frame.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "media/rtp/rtp_log.hpp"

namespace live::media {

// The publisher, as the players of its layers see it.
class LayerSource {
public:
    // The first player has joined a layer, or the last one has left it.
    virtual void on_layer_wanted(std::size_t layer, bool is_wanted) = 0;
    // Limits the rate of the requests itself.
    virtual void on_layer_key_frame_wanted(std::size_t layer) = 0;

protected:
    ~LayerSource() = default;
};

class RtpLayers {
public:
    static constexpr std::size_t kMax = 8;  // further ones are ignored
    // Whether on_layer_key_frame_wanted() leads to a key frame, or key frames come only at the times that the encoder chooses.
    enum class KeyFrames : std::uint8_t { on_request, at_own_times };

    // `source` and the stream's own log outlive this.
    RtpLayers(LayerSource& source, RtpLog& stream, const std::vector<std::string>& names,
              KeyFrames key_frames = KeyFrames::on_request);
    RtpLayers(const RtpLayers&) = delete;
    RtpLayers& operator=(const RtpLayers&) = delete;

    // Adds a layer and returns its number; nullopt if there are kMax. The log of a shared one is the stream's own.
    enum class Log : std::uint8_t { own, shared };
    std::optional<std::size_t> add(std::string name, Log log = Log::own);

    bool has_key_requests() const { return key_frames_ == KeyFrames::on_request; }
    std::size_t size() const { return layers_.size(); }
    const std::string& name(std::size_t layer) const { return layers_[layer]->name; }
    std::optional<std::size_t> find(std::string_view name) const;
    // The log of a shared layer has audio, too.
    RtpLog& log(std::size_t layer) { return is_shared(layer) ? stream_ : layers_[layer]->log; }
    bool is_shared(std::size_t layer) const { return layer == shared_; }
    std::optional<std::size_t> shared() const { return shared_; }
    // The first packet in the log since somebody plays the layer. Older ones are for retransmission only.
    Sequence first(std::size_t layer) { return std::max(log(layer).first(), layers_[layer]->begin); }
    std::size_t players(std::size_t layer) const { return layers_[layer]->players; }

    // For players, once each per layer. A log is filled while it is held; a new holder of a log without others finds no key frame
    // in it.
    RtpLog& hold(std::size_t layer);
    void release(std::size_t layer);

    // For the publisher. Layers beyond kMax have no effect.
    void append(std::size_t layer, RtpPacket packet);
    // `video` is the latest measurement of the layer in bits per second, which is averaged.
    void set_state(std::size_t layer, std::uint64_t video, bool is_alive);
    void set_audio_rate(std::uint64_t audio) { audio_rate_ = audio; }

    // Averages in bits per second; 0 while unknown.
    std::uint64_t rate(std::size_t layer) const { return layers_[layer]->rate; }
    bool is_alive(std::size_t layer) const { return layers_[layer]->is_alive; }
    std::uint64_t audio_rate() const { return audio_rate_; }
    std::size_t held_bytes() const;

private:
    struct Layer final : KeyFrameSource {
        Layer(LayerSource& publisher, std::size_t number, std::string name_);
        void on_key_frame_wanted() override { source.on_layer_key_frame_wanted(index); }

        LayerSource& source;
        const std::size_t index;
        const std::string name;
        RtpLog log;
        Sequence begin = 0;
        std::size_t players = 0;
        std::uint64_t rate = 0;
        bool is_alive = false;
    };

    LayerSource& source_;
    RtpLog& stream_;
    const KeyFrames key_frames_;
    std::vector<std::unique_ptr<Layer>> layers_;
    std::optional<std::size_t> shared_;
    std::uint64_t audio_rate_ = 0;
};

}  // namespace live::media
