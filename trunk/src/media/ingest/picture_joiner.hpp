// PictureJoiner: makes whole pictures of what some encoders send as several messages: delimiter, SEI, parameter sets or slices in
// messages of their own (H.264, 7.4.1.2.3; H.265, 7.4.2.4.4; AV1, 7.5). One packet is then one access unit, as all readers
// expect.
//
// An ordinary publisher's message passes at once, unchanged. Pieces in front of a picture wait for it. A picture waits for the
// next message only if this publisher sends slices one by one, which its first pictures show.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "media/ring/ring.hpp"
#include "media/ring/tag_packet.hpp"
#include "wire/codec/video/picture_units.hpp"

namespace live::media {

class PictureJoiner {
public:
    // Limits for one picture; at a limit the held pieces are passed on as they are.
    static constexpr std::size_t kPiecesMax = 1'024;
    static constexpr std::size_t kHeldBytesMax = 16U << 20;
    // How far back in the ring the newest picture may be.
    static constexpr std::size_t kLookBackMax = 64;

    struct Picture {
        TagPacket tagged;
        std::uint32_t stamp_ms = 0;
    };

    // True: the packet passes unchanged. Otherwise push() it, then pop() until nothing is left.
    bool passes(const Packet& packet, std::uint32_t stamp_ms);
    // After passes(). `ring` has the packets that passed before.
    void push(TagPacket&& tagged, std::uint32_t stamp_ms, const Ring& ring);
    std::optional<Picture> pop();
    // The publisher has ended: pop() returns the held pieces.
    void finish();

    // The configuration of a track has changed.
    void note_config(const Packet& config);
    // Bytes of the length before each of its NAL units.
    std::uint8_t length_size(TrackId id) { return track_of(id).length_size; }

    // Whether an image arrived in several messages.
    bool has_joined() const { return has_joined_; }

private:
    // How this publisher sends the slices of a picture.
    enum class Slices : std::uint8_t { unknown, together, one_by_one };

    struct Held {
        std::vector<Slice> pieces;  // frames of all messages, in order; empty: nothing is held
        std::size_t bytes = 0;
        bool has_picture = false;
        Picture picture;  // the first message with a slice
    };

    struct Track {
        TrackId id{};
        std::uint8_t length_size = 4;
        Slices slices = Slices::unknown;
        bool has_fronts = false;  // an image had leading units in a separate message
        bool has_passed = false;  // a picture has
        std::uint32_t passed_ms = 0;
        Held held;
    };

    Track& track_of(TrackId id);
    void hold(Track& track, TagPacket&& tagged, std::uint32_t stamp_ms, bool is_picture);
    void push_first(Track& track, TagPacket&& tagged, std::uint32_t stamp_ms);
    void push_middle(Track& track, TagPacket&& tagged, std::uint32_t stamp_ms, const Ring& ring);
    bool take_back(Track& track, const Ring& ring);
    void pass(Track& track, TagPacket&& tagged, std::uint32_t stamp_ms);
    void end_picture(Track& track);

    std::vector<Track> tracks_;                                          // few; mostly one
    wire::codec::PicturePart part_ = wire::codec::PicturePart::unknown;  // of the packet that did not pass
    std::vector<Picture> ready_;
    std::size_t taken_ = 0;  // of ready_
    bool has_joined_ = false;
};

}  // namespace live::media
