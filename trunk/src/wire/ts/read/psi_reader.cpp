#include "wire/ts/read/psi_reader.hpp"

#include <algorithm>

#include "base/bytes/byte_reader.hpp"
#include "wire/ts/crc32.hpp"

namespace live::wire::ts {

namespace {

constexpr std::uint8_t kAssociation = 0x00;
constexpr std::uint8_t kMap = 0x02;
constexpr std::uint16_t kPidMask = 0x1FFF;
constexpr std::uint16_t kLengthMask = 0x0FFF;

struct Section {
    std::uint16_t number = 0;  // of the transport stream, or the program
    std::uint8_t version = 0;
    bool current = false;
    std::uint8_t section = 0;
    Bytes body;
};

Result<Section> read_section(Bytes bytes, std::uint8_t table) {
    constexpr std::size_t kChecksumBytes = 4;
    ByteReader in(bytes);
    if (TRY(in.u8()) != table)
        return Error(Errc::malformed, "a section of another table");
    const auto length = TRY(in.u16be());
    ByteReader body(TRY(in.take(length & kLengthMask)));
    if ((length & 0x8000) == 0 || crc32_mpeg2(bytes.first(in.position())) != 0)
        return Error(Errc::malformed, "a section with a wrong checksum");
    Section section;
    section.number = TRY(body.u16be());
    const auto version = TRY(body.u8());
    section.version = version >> 1 & 0x1F;
    section.current = (version & 1) != 0;
    section.section = TRY(body.u8());
    TRY(body.skip(1));
    if (body.remaining() < kChecksumBytes)
        return Error(Errc::malformed, "a section without its checksum");
    section.body = TRY(body.take(body.remaining() - kChecksumBytes));
    return section;
}

// The contents of a stream's descriptors; 2.6.
struct Described {
    std::string_view registration;
    std::string_view metadata;
    bool dvb_ac3 = false;
    bool dvb_eac3 = false;
    std::uint8_t opus_channels = 0;
    std::string language;
};

// 2.6.60: the formats of metadata are named if their fields have all bits set.
std::string_view metadata_format(Bytes body) {
    constexpr std::size_t kNameBytes = 4;
    ByteReader in(body);
    const auto application = in.u16be();
    if (application.ok() && *application == 0xFFFF && !in.skip(kNameBytes).ok())
        return {};
    const auto format = in.u8();
    if (!format.ok() || *format != 0xFF)
        return {};
    const auto name = in.take(kNameBytes);
    return name.ok() ? as_text(*name) : std::string_view();
}

std::string language_of(Bytes body) {
    const std::string_view text = as_text(body.first(std::min<std::size_t>(body.size(), 3)));
    const bool is_name = text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
    return is_name ? std::string(text) : "";
}

Result<Described> read_descriptors(Bytes bytes) {
    Described described;
    for (ByteReader in(bytes); !in.at_end();) {
        const auto tag = TRY(in.u8());
        const Bytes body = TRY(in.take(TRY(in.u8())));
        switch (tag) {
            case 0x05: described.registration = as_text(body.first(std::min<std::size_t>(body.size(), 4))); break;
            case 0x0A: described.language = language_of(body); break;
            case 0x26: described.metadata = metadata_format(body); break;
            case 0x6A: described.dvb_ac3 = true; break;  // ETSI EN 300 468, annex D
            case 0x7A: described.dvb_eac3 = true; break;
            case 0x7F:
                if (body.size() >= 2 && body[0] == 0x80)
                    described.opus_channels = body[1];
                break;
            default: break;
        }
    }
    return described;
}

StreamFormat private_format(const Described& said) {
    if (said.registration == "AC-3" || said.dvb_ac3)
        return StreamFormat::ac3;
    if (said.registration == "EAC3" || said.dvb_eac3)
        return StreamFormat::eac3;
    if (said.registration == "Opus")
        return StreamFormat::opus;
    if (said.registration == "AV01")
        return StreamFormat::av1;
    if (said.registration == "HEVC")
        return StreamFormat::hevc;
    if (said.registration == "KLVA")
        return StreamFormat::klv;
    return said.registration == "ID3 " ? StreamFormat::id3 : StreamFormat::unknown;
}

// Table 2-34; from 0x80 on, as ATSC and SCTE use them.
StreamFormat format_of(std::uint8_t type, const Described& said) {
    switch (type) {
        case 0x03:
        case 0x04: return StreamFormat::mpeg_audio;
        case 0x06: return private_format(said);
        case 0x0F: return StreamFormat::aac;
        case 0x11: return StreamFormat::latm;
        case 0x15:
            if (said.metadata == "ID3 ")
                return StreamFormat::id3;
            return said.metadata == "KLVA" || said.registration == "KLVA" ? StreamFormat::klv : StreamFormat::unknown;
        case 0x1B: return StreamFormat::avc;
        case 0x24: return StreamFormat::hevc;
        case 0x81: return StreamFormat::ac3;
        case 0x86: return StreamFormat::scte35;
        case 0x87: return StreamFormat::eac3;
        default: return StreamFormat::unknown;
    }
}

Result<ProgramMap::Stream> read_stream(ByteReader& in) {
    ProgramMap::Stream stream;
    stream.type = TRY(in.u8());
    stream.pid = TRY(in.u16be()) & kPidMask;
    const std::size_t length = TRY(in.u16be()) & kLengthMask;
    const Bytes descriptors = TRY(in.take(length));
    // A broken descriptor spoils only what it describes.
    const auto said = read_descriptors(descriptors);
    const Described described = said.ok() ? *said : Described();
    stream.format = format_of(stream.type, described);
    stream.opus_channels = described.opus_channels;
    stream.language = described.language;
    return stream;
}

}  // namespace

std::string_view name_of(StreamFormat format) {
    switch (format) {
        case StreamFormat::unknown: break;
        case StreamFormat::avc: return "H264";
        case StreamFormat::hevc: return "HEVC";
        case StreamFormat::av1: return "AV1";
        case StreamFormat::aac: return "AAC";
        case StreamFormat::latm: return "AAC/LATM";
        case StreamFormat::mpeg_audio: return "MPEG audio";
        case StreamFormat::ac3: return "AC3";
        case StreamFormat::eac3: return "EAC3";
        case StreamFormat::opus: return "Opus";
        case StreamFormat::scte35: return "SCTE-35";
        case StreamFormat::id3: return "ID3";
        case StreamFormat::klv: return "KLV";
    }
    return "unknown";
}

MediaKind kind_of(StreamFormat format) {
    switch (format) {
        case StreamFormat::avc:
        case StreamFormat::hevc:
        case StreamFormat::av1: return MediaKind::video;
        case StreamFormat::aac:
        case StreamFormat::latm:
        case StreamFormat::mpeg_audio:
        case StreamFormat::ac3:
        case StreamFormat::eac3:
        case StreamFormat::opus: return MediaKind::audio;
        default: return MediaKind::data;
    }
}

Result<Association> parse_association(Bytes bytes) {
    const Section section = TRY(read_section(bytes, kAssociation));
    Association association{section.version, section.section, section.current, {}};
    for (ByteReader in(section.body); !in.at_end();) {
        const auto number = TRY(in.u16be());
        const auto pid = static_cast<std::uint16_t>(TRY(in.u16be()) & kPidMask);
        if (number != 0)  // 0: the network's own table
            association.programs.push_back({number, pid});
    }
    return association;
}

Result<ProgramMap> parse_program_map(Bytes bytes) {
    const Section section = TRY(read_section(bytes, kMap));
    ProgramMap map{section.number, section.version, section.current, {}};
    ByteReader in(section.body);
    TRY(in.skip(2));  // the PID of the clock
    TRY(in.skip(TRY(in.u16be()) & kLengthMask));
    while (!in.at_end() && map.streams.size() < ProgramMap::kStreamsMax)
        map.streams.push_back(TRY(read_stream(in)));
    return map;
}

}  // namespace live::wire::ts
