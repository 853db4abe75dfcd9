// RTP packets as GB28181 devices send them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "wire/ps/ps_builder_fixture.hpp"
#include "wire/rtp/packet.hpp"
#include "wire/rtp/stream_framing.hpp"

namespace live::engine::gb28181 {

inline constexpr std::uint32_t kSsrc = 47'190'001;
inline constexpr TimePoint kStart{1h};

inline std::vector<std::uint8_t> rtp_packet(std::uint16_t sequence, std::uint32_t ssrc, Bytes payload, bool marker = false) {
    ByteWriter out;
    wire::rtp::Packet packet;
    packet.marker = marker;
    packet.payload_type = 96;
    packet.sequence = sequence;
    packet.ssrc = ssrc;
    wire::rtp::write_header(out, packet);
    out.bytes(payload);
    return out.release();
}

inline void append_framed(std::vector<std::uint8_t>& stream, Bytes packet) { wire::rtp::write_frame(stream, packet); }

// One image in a pack, cut into packets of 1,400 bytes of which the last is marked.
class Camera {
public:
    explicit Camera(std::uint32_t ssrc = kSsrc) : ssrc_(ssrc) {}

    std::vector<std::vector<std::uint8_t>> image(std::size_t size) {
        constexpr std::size_t kPayloadBytes = 1'400;
        static constexpr std::uint8_t kSets[] = {0, 0, 0, 1, 0x67, 0x64, 0x00, 0x28, 0xac, 0xd9, 0x40,
                                                 0, 0, 0, 1, 0x68, 0xeb, 0xe3, 0xcb, 0x22, 0xc0};
        std::vector<std::uint8_t> unit;
        if (images_ == 0)
            unit.assign(std::begin(kSets), std::end(kSets));
        unit.insert(unit.end(), {0, 0, 0, 1, static_cast<std::uint8_t>(images_ == 0 ? 0x65 : 0x41)});
        unit.resize(unit.size() + size, 0xAB);
        wire::ps::PsBuilder ps;
        ps.pack().split_pes(0xE0, 90'000 + images_++ * 3'600, unit, 60'000);
        std::vector<std::vector<std::uint8_t>> packets;
        for (Bytes rest = ps.bytes; !rest.empty();) {
            const Bytes part = rest.first(std::min(rest.size(), kPayloadBytes));
            rest = rest.subspan(part.size());
            packets.push_back(rtp_packet(sequence_++, ssrc_, part, rest.empty()));
        }
        return packets;
    }

private:
    const std::uint32_t ssrc_;
    std::uint16_t sequence_ = 65'530;
    std::uint64_t images_ = 0;
};

}  // namespace live::engine::gb28181
