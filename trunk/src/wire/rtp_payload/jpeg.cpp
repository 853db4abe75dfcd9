#include "wire/rtp_payload/jpeg.hpp"

#include <algorithm>
#include <span>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "wire/rtp_payload/jpeg_tables.hpp"

namespace live::wire::rtp_payload {

namespace {

constexpr std::size_t kTableBytes = 64;
constexpr std::size_t kMainHeadBytes = 8;
constexpr std::size_t kRestartHeadBytes = 4;
constexpr std::size_t kTablesHeadBytes = 4;
constexpr unsigned kPixels = 8;
constexpr unsigned kRestartTypes = 64;  // added to the type
constexpr std::uint8_t kTablesInStream = 128;
constexpr std::uint8_t kTablesInFrame = 255;
constexpr std::uint16_t kWholeFrame = 0xFFFF;  // F, L and the count of a restart header: the fragments are not intervals

// ITU-T T.81, table B.1
enum Marker : std::uint8_t {
    kSof0 = 0xC0,
    kDht = 0xC4,
    kSof15 = 0xCF,
    kRst0 = 0xD0,
    kRst7 = 0xD7,
    kSoi = 0xD8,
    kEoi = 0xD9,
    kSos = 0xDA,
    kDqt = 0xDB,
    kDri = 0xDD,
};

// RFC 2435, 4.2 and appendix A.
void scale_tables(unsigned quality, std::span<std::uint8_t> out) {
    const unsigned factor = std::clamp(quality, 1U, 99U);
    const unsigned scale = factor < 50 ? 5'000 / factor : 200 - factor * 2;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const unsigned base = i < kTableBytes ? kLumaQuantizers[i] : kChromaQuantizers[i - kTableBytes];
        out[i] = static_cast<std::uint8_t>(std::clamp((base * scale + 50) / 100, 1U, 255U));
    }
}

void write_segment(ByteWriter& out, std::uint8_t marker, std::size_t bytes) {
    out.u8(0xFF).u8(marker).u16be(static_cast<std::uint16_t>(bytes + 2));
}

bool ends_with_marker(const std::vector<std::uint8_t>& image) {
    return image.size() >= 2 && image[image.size() - 2] == 0xFF && image.back() == kEoi;
}

}  // namespace

struct JpegDepacketizer::Head {
    std::uint32_t offset = 0;
    std::uint8_t type = 0;  // without kRestartTypes
    std::uint8_t quality = 0;
    std::uint8_t width = 0;
    std::uint8_t height = 0;
    std::uint16_t restart_interval = 0;
    Bytes tables;  // of the first packet, if it has any
    Bytes data;
};

Result<JpegDepacketizer::Head> JpegDepacketizer::read_head(Bytes payload) {
    ByteReader in(payload);
    Head head;
    if (TRY(in.u8()) != 0)
        return Error(Errc::unsupported, "M-JPEG in RTP: interlaced fields");
    head.offset = TRY(in.u24be());
    head.type = TRY(in.u8());
    head.quality = TRY(in.u8());
    head.width = TRY(in.u8());
    head.height = TRY(in.u8());
    if (head.quality == 0)
        return Error(Errc::malformed, "M-JPEG in RTP: the quality 0");
    if (head.width == 0 || head.height == 0)
        return Error(Errc::unsupported, "M-JPEG in RTP: an image of more than 2040 pixels");
    if (head.type >= kRestartTypes) {
        head.type = static_cast<std::uint8_t>(head.type - kRestartTypes);
        head.restart_interval = TRY(in.u16be());
        TRY(in.skip(2));  // the interval that the fragment begins with, which reassembly does not need
    }
    if (head.type > 1)
        return Error(Errc::unsupported, "M-JPEG in RTP: the type " + std::to_string(head.type));
    if (head.quality >= kTablesInStream && head.offset == 0) {
        TRY(in.skip(1));
        const unsigned precision = TRY(in.u8());
        const std::size_t size = TRY(in.u16be());
        head.tables = TRY(in.take(size));
        if (!head.tables.empty() && precision != 0)
            return Error(Errc::unsupported, "M-JPEG in RTP: quantization tables of 16 bits");
        if (size != 0 && size != kTableBytes && size != 2 * kTableBytes)
            return Error(Errc::malformed, "M-JPEG in RTP: quantization tables of " + std::to_string(size) + " bytes");
    }
    head.data = in.rest();
    return head;
}

Result<JpegDepacketizer::Quantizers> JpegDepacketizer::quantizers_of(const Head& head) {
    Quantizers found{};
    if (head.quality < kTablesInStream) {
        scale_tables(head.quality, found);
        return found;
    }
    if (head.tables.empty()) {
        if (head.quality == kTablesInFrame || !kept_ || kept_quality_ != head.quality)
            return Error(Errc::malformed, "M-JPEG in RTP: no quantization tables");
        return *kept_;
    }
    // One table is for all components.
    copy_bytes(head.tables.first(kTableBytes), MutBytes(found).first(kTableBytes));
    copy_bytes(head.tables.last(kTableBytes), MutBytes(found).last(kTableBytes));
    if (head.quality != kTablesInFrame) {
        kept_ = found;
        kept_quality_ = head.quality;
    }
    return found;
}

namespace {

// RFC 2435, appendix B. The components are numbered as in JFIF.
void write_image_head(ByteWriter& out, std::span<const std::uint8_t> quantizers, std::uint8_t type, unsigned width,
                      unsigned height, std::uint16_t restart_interval) {
    constexpr std::array<std::uint8_t, 14> kJfif = {'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
    out.u8(0xFF).u8(kSoi);
    write_segment(out, 0xE0, kJfif.size());
    out.bytes(kJfif);
    for (std::uint8_t table = 0; table < 2; ++table) {
        write_segment(out, kDqt, 1 + kTableBytes);
        out.u8(table).bytes(quantizers.subspan(table * kTableBytes, kTableBytes));
    }
    if (restart_interval > 0) {
        write_segment(out, kDri, 2);
        out.u16be(restart_interval);
    }
    write_segment(out, kSof0, 15);
    out.u8(8).u16be(static_cast<std::uint16_t>(height * kPixels)).u16be(static_cast<std::uint16_t>(width * kPixels)).u8(3);
    out.u8(1).u8(type == 0 ? 0x21 : 0x22).u8(0);
    out.u8(2).u8(0x11).u8(1).u8(3).u8(0x11).u8(1);
    write_segment(out, kDht, kLumaDcTable.size() + kLumaAcTable.size() + kChromaDcTable.size() + kChromaAcTable.size());
    out.bytes(kLumaDcTable).bytes(kLumaAcTable).bytes(kChromaDcTable).bytes(kChromaAcTable);
    write_segment(out, kSos, 10);
    out.u8(3).u8(1).u8(0x00).u8(2).u8(0x11).u8(3).u8(0x11).u8(0).u8(63).u8(0);
}

}  // namespace

Result<void> JpegDepacketizer::take(const Fragment& fragment, const Head& head) {
    if (frames_.begins_with(fragment)) {
        if (head.offset != 0)
            return Error(Errc::malformed, "M-JPEG in RTP: an image without its beginning");
        ByteWriter image;
        write_image_head(image, TRY(quantizers_of(head)), head.type, head.width, head.height, head.restart_interval);
        header_bytes_ = image.size();
        frames_.append(image.written());
        frames_.set_key();
    } else if (head.offset != frames_.data().size() - header_bytes_) {
        return Error(Errc::malformed, "M-JPEG in RTP: a fragment of another place");
    }
    frames_.append(head.data);
    if (fragment.marker && frames_.is_open() && !ends_with_marker(frames_.data())) {
        constexpr std::array<std::uint8_t, 2> kEnd = {0xFF, kEoi};
        frames_.append(kEnd);
    }
    return {};
}

Result<void> JpegDepacketizer::push(const Fragment& fragment) {
    const auto head = read_head(fragment.payload);
    if (!frames_.admit(fragment, head.ok() && head->offset == 0))
        return {};
    auto taken = head.ok() ? take(fragment, *head) : Result<void>(head.error());
    if (!taken.ok()) {
        frames_.lose();
        return taken;
    }
    frames_.finish(fragment);
    return {};
}

namespace {

// The parts of an image that the payload format needs.
struct ImageParts {
    std::array<Bytes, 4> tables;  // by destination
    std::uint8_t luma_table = 0;
    std::uint8_t chroma_table = 0;
    std::uint8_t type = 0;
    unsigned width = 0;  // in units of 8 pixels
    unsigned height = 0;
    std::uint16_t restart_interval = 0;
    Bytes data;
};

Error unsupported(const char* what) { return {Errc::unsupported, std::string("M-JPEG in RTP: ") + what}; }

Result<void> read_tables(ByteReader in, ImageParts& parts) {
    while (!in.at_end()) {
        const unsigned head = TRY(in.u8());
        if (head >= parts.tables.size())
            return unsupported("quantization tables of 16 bits");
        parts.tables[head] = TRY(in.take(kTableBytes));
    }
    return {};
}

// Receivers presume those of the standard.
Result<void> check_codes(ByteReader in) {
    while (!in.at_end()) {
        const Bytes rest = in.rest();
        const auto is_next = [rest](Bytes table) {
            return rest.size() >= table.size() && std::ranges::equal(rest.first(table.size()), table);
        };
        const std::array<Bytes, 4> known = {kLumaDcTable, kChromaDcTable, kLumaAcTable, kChromaAcTable};
        const auto found = std::ranges::find_if(known, is_next);
        if (found == known.end())
            return unsupported("Huffman tables of its own");
        TRY(in.skip(found->size()));
    }
    return {};
}

Result<void> read_frame_head(ByteReader in, ImageParts& parts) {
    if (TRY(in.u8()) != 8)
        return unsupported("samples of other than 8 bits");
    const unsigned height = TRY(in.u16be());
    const unsigned width = TRY(in.u16be());
    parts.height = (height + kPixels - 1) / kPixels;
    parts.width = (width + kPixels - 1) / kPixels;
    if (parts.width == 0 || parts.height == 0 || parts.width > kJpegSideMax || parts.height > kJpegSideMax)
        return unsupported("an image of more than 2040 pixels, or of none");
    if (TRY(in.u8()) != 3)
        return unsupported("an image without three components");
    std::array<std::uint8_t, 3> sampling{};
    std::array<std::uint8_t, 3> tables{};
    for (std::size_t i = 0; i < sampling.size(); ++i) {
        TRY(in.skip(1));
        sampling[i] = TRY(in.u8());
        tables[i] = TRY(in.u8());
        if (tables[i] >= parts.tables.size())
            return Error(Errc::malformed, "M-JPEG in RTP: a quantization table of no destination");
    }
    if ((sampling[0] != 0x21 && sampling[0] != 0x22) || sampling[1] != 0x11 || sampling[2] != 0x11)
        return unsupported("another sampling than 4:2:2 and 4:2:0");
    if (tables[1] != tables[2])
        return unsupported("three quantization tables");
    parts.type = sampling[0] == 0x21 ? 0 : 1;
    parts.luma_table = tables[0];
    parts.chroma_table = tables[1];
    return {};
}

Result<ImageParts> read_image(Bytes image) {
    ImageParts parts;
    ByteReader in(image);
    if (TRY(in.u16be()) != (0xFF00U | kSoi))
        return Error(Errc::malformed, "M-JPEG in RTP: not a JPEG image");
    for (;;) {
        if (TRY(in.u8()) != 0xFF)
            return Error(Errc::malformed, "M-JPEG in RTP: no marker where one must be");
        std::uint8_t marker = TRY(in.u8());
        while (marker == 0xFF)
            marker = TRY(in.u8());
        const std::size_t length = TRY(in.u16be());
        if (length < 2)
            return Error(Errc::malformed, "M-JPEG in RTP: a segment shorter than its length");
        const ByteReader segment(TRY(in.take(length - 2)));
        if (marker == kDqt)
            TRY(read_tables(segment, parts));
        else if (marker == kDht)
            TRY(check_codes(segment));
        else if (marker == kDri)
            parts.restart_interval = TRY(ByteReader(segment).u16be());
        else if (marker == kSof0)
            TRY(read_frame_head(segment, parts));
        else if (marker > kSof0 && marker <= kSof15)
            return unsupported("an image that is not baseline");
        else if (marker == kSos)
            break;
        else if (marker >= kRst0 && marker <= kEoi)
            return Error(Errc::malformed, "M-JPEG in RTP: a marker of another place");
    }
    if (parts.width == 0 || parts.tables[parts.luma_table].empty() || parts.tables[parts.chroma_table].empty())
        return Error(Errc::malformed, "M-JPEG in RTP: an image without its headers");
    parts.data = in.rest();
    return parts;
}

}  // namespace

Result<void> packetize_jpeg(Bytes image, std::size_t payload_bytes_max, PayloadList& out) {
    if (payload_bytes_max < kJpegPayloadBytesMin)
        return Error(Errc::limit, "M-JPEG in RTP: packets that are too small for its headers");
    const ImageParts parts = TRY(read_image(image));
    if (parts.data.size() >= 1U << 24)
        return Error(Errc::limit, "M-JPEG in RTP: an image of 16 MiB and more");
    const bool has_restarts = parts.restart_interval > 0;
    std::size_t at = 0;
    do {
        ByteWriter head;
        head.u8(0).u24be(static_cast<std::uint32_t>(at));
        head.u8(static_cast<std::uint8_t>(parts.type + (has_restarts ? kRestartTypes : 0))).u8(kTablesInFrame);
        head.u8(static_cast<std::uint8_t>(parts.width)).u8(static_cast<std::uint8_t>(parts.height));
        if (has_restarts)
            head.u16be(parts.restart_interval).u16be(kWholeFrame);
        if (at == 0) {
            head.u16be(0).u16be(2 * kTableBytes);
            head.bytes(parts.tables[parts.luma_table]).bytes(parts.tables[parts.chroma_table]);
        }
        const std::size_t size = std::min(parts.data.size() - at, payload_bytes_max - head.size());
        out.append(head.written());
        out.append(parts.data.subspan(at, size));
        out.end_payload();
        at += size;
    } while (at < parts.data.size());
    static_assert(kMainHeadBytes + kRestartHeadBytes + kTablesHeadBytes + 2 * kTableBytes < kJpegPayloadBytesMin);
    return {};
}

}  // namespace live::wire::rtp_payload
