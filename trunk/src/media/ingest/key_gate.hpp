// KeyGate: holds back the media of a publisher that takes the stream over from a stand-in, until its first key frame. Keeps the
// configurations and the metadata that precede it. Dry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/media_kind.hpp"
#include "base/time.hpp"
#include "media/ring/tag_packet.hpp"

namespace live::media {

class KeyGate {
public:
    // A publisher without video begins after this time.
    static constexpr std::chrono::milliseconds kAudioAlone{1'000};
    // A publisher without a key frame begins after this time.
    static constexpr std::chrono::milliseconds kKeyMax{10'000};
    // Kept configurations, and data messages; further ones are dropped.
    static constexpr std::size_t kConfigsMax = 32;
    static constexpr std::size_t kDataMax = 8;

    struct Config {
        TagPacket tagged;
        std::uint32_t stamp_ms = 0;
    };
    struct Data {
        std::uint32_t stamp_ms = 0;
        Slice body;
    };

    // Reports whether the stream begins with this audio or video packet. Otherwise the packet is kept, if it is a configuration,
    // or dropped.
    bool admits(const TagPacket& tagged, std::uint32_t stamp_ms, TimePoint now);
    void keep_data(std::uint32_t stamp_ms, const Slice& body);

    // Each returns what was kept, once, for the stream before its first frame.
    std::vector<Data> take_data() { return std::exchange(data_, {}); }
    std::vector<Config> take_configs() { return std::exchange(configs_, {}); }

private:
    void keep_config(const TagPacket& tagged, std::uint32_t stamp_ms);

    std::vector<Config> configs_;  // one for each track
    std::vector<Data> data_;
    std::optional<TimePoint> since_;  // the first packet
    bool has_video_ = false;
};

}  // namespace live::media
