#include "wire/id3/tag.hpp"

#include <algorithm>
#include <string>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"

namespace live::wire::id3 {

namespace {

constexpr std::size_t kHeaderBytes = 10;
constexpr std::size_t kFrameHeaderBytes = 10;
constexpr std::uint8_t kUtf8 = 3;

// ID3v2.4 structure, 6.2: seven bits a byte.
std::uint32_t sync_safe(std::size_t value) {
    std::uint32_t out = 0;
    for (unsigned i = 0; i < 4; ++i)
        out |= static_cast<std::uint32_t>(value >> (7 * i) & 0x7FU) << (8 * i);
    return out;
}

Result<std::size_t> read_sync_safe(ByteReader& in) {
    const std::uint32_t bytes = TRY(in.u32be());
    if ((bytes & 0x8080'8080U) != 0)
        return Error(Errc::malformed, "an ID3 size with a bit that must be zero");
    std::size_t value = 0;
    for (unsigned i = 0; i < 4; ++i)
        value |= std::size_t{bytes >> (8 * i) & 0x7FU} << (7 * i);
    return value;
}

std::vector<std::uint8_t> write_tag(std::string_view id, Bytes data) {
    CHECK(kHeaderBytes + kFrameHeaderBytes + data.size() <= kTagBytesMax);
    ByteWriter out;
    out.text("ID3").u8(4).u8(0).u8(0).u32be(sync_safe(kFrameHeaderBytes + data.size()));
    out.text(id).u32be(sync_safe(data.size())).u16be(0).bytes(data);
    return out.release();
}

}  // namespace

std::vector<std::uint8_t> write_text_tag(std::string_view name, std::string_view text) {
    ByteWriter data;
    data.u8(kUtf8).text(name).u8(0).text(text).u8(0);
    return write_tag("TXXX", data.written());
}

std::vector<std::uint8_t> write_private_tag(std::string_view owner, Bytes bytes) {
    ByteWriter data;
    data.text(owner).u8(0).bytes(bytes);
    return write_tag("PRIV", data.written());
}

Result<std::vector<Frame>> parse_tag(Bytes tag) {
    if (tag.size() > kTagBytesMax)
        return Error(Errc::limit, "an ID3 tag of " + std::to_string(tag.size()) + " bytes");
    ByteReader in(tag);
    if (as_text(TRY(in.take(3))) != "ID3")
        return Error(Errc::malformed, "not an ID3 tag");
    const std::uint8_t version = TRY(in.u8());
    TRY(in.skip(1));
    const std::uint8_t flags = TRY(in.u8());
    if (version < 3 || version > 4 || flags != 0)
        return Error(Errc::unsupported, "ID3 other than version 2.3 and 2.4, or with flags");
    const std::size_t size = TRY(read_sync_safe(in));
    if (size < in.remaining())
        return Error(Errc::malformed, "bytes after the ID3 tag");
    ByteReader body(TRY(in.take(size)));
    std::vector<Frame> frames;
    while (!body.at_end() && TRY(body.peek_u8()) != 0) {  // then padding follows
        const auto short_frame = Error(Errc::malformed, "an ID3 frame that exceeds its tag");
        if (body.remaining() < kFrameHeaderBytes)
            return short_frame;
        const std::string id(as_text(TRY(body.take(4))));
        const std::size_t bytes = version == 4 ? TRY(read_sync_safe(body)) : TRY(body.u32be());
        TRY(body.skip(2));
        if (bytes > body.remaining())
            return short_frame;
        frames.push_back({id, TRY(body.take(bytes))});
    }
    return frames;
}

}  // namespace live::wire::id3
