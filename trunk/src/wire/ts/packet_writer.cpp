#include "wire/ts/packet_writer.hpp"

#include <algorithm>

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

// Reads several ranges as one sequence.
class PartReader {
public:
    explicit PartReader(std::span<const Bytes> parts) : parts_(parts) {}

    void move_to(MutBytes out) {
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

private:
    std::span<const Bytes> parts_;
    std::size_t at_ = 0;
};

}  // namespace

std::array<std::uint8_t, 4> PacketWriter::header(bool begins_unit, Carries carries) const {
    const auto pid = static_cast<std::uint16_t>(pid_);
    return {kSyncByte, static_cast<std::uint8_t>((begins_unit ? kUnitStart : 0U) | pid >> 8), static_cast<std::uint8_t>(pid),
            static_cast<std::uint8_t>(static_cast<unsigned>(carries) << 4 | counter_)};
}

void PacketWriter::write_unit(const Start& start, std::span<const Bytes> parts, std::vector<std::uint8_t>& out) {
    std::size_t left = 0;
    for (const Bytes part : parts)
        left += part.size();
    CHECK(left > 0);
    // Reserves space, because a growing vector would copy a huge unit repeatedly.
    const std::size_t wanted = out.size() + (left / kPacketPayloadBytes + 2) * kPacketBytes;
    if (wanted > out.capacity())
        out.reserve(std::max(wanted, 2 * out.capacity()));
    PartReader in(parts);
    for (bool first = true; left > 0; first = false) {
        std::size_t field = first ? field_bytes(start) : 0;
        std::size_t count = kPacketPayloadBytes - field;
        if (left < count) {
            field += count - left;
            count = left;
        }
        append(out, header(first, field > 0 ? Carries::field_and_payload : Carries::payload));
        if (field > 0)
            write_field(first ? start : Start{}, field, out);
        out.resize(out.size() + count);
        in.move_to(MutBytes(out).last(count));
        left -= count;
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
