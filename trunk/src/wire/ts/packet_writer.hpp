// Splits data into the 188-byte packets of one PID (ISO/IEC 13818-1, 2.4.3.2 and 2.4.3.4): headers, continuity counter,
// adaptation field, stuffing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "wire/ts/psi.hpp"

namespace live::wire::ts {

inline constexpr std::size_t kPacketBytes = 188;
inline constexpr std::size_t kPacketHeaderBytes = 4;
inline constexpr std::size_t kPacketPayloadBytes = kPacketBytes - kPacketHeaderBytes;
inline constexpr std::uint8_t kSyncByte = 0x47;

class PacketWriter {
public:
    // Adaptation field content of a unit's first packet.
    struct Start {
        std::optional<MediaTime> clock;  // the program clock reference
        bool random_access = false;      // decoding may start here
    };

    // A unit while it is written. The parts outlive it and must not all be empty.
    class Unit {
    public:
        Unit() = default;
        Unit(const Start& start, std::span<const Bytes> parts);
        bool is_done() const { return left_ == 0; }
        // Packets still to be written, once the first one is.
        std::size_t packets_left() const { return (left_ + kPacketPayloadBytes - 1) / kPacketPayloadBytes; }

    private:
        friend class PacketWriter;
        void move_to(MutBytes out);

        Start start_;
        std::span<const Bytes> parts_;
        std::size_t at_ = 0;  // in the first of parts_
        std::size_t left_ = 0;
        bool is_begun_ = false;
    };

    explicit PacketWriter(Pid pid) : pid_(pid) {}

    // Writes one unit, starting in a new packet and filling the last one. The parts must not all be empty.
    void write_unit(const Start& start, std::span<const Bytes> parts, std::vector<std::uint8_t>& out);
    // The same in pieces, until the unit is done: a large one takes milliseconds. Nothing else may be written meanwhile.
    void write_some(Unit& unit, std::size_t packets_max, std::vector<std::uint8_t>& out);
    // Writes one section in one packet; aborts when it does not fit.
    void write_section(Bytes section, std::vector<std::uint8_t>& out);
    // Writes a packet with only a clock reference. The counter does not change.
    void write_clock(MediaTime clock, std::vector<std::uint8_t>& out) const;

    // Continuity counter of the next packet with payload.
    std::uint8_t counter() const { return counter_; }
    void set_counter(std::uint64_t counter) { counter_ = static_cast<std::uint8_t>(counter & 0x0FU); }

private:
    enum class Carries : std::uint8_t { payload = 1, field = 2, field_and_payload = 3 };

    std::array<std::uint8_t, 4> header(bool begins_unit, Carries carries) const;

    Pid pid_;
    std::uint8_t counter_ = 0;
};

}  // namespace live::wire::ts
