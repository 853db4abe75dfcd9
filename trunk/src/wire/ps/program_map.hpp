// The program stream map, which names the codecs of a program stream (ISO/IEC 13818-1, 2.5.4), with the stream types that
// GB/T 28181 adds (annex C).
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::ps {

enum class StreamFormat : std::uint8_t {
    unknown,
    avc,
    hevc,
    aac,         // ADTS
    latm,        // AAC
    mpeg_audio,  // layers II and III
    g711a,
    g711u,
    other,  // a codec that is not supported, such as G.722.1 or SVAC
};
// "H264", "AAC", "G711A", ..., for logs.
std::string_view name_of(StreamFormat format);

StreamFormat format_of(std::uint8_t stream_type);

struct ProgramMap {
    static constexpr std::size_t kStreamsMax = 32;  // further ones are left out

    struct Stream {
        std::uint8_t id = 0;    // of its PES packets
        std::uint8_t type = 0;  // table 2-34
        bool operator==(const Stream&) const = default;
    };

    bool current = false;  // false: it will be valid next
    // Some devices write no valid checksum.
    bool has_checksum = false;
    std::vector<Stream> streams;
};

// A complete map, from its start code to its checksum. Errc::need_more when it is cut, Errc::malformed when its lengths disagree.
Result<ProgramMap> parse_program_map(Bytes unit);

}  // namespace live::wire::ps
