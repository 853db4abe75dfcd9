// Closed captions in video: CEA-608 and CEA-708 in the SEI of H.264 and HEVC (ATSC A/72 part 1, 6.4.2; CTA-708-E, 4.4). Finds the
// services that a stream carries, to announce them. Texts are not decoded; the bytes travel in the frames.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::codec {

// The services of a stream.
struct CaptionServices {
    static constexpr std::size_t kChannels = 4;   // CEA-608
    static constexpr std::size_t kServices = 63;  // CEA-708

    std::bitset<kChannels> channels;      // CC1 to CC4
    std::bitset<kServices + 1> services;  // by number, from 1

    bool any() const { return channels.any() || services.any(); }
    // INSTREAM-ID of RFC 8216, 4.3.4.1: CC1 to CC4, SERVICE1 to SERVICE63.
    std::vector<std::string> names() const;

    bool operator==(const CaptionServices&) const = default;
};

// Reports whether a frame begins with units of which one may have captions. Runs for each frame of each publisher and looks at
// the types of at most kFrontUnitsMax units. Lengths are `length_size` bytes.
bool has_front_sei(Codec codec, std::uint8_t length_size, Bytes frame);

class CaptionFinder {
public:
    // Units before the first slice; an encoder sends a delimiter, parameter sets and a few SEI.
    static constexpr std::size_t kFrontUnitsMax = 16;
    // Only the beginning of a longer unit is read. Captions are up to 100 bytes, and the settings of x264 in front of them some
    // 700.
    static constexpr std::size_t kUnitBytesMax = 4'096;

    // Reads the SEI in front of the first slice of a frame, in decoding order. Malformed SEI are ignored.
    void read(Codec codec, std::uint8_t length_size, Bytes frame);
    // The services in all frames so far. Field 1 announces CC1 even while it is empty, because players load the list of services
    // once.
    const CaptionServices& found() const { return found_; }

private:
    void read_sei(Bytes nal, std::size_t header_bytes);
    void read_user_data(Bytes payload);
    void read_construct(std::uint8_t type, std::uint8_t first, std::uint8_t second);
    void read_packet();

    CaptionServices found_;
    // The packet of CEA-708 in progress, which up to 64 constructs carry, perhaps in several frames.
    std::array<std::uint8_t, 128> packet_{};
    std::uint8_t packet_bytes_ = 0;
    std::uint8_t packet_size_ = 0;  // 0: none
};

}  // namespace live::wire::codec
