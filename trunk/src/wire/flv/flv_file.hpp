// The FLV container: file header, tag headers and the sizes that follow each tag (Video File Format 10.1, E.2 and E.3). FlvReader
// is a push parser for files and HTTP-FLV streams; the writers add the few bytes before and after a tag's body.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::flv {

inline constexpr std::size_t kFileHeaderBytes = 9;
inline constexpr std::size_t kTagHeaderBytes = 11;
inline constexpr std::size_t kTagSizeBytes = 4;  // after each tag, and once after the file header

enum class TagType : std::uint8_t { audio = 8, video = 9, script = 18 };

struct FileHeader {
    bool has_audio = false;
    bool has_video = false;

    bool operator==(const FileHeader&) const = default;
};

struct TagHeader {
    TagType type = TagType::script;
    std::uint32_t size = 0;          // of the body; 24 bits
    std::uint32_t timestamp_ms = 0;  // wraps after 49.7 days

    bool operator==(const TagHeader&) const = default;
};

struct Tag {
    TagHeader header;
    Slice body;
};

// The file header and the zero size of the nonexistent previous tag.
void write_file_header(ByteWriter& out, FileHeader header);
// Aborts when the size does not fit 24 bits.
std::array<std::uint8_t, kTagHeaderBytes> tag_header_bytes(const TagHeader& header);
void write_tag_header(ByteWriter& out, const TagHeader& header);
// The size field that follows a body of this length.
std::array<std::uint8_t, kTagSizeBytes> tag_size_bytes(std::size_t body_bytes);
// Writes the tag header, the body and the size. `body_header` precedes a body that is a frame alone.
void write_tag(ByteWriter& out, TagType type, std::uint32_t timestamp_ms, Bytes body, Bytes body_header = {});

// Errc::unsupported for encrypted tags. Unknown types are returned as their number.
Result<TagHeader> read_tag_header(ByteReader& in);

// Accepts bytes in any portions and returns tags. Wrong sizes after tags are common in practice and are ignored; tags of unknown
// types are skipped.
class FlvReader {
public:
    struct Limits {
        std::size_t tag_bytes = 10 << 20;
        std::size_t header_bytes = 64 << 10;  // limit between the file header and the first tag
        std::size_t kept_bytes = SIZE_MAX;    // of each body; the rest is skipped without being stored
    };

    FlvReader() = default;
    explicit FlvReader(Limits limits) : limits_(limits) {}

    // Consumes bytes from the front of `input`, at most to the end of one tag, and returns their number; take the tag with next()
    // before the next feed(). The reader cannot be used after an error.
    Result<std::size_t> feed(Bytes input);
    // The tag that feed() completed; returned once. Its body ends after Limits::kept_bytes, its header has the whole size.
    std::optional<Tag> next();
    // Set once the file header is parsed.
    const std::optional<FileHeader>& file_header() const { return file_header_; }
    // Body size of the incomplete tag.
    std::size_t unfinished_bytes() const { return stage_ == Stage::body ? body_bytes_ : 0; }

private:
    enum class Stage : std::uint8_t { file_header, skipping, tag_header, body };

    std::size_t fill(Bytes input, std::size_t wanted);
    Result<void> begin_tags();
    Result<void> begin_tag();

    Limits limits_;
    std::optional<FileHeader> file_header_;
    std::optional<Tag> ready_;
    std::array<std::uint8_t, kTagHeaderBytes> held_{};  // a partial header
    std::size_t held_bytes_ = 0;
    TagHeader header_;
    Slice body_;
    std::size_t body_bytes_ = 0;
    std::size_t skip_bytes_ = 0;
    Stage stage_ = Stage::file_header;
};

}  // namespace live::wire::flv
