// TrackList: the tracks of a source in the order of a description, and which of them a player has set up. Players with equal
// lists share a log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "media/ring/packet.hpp"

namespace live::media {

class TrackList {
public:
    // Further tracks are not described.
    static constexpr std::size_t kMax = 8;
    // The default track of a kind may change its id with the publisher; data has no default track.
    struct Place {
        MediaKind kind = MediaKind::data;
        bool is_default = false;
        TrackId id{};  // of a track that is not the default one

        bool has(const Packet& packet) const {
            return packet.kind == kind && (is_default ? !packet.extra : packet.extra && packet.track == id);
        }
        bool operator==(const Place&) const = default;
    };

    // Room must be left.
    void add(const Place& place) { places_.at(size_++) = place; }
    bool is_full() const { return size_ == kMax; }
    std::size_t size() const { return size_; }
    const Place& operator[](std::size_t place) const { return places_.at(place); }
    void set_up(std::size_t place) { set_up_ = static_cast<std::uint8_t>(set_up_ | 1U << place); }
    bool is_set_up(std::size_t place) const { return (set_up_ >> place & 1U) != 0; }
    // Whether it has this video track, which is not the default one.
    bool has_video(TrackId id) const {
        for (std::size_t place = 0; place < size_; ++place)
            if (is_set_up(place) && places_[place] == Place{MediaKind::video, false, id})
                return true;
        return false;
    }
    // The place of the packet's track; nullopt if that is not listed or not set up.
    std::optional<std::size_t> place_of(const Packet& packet) const {
        for (std::size_t place = 0; place < size_; ++place)
            if (places_[place].has(packet))
                return is_set_up(place) ? std::optional(place) : std::nullopt;
        return std::nullopt;
    }
    bool operator==(const TrackList&) const = default;

private:
    static_assert(kMax <= 8, "the bits of set_up_");
    std::array<Place, kMax> places_{};
    std::uint8_t size_ = 0;
    std::uint8_t set_up_ = 0;
};

}  // namespace live::media
