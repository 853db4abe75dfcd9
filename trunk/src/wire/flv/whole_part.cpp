#include "wire/flv/whole_part.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "wire/flv/file_writer.hpp"
#include "wire/flv/flv_file.hpp"
#include "wire/flv/video_tag.hpp"

namespace live::wire::flv {

namespace {

constexpr std::size_t kBeginning = kFileHeaderBytes + kTagSizeBytes;
constexpr std::size_t kBodyHeadBytes = FileWriter::kBodyHeadBytes;

bool is_known_tag(TagType type) { return type == TagType::audio || type == TagType::video || type == TagType::script; }

// Parses the tag header at the front of `head`, which may end within the tag's body.
Result<TagHeader> header_at(Bytes head) {
    ByteReader in(head);
    const TagHeader header = TRY(read_tag_header(in));
    if (!is_known_tag(header.type))
        return Error(Errc::malformed, "a tag of an unknown type");
    return header;
}

FileWriter::Index index_for(const TagHeader& header, Bytes body_head) {
    if (header.type != TagType::video)
        return FileWriter::Index::no;
    const auto tag = parse_video_tag(body_head);
    const bool is_key = tag.ok() && tag->key && tag->kind == PacketKind::frames;
    return is_key ? FileWriter::Index::yes : FileWriter::Index::no;
}

}  // namespace

Result<WholePart> whole_part(std::uint64_t size, const ReadAt& read) {
    const auto beginning = TRY(read(0, kBeginning + kTagHeaderBytes));
    if (beginning.size() < kBeginning + kTagHeaderBytes || beginning[0] != 'F' || beginning[1] != 'L' || beginning[2] != 'V' ||
        beginning[8] != kFileHeaderBytes)
        return Error(Errc::malformed, "no FLV file");
    const TagHeader first = TRY(header_at(Bytes(beginning).subspan(kBeginning)));
    if (first.type != TagType::script || first.size > kMetadataBytesMax)
        return Error(Errc::malformed, "an FLV file that does not begin with metadata");
    std::uint64_t at = kBeginning + kTagHeaderBytes + first.size + kTagSizeBytes;
    if (at > size)
        return Error(Errc::malformed, "an FLV file that ends in its metadata");
    const auto metadata = TRY(read(kBeginning + kTagHeaderBytes, first.size));
    FileWriter writer = FileWriter::resumed(metadata);
    const bool can_patch = writer.bytes() == at;

    WholePart part;
    // Reads the size after each tag and the header of the next one together: one read per tag.
    auto piece = TRY(read(at, kTagHeaderBytes + kBodyHeadBytes));
    for (Bytes head(piece);;) {
        const auto header = header_at(head);
        if (!header.ok())
            break;
        const std::uint64_t tag_bytes = kTagHeaderBytes + header->size;
        if (at + tag_bytes + kTagSizeBytes > size)
            break;
        auto next = TRY(read(at + tag_bytes, kTagSizeBytes + kTagHeaderBytes + kBodyHeadBytes));
        ByteReader behind(next);
        const auto repeated = behind.u32be();
        if (!repeated.ok() || *repeated != tag_bytes)
            break;
        const Bytes rest = head.subspan(kTagHeaderBytes);
        const Bytes body = rest.first(std::min<std::size_t>(rest.size(), header->size));
        writer.account(header->type, header->timestamp_ms, tag_bytes + kTagSizeBytes, index_for(*header, body), body);
        at += tag_bytes + kTagSizeBytes;
        piece = std::move(next);
        head = Bytes(piece).subspan(kTagSizeBytes);
    }
    part.bytes = at;
    part.has_media = writer.tags() > 0;
    part.duration = std::chrono::milliseconds(writer.duration_ms());
    if (can_patch)
        part.patch = writer.finish();
    return part;
}

}  // namespace live::wire::flv
