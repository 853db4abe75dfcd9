// TrackLayers: the video tracks of a stream of frames as layers (RtpLayers) of its RTP log: the renditions of a ladder, or the
// tracks of a publisher with several. A layer is packetized while somebody plays it; the first track is in the stream's own log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "media/ring/options.hpp"
#include "media/ring/packet.hpp"
#include "media/ring/ring.hpp"
#include "media/rtp/rtp_layers.hpp"
#include "media/rtp/video_to_rtp.hpp"

namespace live::media {

class TrackLayers final : private LayerSource {
public:
    // A track whose newest frame is older than that of the others by more than this cannot be played.
    static constexpr std::chrono::seconds kLagMax{4};
    // Rates are measured over this time.
    static constexpr std::chrono::seconds kWindow{1};
    // Frames converted at once when a player joins a layer.
    static constexpr std::size_t kCatchUpBytes = 256U << 10;

    struct Track {
        TrackId id{};
        std::string name;
        const Packet* config = nullptr;  // nullptr for the first one, and for codecs without one
    };
    // The ring of the source, and the first packet of the publisher.
    struct History {
        const Ring& ring;
        Sequence from;
    };

    // All arguments outlive this.
    TrackLayers(RtpLog& stream, const History& history, const BridgeOptions& options, const Log& log);
    TrackLayers(const TrackLayers&) = delete;
    TrackLayers& operator=(const TrackLayers&) = delete;

    // The tracks that exist. The first is that of the stream's own log. Names are unique; a track that returns under its name
    // gets its former layer.
    void set_tracks(const std::vector<Track>& tracks);
    // A video packet of any track, or one of the stream's audio, before the ring gets it.
    void push(const Packet& packet);

    RtpLayers& layers() { return layers_; }

private:
    struct Layer {
        std::optional<TrackId> id{};  // nothing while the track is gone
        Packet config{};
        std::unique_ptr<VideoToRtp> converter{};  // while it is wanted
        Sequence next = 0;                        // the next packet that it takes
        std::optional<MediaTime> newest{};
        std::uint64_t bytes = 0;  // in the window
    };

    void on_layer_wanted(std::size_t layer, bool is_wanted) override;
    void on_layer_key_frame_wanted(std::size_t) override {}
    void set_track(std::size_t index, const Track& track);
    void restart(std::size_t index);
    void start(std::size_t index);
    bool catch_up(std::size_t index, std::size_t bytes);
    void convert(std::size_t index, const Packet& packet);
    std::optional<std::size_t> find(TrackId id) const;
    void count(const Packet& packet);
    void measure();
    void measure_history();

    const Ring& ring_;
    const Sequence from_;
    const BridgeOptions& options_;
    const Log& log_;
    RtpLog& stream_;
    RtpLayers layers_;
    std::vector<Layer> tracks_;  // as many as there are layers
    std::optional<MediaTime> newest_;
    MediaTime window_{};  // its begin
    std::uint64_t audio_bytes_ = 0;
    std::uint64_t broken_frames_ = 0;
};

}  // namespace live::media
