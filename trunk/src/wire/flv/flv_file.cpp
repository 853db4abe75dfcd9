#include "wire/flv/flv_file.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace live::wire::flv {

namespace {

constexpr std::uint32_t kSizeMax = 0xFF'FFFF;

bool is_known(TagType type) { return type == TagType::audio || type == TagType::video || type == TagType::script; }

}  // namespace

void write_file_header(ByteWriter& out, FileHeader header) {
    const int flags = (header.has_audio ? 4 : 0) | (header.has_video ? 1 : 0);
    out.text("FLV").u8(1).u8(static_cast<std::uint8_t>(flags)).u32be(kFileHeaderBytes).u32be(0);
}

std::array<std::uint8_t, kTagHeaderBytes> tag_header_bytes(const TagHeader& header) {
    CHECK(header.size <= kSizeMax);
    const auto byte = [](std::uint32_t value, int shift) { return static_cast<std::uint8_t>(value >> shift); };
    const std::uint32_t time = header.timestamp_ms;
    // The upper eight bits of the timestamp come after the lower ones: they were added to the format later.
    return {static_cast<std::uint8_t>(header.type),
            byte(header.size, 16),
            byte(header.size, 8),
            byte(header.size, 0),
            byte(time, 16),
            byte(time, 8),
            byte(time, 0),
            byte(time, 24),
            0,
            0,
            0};
}

void write_tag_header(ByteWriter& out, const TagHeader& header) { out.bytes(tag_header_bytes(header)); }

std::array<std::uint8_t, kTagSizeBytes> tag_size_bytes(std::size_t body_bytes) {
    const auto size = static_cast<std::uint32_t>(body_bytes + kTagHeaderBytes);
    return {static_cast<std::uint8_t>(size >> 24), static_cast<std::uint8_t>(size >> 16), static_cast<std::uint8_t>(size >> 8),
            static_cast<std::uint8_t>(size)};
}

void write_tag(ByteWriter& out, TagType type, std::uint32_t timestamp_ms, Bytes body, Bytes body_header) {
    const std::size_t size = body_header.size() + body.size();
    CHECK(size <= kSizeMax);
    write_tag_header(out, {type, static_cast<std::uint32_t>(size), timestamp_ms});
    out.bytes(body_header).bytes(body).bytes(tag_size_bytes(size));
}

Result<TagHeader> read_tag_header(ByteReader& in) {
    ByteReader header(TRY(in.take(kTagHeaderBytes)));
    const auto type = TRY(header.u8());
    if ((type & 0x20) != 0)
        return Error(Errc::unsupported, "encrypted FLV tag");
    TagHeader tag;
    tag.type = static_cast<TagType>(type & 0x1F);
    tag.size = TRY(header.u24be());
    tag.timestamp_ms = TRY(header.u24be());
    tag.timestamp_ms |= std::uint32_t{TRY(header.u8())} << 24;
    return tag;
}

std::size_t FlvReader::fill(Bytes input, std::size_t wanted) {
    const std::size_t count = std::min(input.size(), wanted - held_bytes_);
    std::copy_n(input.begin(), count, held_.begin() + static_cast<std::ptrdiff_t>(held_bytes_));
    held_bytes_ += count;
    return count;
}

Result<void> FlvReader::begin_tags() {
    ByteReader in(Bytes(held_).first(kFileHeaderBytes));
    if (as_text(TRY(in.take(3))) != "FLV")
        return Error(Errc::malformed, "the file does not begin with FLV");
    if (const auto version = TRY(in.u8()); version != 1)
        return Error(Errc::unsupported, "FLV version " + std::to_string(version));
    const auto flags = TRY(in.u8());
    const std::size_t offset = TRY(in.u32be());
    if (offset < kFileHeaderBytes)
        return Error(Errc::malformed, "FLV header of " + std::to_string(offset) + " bytes");
    if (offset > limits_.header_bytes)
        return Error(Errc::limit, "FLV header of " + std::to_string(offset) + " bytes");
    file_header_ = FileHeader{(flags & 4) != 0, (flags & 1) != 0};
    skip_bytes_ = offset - kFileHeaderBytes + kTagSizeBytes;
    stage_ = Stage::skipping;
    held_bytes_ = 0;
    return {};
}

Result<void> FlvReader::begin_tag() {
    ByteReader in{Bytes(held_)};
    header_ = TRY(read_tag_header(in));
    if (header_.size > limits_.tag_bytes)
        return Error(Errc::limit, "FLV tag of " + std::to_string(header_.size) + " bytes, at most " +
                                      std::to_string(limits_.tag_bytes) + " are read");
    held_bytes_ = 0;
    if (!is_known(header_.type)) {
        skip_bytes_ = header_.size + kTagSizeBytes;
        stage_ = Stage::skipping;
        return {};
    }
    body_ = Slice::allocate(std::min<std::size_t>(header_.size, limits_.kept_bytes));
    body_bytes_ = 0;
    stage_ = Stage::body;
    return {};
}

Result<std::size_t> FlvReader::feed(Bytes input) {
    CHECK(!ready_);  // The caller must take every tag.
    const std::size_t all = input.size();
    while (!ready_) {
        std::size_t used = 0;
        switch (stage_) {
            case Stage::file_header:
                used = fill(input, kFileHeaderBytes);
                if (held_bytes_ == kFileHeaderBytes)
                    TRY(begin_tags());
                break;
            case Stage::skipping:
                used = std::min(input.size(), skip_bytes_);
                skip_bytes_ -= used;
                if (skip_bytes_ == 0)
                    stage_ = Stage::tag_header;
                break;
            case Stage::tag_header:
                used = fill(input, kTagHeaderBytes);
                if (held_bytes_ == kTagHeaderBytes)
                    TRY(begin_tag());
                break;
            case Stage::body:
                used = std::min(input.size(), header_.size - body_bytes_);
                if (used > 0 && body_bytes_ < body_.size())
                    std::memcpy(body_.mutable_bytes().data() + body_bytes_, input.data(),
                                std::min(used, body_.size() - body_bytes_));
                body_bytes_ += used;
                if (body_bytes_ == header_.size) {
                    ready_ = Tag{header_, std::exchange(body_, Slice())};
                    skip_bytes_ = kTagSizeBytes;
                    stage_ = Stage::skipping;
                }
                break;
        }
        input = input.subspan(used);
        if (input.empty() && !(stage_ == Stage::body && body_bytes_ == header_.size))
            break;
    }
    return all - input.size();
}

std::optional<Tag> FlvReader::next() { return std::exchange(ready_, std::nullopt); }

}  // namespace live::wire::flv
