#include "wire/ts/psi.hpp"

#include <string_view>

#include "base/bytes/byte_writer.hpp"
#include "wire/ts/crc32.hpp"

namespace live::wire::ts {

namespace {

constexpr std::uint16_t kTransportStreamId = 1;
constexpr std::uint16_t kProgramNumber = 1;
constexpr std::uint8_t kAssociationTable = 0x00;
constexpr std::uint8_t kMapTable = 0x02;
constexpr std::uint16_t kSectionSyntax = 0xB000;  // section_syntax_indicator, '0', two reserved bits; the length follows
constexpr std::uint16_t kReserved3 = 0xE000;      // before a PID
constexpr std::uint16_t kReserved4 = 0xF000;      // before a length

std::uint16_t with_reserved(Pid pid) { return static_cast<std::uint16_t>(kReserved3 | static_cast<std::uint16_t>(pid)); }

// Header, `body`, checksum. The length covers everything after itself.
std::vector<std::uint8_t> section(std::uint8_t table, std::uint16_t number, std::uint8_t version, const ByteWriter& body) {
    constexpr std::size_t kBehindLength = 5 + 4;  // the rest of the header, and the checksum
    ByteWriter out;
    out.u8(table).u16be(static_cast<std::uint16_t>(kSectionSyntax | (body.size() + kBehindLength)));
    out.u16be(number);
    out.u8(static_cast<std::uint8_t>(0xC1 | version << 1));  // reserved bits, version, current_next_indicator
    out.u8(0).u8(0);                                         // this section and the last one
    out.bytes(body.written());
    out.u32be(crc32_mpeg2(out.written()));
    return out.release();
}

// 2.6.8: identifies the format of data whose stream type is ambiguous.
void write_registration(ByteWriter& out, std::string_view name) {
    constexpr std::uint8_t kRegistration = 0x05;
    out.u8(kRegistration).u8(static_cast<std::uint8_t>(name.size())).text(name);
}

std::vector<std::uint8_t> descriptors_of(StreamType type, const Tracks& tracks) {
    constexpr std::uint8_t kExtension = 0x7F;
    constexpr std::uint8_t kOpusChannels = 0x80;
    ByteWriter out;
    if (type == StreamType::ac3)
        write_registration(out, "AC-3");
    if (type == StreamType::opus) {
        write_registration(out, "Opus");
        out.u8(kExtension).u8(2).u8(kOpusChannels).u8(tracks.opus_channels);
    }
    return out.release();
}

void write_stream(ByteWriter& out, StreamType type, Pid pid, const Tracks& tracks) {
    const auto descriptors = descriptors_of(type, tracks);
    out.u8(static_cast<std::uint8_t>(type)).u16be(with_reserved(pid));
    out.u16be(static_cast<std::uint16_t>(kReserved4 | descriptors.size())).bytes(descriptors);
}

constexpr std::uint8_t kId3Type = 0x15;
constexpr std::uint8_t kSplicesType = 0x86;

// 2.6.60: metadata_descriptor, and 2.6.58: metadata_pointer_descriptor, whose ends differ.
void write_id3_descriptor(ByteWriter& out, std::uint8_t tag, std::uint8_t flags, bool has_program) {
    out.u8(tag).u8(has_program ? 15 : 13).u16be(0xFFFF).text("ID3 ").u8(0xFF).text("ID3 ").u8(0).u8(flags);
    if (has_program)
        out.u16be(kProgramNumber);
}

std::vector<std::uint8_t> program_descriptors(const Tracks& tracks) {
    ByteWriter out;
    if (tracks.splices)
        write_registration(out, "CUEI");
    if (tracks.id3)
        write_id3_descriptor(out, 0x25, 0x1F, true);
    return out.release();
}

void write_data_streams(ByteWriter& out, const Tracks& tracks) {
    if (tracks.id3) {
        ByteWriter descriptor;
        write_id3_descriptor(descriptor, 0x26, 0x0F, false);
        out.u8(kId3Type).u16be(with_reserved(Pid::id3));
        out.u16be(static_cast<std::uint16_t>(kReserved4 | descriptor.size())).bytes(descriptor.written());
    }
    if (tracks.splices)
        out.u8(kSplicesType).u16be(with_reserved(Pid::splices)).u16be(kReserved4);
}

}  // namespace

std::vector<std::uint8_t> program_association_section() {
    ByteWriter body;
    body.u16be(kProgramNumber).u16be(with_reserved(Pid::pmt));
    return section(kAssociationTable, kTransportStreamId, 0, body);
}

std::vector<std::uint8_t> program_map_section(const Tracks& tracks, std::uint8_t version) {
    ByteWriter body;
    const auto descriptors = program_descriptors(tracks);
    body.u16be(with_reserved(tracks.clock_pid()));
    body.u16be(static_cast<std::uint16_t>(kReserved4 | descriptors.size())).bytes(descriptors);
    if (tracks.video)
        write_stream(body, *tracks.video, Pid::video, tracks);
    if (tracks.audio)
        write_stream(body, *tracks.audio, Pid::audio, tracks);
    write_data_streams(body, tracks);
    return section(kMapTable, kProgramNumber, version, body);
}

}  // namespace live::wire::ts
