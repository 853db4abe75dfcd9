// MediaFeed: writes the default video and audio of a source as FLV for a child: from a key frame with the configurations, or from
// the first audio of a stream without video, at times that begin at zero. Dry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/time.hpp"
#include "media/ring/packet.hpp"

namespace live::service::engines {

class MediaFeed {
public:
    // Media time that the beginning waits for the other kind.
    static constexpr MediaTime kAudioWait = 1s;
    static constexpr MediaTime kVideoWait = 2s;
    // Packets that wait for the beginning.
    static constexpr std::size_t kPendingMax = 1024;
    // The times of FLV wrap after 24.8 days.
    static constexpr MediaTime kAgeMax = std::chrono::hours(24 * 20);

    // Takes the next packet of the default tracks.
    void push(const media::Packet& packet);
    // Whether the child can start: it gets a key frame, or audio, at once.
    bool has_begun() const { return has_begun_; }
    // Whether the child cannot follow: another format than at the beginning, another kind, or kAgeMax.
    bool has_changed() const { return has_changed_; }

    // Skips video up to the next key frame, and audio up to there.
    void skip_to_key() { skips_ = has_video_; }
    bool skips() const { return skips_; }

    // The bytes of the packets that were pushed since.
    std::size_t size() const { return out_.size(); }
    std::vector<std::uint8_t> take() { return out_.release(); }

private:
    void look_for_beginning(const media::Packet& packet);
    void begin();
    bool takes_config(const media::Packet& packet);
    void write(const media::Packet& packet);
    std::optional<media::Packet>& config_of(MediaKind kind) { return configs_[index_of(kind)]; }

    std::array<std::optional<media::Packet>, kMediaKindCount> configs_;
    std::vector<media::Packet> pending_;  // from the possible beginning on
    ByteWriter out_;
    MediaTime base_{};
    bool has_key_ = false;  // pending_ begins with one
    bool has_begun_ = false;
    bool has_changed_ = false;
    bool has_video_ = false;
    bool has_audio_ = false;
    bool skips_ = false;
};

}  // namespace live::service::engines
