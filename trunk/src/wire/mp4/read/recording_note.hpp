// RecordingNote: the stream that a recording is of and the time at which it begins, in a box of the file itself (`uuid`: ISO/IEC
// 14496-12, 11.1), so that a list of recordings can be made from the files alone. Players skip the box.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/bytes/byte_writer.hpp"
#include "base/result.hpp"
#include "base/text/wall_time_text.hpp"

namespace live::wire::mp4 {

// As base/text/wall_time_text.hpp reads and writes it.
using live::WallTime;

struct RecordingNote {
    static constexpr std::size_t kTextBytesMax = 1'024;

    std::string vhost;
    std::string app;
    std::string stream;
    WallTime start{};  // of media time zero

    bool operator==(const RecordingNote&) const = default;
};

// Writes the box. A text of more than kTextBytesMax bytes is cut.
void write_recording_note(ByteWriter& out, const RecordingNote& note);
// Reads the content of a `uuid` box. Errc::not_found: another program's box; Errc::unsupported: of a later version.
Result<RecordingNote> read_recording_note(Bytes content);

}  // namespace live::wire::mp4
