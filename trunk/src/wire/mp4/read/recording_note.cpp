#include "wire/mp4/read/recording_note.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/bytes/byte_reader.hpp"
#include "wire/mp4/box.hpp"

namespace live::wire::mp4 {

namespace {

constexpr std::array<std::uint8_t, 16> kType = {0x6d, 0x69, 0x6c, 0x6c, 0x72, 0x61, 0x63, 0x65,
                                                0x2d, 0x72, 0x65, 0x63, 0x6f, 0x72, 0x64, 0x31};
constexpr std::uint8_t kVersion = 1;

void write_text(ByteWriter& out, std::string_view text) {
    text = text.substr(0, RecordingNote::kTextBytesMax);
    out.u16be(static_cast<std::uint16_t>(text.size())).text(text);
}

Result<std::string> read_text(ByteReader& in) {
    const std::size_t size = TRY(in.u16be());
    if (size > RecordingNote::kTextBytesMax)
        return Error(Errc::limit, "a name in a recording's note that is too long");
    return std::string(as_text(TRY(in.take(size))));
}

}  // namespace

void write_recording_note(ByteWriter& out, const RecordingNote& note) {
    const Box box(out, "uuid");
    out.bytes(kType).u8(kVersion).u64be(static_cast<std::uint64_t>(note.start.time_since_epoch().count()));
    write_text(out, note.vhost);
    write_text(out, note.app);
    write_text(out, note.stream);
}

Result<RecordingNote> read_recording_note(Bytes content) {
    ByteReader in(content);
    if (!std::ranges::equal(TRY(in.take(kType.size())), kType))
        return Error(Errc::not_found, "a box of another program");
    if (TRY(in.u8()) != kVersion)
        return Error(Errc::unsupported, "a recording's note of a later version");
    RecordingNote note;
    note.start = WallTime(std::chrono::microseconds(static_cast<std::int64_t>(TRY(in.u64be()))));
    note.vhost = TRY(read_text(in));
    note.app = TRY(read_text(in));
    note.stream = TRY(read_text(in));
    return note;
}

}  // namespace live::wire::mp4
