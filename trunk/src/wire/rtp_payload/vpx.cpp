#include "wire/rtp_payload/vpx.hpp"

#include <algorithm>
#include <array>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::rtp_payload {

namespace {

constexpr std::size_t kReferencesMax = 3;  // RFC 9628, 4.2: P_DIFF

Result<std::uint16_t> read_picture_id(ByteReader& in) {
    const unsigned first = TRY(in.u8());
    if ((first & 0x80U) == 0)
        return static_cast<std::uint16_t>(first);
    return static_cast<std::uint16_t>((first & 0x7FU) << 8 | TRY(in.u8()));
}

// RFC 9628, 4.2.1: layer sizes, then the pictures of a group and their references. Skipped here.
Result<void> skip_structure(ByteReader& in) {
    const unsigned head = TRY(in.u8());
    const std::size_t layers = (head >> 5) + 1;
    if ((head & 0x10U) != 0)
        TRY(in.skip(4 * layers));
    if ((head & 0x08U) == 0)
        return {};
    const std::size_t pictures = TRY(in.u8());
    for (std::size_t i = 0; i < pictures; ++i)
        TRY(in.skip(TRY(in.u8()) >> 2 & 3U));
    return {};
}

Result<void> read_references(ByteReader& in) {
    for (std::size_t i = 0; i < kReferencesMax; ++i)
        if ((TRY(in.u8()) & 1U) == 0)
            return {};
    return Error(Errc::malformed, "VP9 in RTP: more than three references");
}

template <class Head>
void split_frame(Bytes frame, std::size_t room, PayloadList& out, Head head) {
    const std::size_t pieces = (frame.size() + room - 1) / room;
    const std::size_t piece_bytes = pieces == 0 ? 0 : (frame.size() + pieces - 1) / pieces;
    for (bool is_first = true; !frame.empty(); is_first = false) {
        const Bytes piece = frame.first(std::min(piece_bytes, frame.size()));
        frame = frame.subspan(piece.size());
        head(is_first, frame.empty());
        out.append(piece);
        out.end_payload();
    }
}

void write_picture_id(std::uint16_t picture_id, PayloadList& out) {
    out.append(static_cast<std::uint8_t>(0x80U | (picture_id >> 8 & 0x7FU)));
    out.append(static_cast<std::uint8_t>(picture_id));
}

}  // namespace

Result<Vp8Descriptor> parse_vp8_descriptor(Bytes payload) {
    ByteReader in(payload);
    const unsigned head = TRY(in.u8());
    Vp8Descriptor descriptor;
    descriptor.begins_partition = (head & 0x10U) != 0;
    descriptor.partition = head & 0x07U;
    if ((head & 0x80U) != 0) {
        const unsigned extension = TRY(in.u8());
        if ((extension & 0x80U) != 0)
            descriptor.picture_id = TRY(read_picture_id(in));
        if ((extension & 0x40U) != 0)
            TRY(in.skip(1));  // TL0PICIDX
        if ((extension & 0x30U) != 0)
            TRY(in.skip(1));  // TID, Y, KEYIDX
    }
    descriptor.bytes = in.position();
    if (in.at_end())
        return Error(Errc::malformed, "VP8 in RTP: a descriptor of nothing");
    return descriptor;
}

Result<Vp9Descriptor> parse_vp9_descriptor(Bytes payload) {
    ByteReader in(payload);
    const unsigned head = TRY(in.u8());
    const bool is_flexible = (head & 0x10U) != 0;
    Vp9Descriptor descriptor;
    descriptor.is_inter = (head & 0x40U) != 0;
    descriptor.begins_frame = (head & 0x08U) != 0;
    descriptor.ends_frame = (head & 0x04U) != 0;
    if ((head & 0x80U) != 0)
        descriptor.picture_id = TRY(read_picture_id(in));
    if ((head & 0x20U) != 0) {
        const unsigned layer = TRY(in.u8());
        descriptor.temporal = static_cast<std::uint8_t>(layer >> 5);
        descriptor.is_switching_point = (layer & 0x10U) != 0;
        descriptor.spatial = static_cast<std::uint8_t>(layer >> 1 & 7U);
        if (!is_flexible)
            TRY(in.skip(1));  // TL0PICIDX
    }
    if (is_flexible && descriptor.is_inter)
        TRY(read_references(in));
    if ((head & 0x02U) != 0)
        TRY(skip_structure(in));
    descriptor.bytes = in.position();
    if (in.at_end())
        return Error(Errc::malformed, "VP9 in RTP: a descriptor of nothing");
    return descriptor;
}

Result<VpxDepacketizer::Piece> VpxDepacketizer::piece_of(Bytes payload) const {
    if (codec_ == VpxCodec::vp8) {
        const Vp8Descriptor descriptor = TRY(parse_vp8_descriptor(payload));
        // RFC 6386, 9.1: the first bit of a frame distinguishes inter frames from key frames.
        const bool is_key = descriptor.begins_frame() && (payload[descriptor.bytes] & 1U) == 0;
        return Piece{descriptor.bytes, descriptor.begins_frame(), is_key};
    }
    const Vp9Descriptor descriptor = TRY(parse_vp9_descriptor(payload));
    const bool is_base = descriptor.begins_frame && descriptor.spatial == 0;
    return Piece{descriptor.bytes, is_base, is_base && !descriptor.is_inter};
}

Result<void> VpxDepacketizer::push(const Fragment& fragment) {
    if (fragment.payload.empty()) {
        // A probe: it has a sequence number but belongs to no frame.
        if (frames_.admit(fragment, false))
            frames_.finish(fragment);
        return {};
    }
    const auto piece = piece_of(fragment.payload);
    if (!frames_.admit(fragment, piece.ok() && piece->begins))
        return {};
    if (!piece.ok()) {
        frames_.lose();
        return Error(piece.error());
    }
    if (frames_.begins_with(fragment) && !piece->begins) {
        frames_.lose();
        return Error(Errc::malformed, "VP8 or VP9 in RTP: a frame without its beginning");
    }
    if (piece->is_key)
        frames_.set_key();
    frames_.append(fragment.payload.subspan(piece->descriptor_bytes));
    frames_.finish(fragment);
    return {};
}

void packetize_vp8(Bytes frame, std::uint16_t picture_id, std::size_t payload_bytes_max, PayloadList& out) {
    constexpr std::size_t kDescriptorBytes = 4;
    CHECK(payload_bytes_max >= kPayloadBytesMin);
    split_frame(frame, payload_bytes_max - kDescriptorBytes, out, [&](bool is_first, bool) {
        out.append(is_first ? 0x90 : 0x80);
        out.append(0x80);
        write_picture_id(picture_id, out);
    });
}

void packetize_vp9(Bytes frame, FrameKind kind, std::uint16_t picture_id, std::size_t payload_bytes_max, PayloadList& out) {
    constexpr std::size_t kDescriptorBytes = 3;
    CHECK(payload_bytes_max >= kPayloadBytesMin);
    split_frame(frame, payload_bytes_max - kDescriptorBytes, out, [&](bool is_first, bool is_last) {
        unsigned head = 0x80U;
        head |= kind == FrameKind::inter ? 0x40U : 0U;
        head |= is_first ? 0x08U : 0U;
        head |= is_last ? 0x04U : 0U;
        out.append(static_cast<std::uint8_t>(head));
        write_picture_id(picture_id, out);
    });
}

}  // namespace live::wire::rtp_payload
