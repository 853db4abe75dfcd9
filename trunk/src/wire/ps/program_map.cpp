#include "wire/ps/program_map.hpp"

#include "base/bytes/byte_reader.hpp"
#include "wire/ts/crc32.hpp"

namespace live::wire::ps {

std::string_view name_of(StreamFormat format) {
    switch (format) {
        case StreamFormat::unknown: break;
        case StreamFormat::avc: return "H264";
        case StreamFormat::hevc: return "HEVC";
        case StreamFormat::aac: return "AAC";
        case StreamFormat::latm: return "AAC/LATM";
        case StreamFormat::mpeg_audio: return "MPEG audio";
        case StreamFormat::g711a: return "G711A";
        case StreamFormat::g711u: return "G711U";
        case StreamFormat::other: return "unsupported";
    }
    return "unknown";
}

StreamFormat format_of(std::uint8_t stream_type) {
    switch (stream_type) {
        case 0x03:
        case 0x04: return StreamFormat::mpeg_audio;
        case 0x0F: return StreamFormat::aac;
        case 0x11: return StreamFormat::latm;
        case 0x1B: return StreamFormat::avc;
        case 0x24: return StreamFormat::hevc;
        case 0x90: return StreamFormat::g711a;
        case 0x91: return StreamFormat::g711u;
        default: return StreamFormat::other;
    }
}

Result<ProgramMap> parse_program_map(Bytes unit) {
    constexpr std::uint32_t kStartCode = 0x1BC;
    constexpr std::size_t kChecksumBytes = 4;
    ByteReader in(unit);
    if (TRY(in.u32be()) != kStartCode)
        return Error(Errc::malformed, "a program stream map without its start code");
    const Bytes rest = TRY(in.take(TRY(in.u16be())));
    if (rest.size() < kChecksumBytes)
        return Error(Errc::malformed, "a program stream map shorter than its checksum");
    ProgramMap map;
    map.has_checksum = ts::crc32_mpeg2(unit.first(in.position())) == 0;
    const auto broken = [](const auto& read) { return Error(Errc::malformed, read.error().sentence()); };
    ByteReader body(rest.first(rest.size() - kChecksumBytes));
    const auto flags = body.u16be();
    if (!flags.ok())
        return broken(flags);
    map.current = (*flags & 0x8000) != 0;
    const auto described = body.u16be();
    if (!described.ok() || !body.skip(*described).ok())
        return Error(Errc::malformed, "descriptors that do not fit in a program stream map");
    const auto listed = body.u16be();
    const auto list = listed.ok() ? body.take(*listed) : Result<Bytes>(listed.error());
    if (!list.ok())
        return broken(list);
    for (ByteReader streams(*list); !streams.at_end();) {
        const auto head = streams.u16be();
        const auto more = streams.u16be();
        if (!head.ok() || !more.ok() || !streams.skip(*more).ok())
            return Error(Errc::malformed, "a stream that does not fit in a program stream map");
        if (map.streams.size() < ProgramMap::kStreamsMax)
            map.streams.push_back({static_cast<std::uint8_t>(*head & 0xFF), static_cast<std::uint8_t>(*head >> 8)});
    }
    return map;
}

}  // namespace live::wire::ps
