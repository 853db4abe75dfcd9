#include "wire/ts/packet_writer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "wire/ts/clock.hpp"

namespace live::wire::ts {

namespace {

constexpr std::uint8_t kStuffing = 0xFF;
constexpr std::uint8_t kUnitStart = 0x40;
constexpr std::uint8_t kRandomAccess = 0x40;
constexpr std::uint8_t kHasClock = 0x10;
constexpr std::size_t kClockBytes = 6;
constexpr unsigned kCounters = 16;  // modulus of continuity counters

void append(std::vector<std::uint8_t>& out, Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

std::uint8_t counted_on(std::uint8_t counter, unsigned by) { return static_cast<std::uint8_t>((counter + by) % kCounters); }

// Size of the adaptation field with its length byte; 0 when it is not needed.
std::size_t field_bytes(const PacketWriter::Start& start) {
    if (start.clock)
        return 2 + kClockBytes;
    return start.random_access ? 2 : 0;
}

// ISO/IEC 13818-1, table 2-6: 33 bits, 6 reserved, 9 bits.
void write_reference(ClockReference clock, std::vector<std::uint8_t>& out) {
    const std::uint64_t bits = clock.base << 15 | std::uint64_t{0x3F} << 9 | clock.extension;
    for (int shift = 40; shift >= 0; shift -= 8)
        out.push_back(static_cast<std::uint8_t>(bits >> shift));
}

// Writes `bytes` in total, padded with stuffing. A single byte is a field of length 0.
void write_field(const PacketWriter::Start& start, std::size_t bytes, std::vector<std::uint8_t>& out) {
    const std::size_t end = out.size() + bytes;
    out.push_back(static_cast<std::uint8_t>(bytes - 1));
    if (bytes > 1) {
        const unsigned flags = (start.random_access ? kRandomAccess : 0U) | (start.clock ? kHasClock : 0U);
        out.push_back(static_cast<std::uint8_t>(flags));
    }
    if (start.clock)
        write_reference(clock_reference_of(*start.clock), out);
    out.resize(end, kStuffing);
}

}  // namespace

std::array<std::uint8_t, 4> PacketWriter::header(bool begins_unit, Carries carries) const {
    const auto pid = static_cast<std::uint16_t>(pid_);
    return {kSyncByte, static_cast<std::uint8_t>((begins_unit ? kUnitStart : 0U) | pid >> 8), static_cast<std::uint8_t>(pid),
            static_cast<std::uint8_t>(static_cast<unsigned>(carries) << 4 | counter_)};
}

PacketWriter::Unit::Unit(const Start& start, std::span<const Bytes> parts) : start_(start), parts_(parts) {
    for (const Bytes part : parts)
        left_ += part.size();
    CHECK(left_ > 0);
}

// Reads the parts as one sequence.
void PacketWriter::Unit::move_to(MutBytes out) {
    left_ -= out.size();
    while (!out.empty()) {
        const Bytes rest = parts_.front().subspan(at_);
        const Bytes piece = rest.first(std::min(out.size(), rest.size()));
        std::copy_n(piece.data(), piece.size(), out.data());  // GCC 12 copies from ranges of constant bytes one by one
        out = out.subspan(piece.size());
        at_ += piece.size();
        if (at_ == parts_.front().size()) {
            parts_ = parts_.subspan(1);
            at_ = 0;
        }
    }
}

void PacketWriter::write_unit(const Start& start, std::span<const Bytes> parts, std::vector<std::uint8_t>& out) {
    Unit unit(start, parts);
    write_some(unit, std::numeric_limits<std::size_t>::max(), out);
}

void PacketWriter::write_some(Unit& unit, std::size_t packets_max, std::vector<std::uint8_t>& out) {
    // Reserves space, because a growing vector would copy a huge unit repeatedly. The first packet may take one more.
    const std::size_t packets = std::min(unit.packets_left() + (unit.is_begun_ ? 0 : 1), packets_max);
    const std::size_t wanted = out.size() + packets * kPacketBytes;
    if (wanted > out.capacity())
        out.reserve(std::max(wanted, 2 * out.capacity()));
    for (std::size_t written = 0; written < packets_max && !unit.is_done(); ++written) {
        const bool first = !std::exchange(unit.is_begun_, true);
        std::size_t field = first ? field_bytes(unit.start_) : 0;
        std::size_t count = kPacketPayloadBytes - field;
        if (unit.left_ < count) {
            field += count - unit.left_;
            count = unit.left_;
        }
        append(out, header(first, field > 0 ? Carries::field_and_payload : Carries::payload));
        if (field > 0)
            write_field(first ? unit.start_ : Start{}, field, out);
        out.resize(out.size() + count);
        unit.move_to(MutBytes(out).last(count));
        counter_ = counted_on(counter_, 1);
    }
}

void PacketWriter::write_section(Bytes section, std::vector<std::uint8_t>& out) {
    CHECK(section.size() < kPacketPayloadBytes);
    const std::size_t end = out.size() + kPacketBytes;
    append(out, header(true, Carries::payload));
    counter_ = counted_on(counter_, 1);
    out.push_back(0);  // pointer_field: the section follows immediately.
    append(out, section);
    out.resize(end, kStuffing);
}

void PacketWriter::write_clock(MediaTime clock, std::vector<std::uint8_t>& out) const {
    // A packet without payload repeats the counter of the previous packet (2.4.3.3).
    PacketWriter before(pid_);
    before.counter_ = counted_on(counter_, kCounters - 1);
    append(out, before.header(false, Carries::field));
    write_field({.clock = clock}, kPacketPayloadBytes, out);
}

}  // namespace live::wire::ts
