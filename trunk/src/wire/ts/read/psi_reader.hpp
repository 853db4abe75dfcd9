// Reads the tables that psi.hpp writes: the list of programs, and the map of one program (ISO/IEC 13818-1, 2.4.4.3 and 2.4.4.8),
// with the formats of the streams from its descriptors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/media_kind.hpp"
#include "base/result.hpp"

namespace live::wire::ts {

enum class StreamFormat : std::uint8_t {
    unknown,
    avc,
    hevc,
    av1,
    aac,         // ADTS
    latm,        // AAC
    mpeg_audio,  // layers II and III
    ac3,
    eac3,
    opus,
    scte35,
    id3,
    klv,
};
// "H264", "AAC", "AAC/LATM", "SCTE-35", ..., for logs.
std::string_view name_of(StreamFormat format);

MediaKind kind_of(StreamFormat format);

struct Association {
    struct Program {
        std::uint16_t number = 0;
        std::uint16_t map_pid = 0;

        bool operator==(const Program&) const = default;
    };

    std::uint8_t version = 0;
    std::uint8_t section = 0;
    bool current = false;  // false: it will be valid next
    std::vector<Program> programs;
};

struct ProgramMap {
    static constexpr std::size_t kStreamsMax = 64;  // further ones are left out

    struct Stream {
        std::uint16_t pid = 0;
        std::uint8_t type = 0;  // table 2-34
        StreamFormat format = StreamFormat::unknown;
        std::uint8_t opus_channels = 0;
        std::string language;  // ISO 639-2; empty if not given

        bool operator==(const Stream&) const = default;
    };

    std::uint16_t program = 0;
    std::uint8_t version = 0;
    bool current = false;
    std::vector<Stream> streams;
};

// A complete section. Errc::malformed also when its checksum is wrong or it is another table, Errc::need_more when it is cut.
Result<Association> parse_association(Bytes section);
Result<ProgramMap> parse_program_map(Bytes section);

}  // namespace live::wire::ts
