#include "wire/rtp_payload/nal.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::rtp_payload {

namespace {

constexpr std::size_t kNalLengthBytes = 4;
constexpr std::size_t kUnitsMax = 1'024;  // NAL units of one frame that we send
constexpr std::uint8_t kNalFragmentStart = 0x80;
constexpr std::uint8_t kFragmentEnd = 0x40;
constexpr std::uint8_t kPaci = 50;

struct Numbers {
    std::size_t header_bytes;
    std::uint8_t aggregate;
    std::uint8_t fragment;
    std::uint8_t single_max;  // types up to it are NAL units of the codec
};
constexpr Numbers kAvc{1, 24, 28, 23};
constexpr Numbers kHevc{2, 48, 49, 47};
const Numbers& numbers(NalCodec codec) { return codec == NalCodec::avc ? kAvc : kHevc; }

std::uint8_t nal_type_of(NalCodec codec, std::uint8_t first) {
    return codec == NalCodec::avc ? first & 0x1F : static_cast<std::uint8_t>(first >> 1 & 0x3F);
}
std::uint8_t with_type(NalCodec codec, std::uint8_t first, std::uint8_t type) {
    if (codec == NalCodec::avc)
        return static_cast<std::uint8_t>((first & 0xE0) | type);
    return static_cast<std::uint8_t>((first & 0x81) | type << 1);
}

// Higher types are defined by the payload format or unassigned.
bool is_unit(NalCodec codec, std::uint8_t type) {
    return type <= numbers(codec).single_max && (codec == NalCodec::hevc || type != 0);
}

// Types that neither the codec nor the payload format defines: some cameras send data of their own in them.
bool is_private(NalCodec codec, std::uint8_t type) { return codec == NalCodec::avc ? type >= 30 : type >= 51; }

bool is_key(NalCodec codec, std::uint8_t type) { return codec == NalCodec::avc ? type == 5 : type >= 16 && type <= 21; }

// Reports whether a frame begins with this unit; `body` follows its header. The first bit of a slice is set in the first slice of
// a frame (first_mb_in_slice of 0 is the code "1"; first_slice_segment_in_pic_flag); parameter sets, delimiters and SEI precede
// it.
bool begins_frame(NalCodec codec, std::uint8_t type, Bytes body) {
    const bool is_slice = codec == NalCodec::avc ? type >= 1 && type <= 5 : type <= 31;
    if (is_slice)
        return !body.empty() && (body[0] & 0x80) != 0;
    return codec == NalCodec::avc ? type >= 6 && type <= 9 : (type >= 32 && type <= 35) || type == 39;
}

Error bad_nal(const char* what) { return {Errc::malformed, std::string("RTP payload: ") + what}; }

void put_length(std::vector<std::uint8_t>& data, std::size_t at) {
    const std::size_t length = data.size() - at - kNalLengthBytes;
    for (std::size_t i = 0; i < kNalLengthBytes; ++i)
        data[at + i] = static_cast<std::uint8_t>(length >> 8 * (kNalLengthBytes - 1 - i));
}

Result<std::vector<Bytes>> split_nals(NalCodec codec, Bytes frame) {
    const std::size_t header_bytes = numbers(codec).header_bytes;
    std::vector<Bytes> units;
    ByteReader in(frame);
    while (!in.at_end()) {
        const auto length = in.u32be();
        const auto unit = length.ok() ? in.take(*length) : Result<Bytes>(Error(length.error()));
        if (!unit.ok() || unit->size() < header_bytes)
            return bad_nal("NAL units whose lengths do not fit");
        if (units.size() == kUnitsMax)
            return Error(Errc::limit, "RTP payload: more than " + std::to_string(kUnitsMax) + " NAL units");
        if (is_unit(codec, nal_type_of(codec, unit->front())))
            units.push_back(*unit);
    }
    return units;
}

// Writes the unit, aggregate or fragment that a PACI packet carries, behind a header of its own (RFC 7798, 4.4.4). False for one
// that is malformed.
bool unpack_paci(Bytes payload, std::vector<std::uint8_t>& out) {
    constexpr std::size_t kFieldsEnd = 4;
    if (payload.size() < kFieldsEnd)
        return false;
    const auto fields = static_cast<unsigned>(payload[2] << 8 | payload[3]);
    const auto type = static_cast<std::uint8_t>(fields >> 9 & 0x3F);
    const std::size_t content_at = kFieldsEnd + (fields >> 4 & 0x1F);
    if (type == kPaci || payload.size() <= content_at)
        return false;
    const Bytes content = payload.subspan(content_at);
    out.assign({static_cast<std::uint8_t>((payload[2] & 0x80) | type << 1 | (payload[0] & 1)), payload[1]});
    out.insert(out.end(), content.begin(), content.end());
    return true;
}

// Fragments a unit that is too long for a packet. The type in its header moves to the fragment header (RFC 6184, 5.8; RFC 7798,
// 4.4.3).
void write_fragments(NalCodec codec, Bytes unit, std::size_t payload_bytes_max, PayloadList& out) {
    const Numbers& n = numbers(codec);
    const std::uint8_t type = nal_type_of(codec, unit[0]);
    const std::size_t room = payload_bytes_max - n.header_bytes - 1;
    Bytes rest = unit.subspan(n.header_bytes);
    // Fragments of nearly equal size, so that the last is not a tiny packet.
    const std::size_t pieces = (rest.size() + room - 1) / room;
    const std::size_t piece_bytes = (rest.size() + pieces - 1) / pieces;
    for (std::uint8_t mark = kNalFragmentStart; !rest.empty(); mark = 0) {
        const Bytes piece = rest.first(std::min(piece_bytes, rest.size()));
        rest = rest.subspan(piece.size());
        out.append(with_type(codec, unit[0], n.fragment));
        out.append(unit.subspan(1, n.header_bytes - 1));
        out.append(static_cast<std::uint8_t>(mark | (rest.empty() ? kFragmentEnd : 0) | type));
        out.append(piece);
        out.end_payload();
    }
}

// The aggregate's own header: for AVC the highest importance, for HEVC the lowest layer and temporal ID of its units.
void write_aggregate(NalCodec codec, std::span<const Bytes> units, PayloadList& out) {
    if (codec == NalCodec::avc) {
        std::uint8_t importance = 0;
        for (const Bytes unit : units)
            importance = std::max<std::uint8_t>(importance, unit[0] & 0x60);
        out.append(importance | kAvc.aggregate);
    } else {
        std::uint16_t lowest = 0x1FF;
        for (const Bytes unit : units)
            lowest = std::min<std::uint16_t>(lowest, static_cast<std::uint16_t>((unit[0] & 1U) << 8 | unit[1]));
        out.append(static_cast<std::uint8_t>(kHevc.aggregate << 1 | lowest >> 8));
        out.append(static_cast<std::uint8_t>(lowest));
    }
    for (const Bytes unit : units) {
        out.append(static_cast<std::uint8_t>(unit.size() >> 8));
        out.append(static_cast<std::uint8_t>(unit.size()));
        out.append(unit);
    }
    out.end_payload();
}

}  // namespace

Result<void> NalDepacketizer::push(const Fragment& fragment) {
    const Bytes payload = fragment.payload;
    if (codec_ == NalCodec::avc || payload.empty() || nal_type_of(codec_, payload[0]) != kPaci ||
        !unpack_paci(payload, unpacked_))
        return push_plain(fragment);
    Fragment plain = fragment;
    plain.payload = unpacked_;
    return push_plain(plain);
}

Result<void> NalDepacketizer::push_plain(const Fragment& fragment) {
    if (!frames_.admit(fragment, may_begin(fragment.payload)))
        return {};
    if (frames_.begins_with(fragment))
        fragment_at_.reset();
    auto read_it = read(fragment.payload);
    if (!read_it.ok())
        frames_.lose();
    // Some cameras do not mark the last fragment; the marker ends the image.
    else if (fragment.marker)
        end_unit();
    frames_.set_unfinished(fragment_at_.has_value());
    frames_.finish(fragment);
    return read_it;
}

bool NalDepacketizer::may_begin(Bytes payload) const {
    const Numbers& n = numbers(codec_);
    if (payload.size() <= n.header_bytes)
        return false;
    const std::uint8_t type = nal_type_of(codec_, payload[0]);
    const Bytes body = payload.subspan(n.header_bytes);
    if (type == n.fragment)
        return (body[0] & kNalFragmentStart) != 0 &&
               begins_frame(codec_, body[0] & (codec_ == NalCodec::avc ? 0x1F : 0x3F), body.subspan(1));
    if (type != n.aggregate)
        return begins_frame(codec_, type, body);
    if (body.size() <= 2 + n.header_bytes)
        return false;
    return begins_frame(codec_, nal_type_of(codec_, body[2]), body.subspan(2 + n.header_bytes));
}

Result<void> NalDepacketizer::read(Bytes payload) {
    const Numbers& n = numbers(codec_);
    // An empty packet: the sender probes the link on the stream's own SSRC.
    if (payload.empty())
        return {};
    if (payload.size() < n.header_bytes)
        return bad_nal("a NAL unit without its header");
    const std::uint8_t type = nal_type_of(codec_, payload[0]);
    if (type == n.fragment)
        return read_fragment(payload);
    if (is_private(codec_, type))
        return {};
    if (fragment_at_)
        return bad_nal("a NAL unit in pieces without its end");
    if (type == n.aggregate)
        return read_aggregate(payload.subspan(n.header_bytes));
    if (!is_unit(codec_, type))
        return Error(Errc::unsupported, "RTP payload: NAL unit type " + std::to_string(type));
    append_unit(payload);
    return {};
}

Result<void> NalDepacketizer::read_aggregate(Bytes units) {
    ByteReader in(units);
    if (in.at_end())
        return bad_nal("an aggregate of nothing");
    while (!in.at_end()) {
        const auto size = in.u16be();
        const auto unit = size.ok() ? in.take(*size) : Result<Bytes>(Error(size.error()));
        if (!unit.ok() || unit->size() < numbers(codec_).header_bytes)
            return bad_nal("an aggregate whose sizes do not fit");
        if (!is_unit(codec_, nal_type_of(codec_, unit->front())))
            return bad_nal("an aggregate inside an aggregate");
        append_unit(*unit);
    }
    return {};
}

Result<void> NalDepacketizer::read_fragment(Bytes payload) {
    const Numbers& n = numbers(codec_);
    if (payload.size() < n.header_bytes + 2)
        return bad_nal("a fragment of nothing");
    const std::uint8_t mark = payload[n.header_bytes];
    const bool is_start = (mark & kNalFragmentStart) != 0;
    const bool is_end = (mark & kFragmentEnd) != 0;
    if (!is_start && !fragment_at_)
        return bad_nal("fragments out of their order");
    if (is_start) {
        end_unit();
        const auto type = static_cast<std::uint8_t>(mark & (codec_ == NalCodec::avc ? 0x1F : 0x3F));
        if (!is_unit(codec_, type))
            return bad_nal("a fragment of what is no NAL unit");
        if (is_key(codec_, type))
            frames_.set_key();
        fragment_at_ = frames_.data().size();
        frames_.append(std::array<std::uint8_t, kNalLengthBytes>{});
        frames_.append(std::array{with_type(codec_, payload[0], type)});
        frames_.append(payload.subspan(1, n.header_bytes - 1));
    }
    frames_.append(payload.subspan(n.header_bytes + 1));
    if (is_end)
        end_unit();
    return {};
}

void NalDepacketizer::end_unit() {
    if (!fragment_at_ || !frames_.is_open())
        return;
    put_length(frames_.data(), *fragment_at_);
    fragment_at_.reset();
}

void NalDepacketizer::append_unit(Bytes unit) {
    const std::size_t at = frames_.data().size();
    if (is_key(codec_, nal_type_of(codec_, unit[0])))
        frames_.set_key();
    frames_.append(std::array<std::uint8_t, kNalLengthBytes>{});
    frames_.append(unit);
    if (frames_.is_open())
        put_length(frames_.data(), at);
}

Result<void> packetize_nal(NalCodec codec, Bytes frame, std::size_t payload_bytes_max, PayloadList& out) {
    CHECK(payload_bytes_max >= kPayloadBytesMin);
    const Numbers& n = numbers(codec);
    const std::vector<Bytes> units = TRY(split_nals(codec, frame));
    for (std::size_t i = 0; i < units.size();) {
        if (units[i].size() > payload_bytes_max) {
            write_fragments(codec, units[i++], payload_bytes_max, out);
            continue;
        }
        std::size_t count = 0;
        for (std::size_t bytes = n.header_bytes; i + count < units.size(); ++count) {
            bytes += 2 + units[i + count].size();
            if (bytes > payload_bytes_max)
                break;
        }
        if (count < 2) {
            out.append(units[i]);
            out.end_payload();
            count = 1;
        } else {
            write_aggregate(codec, std::span(units).subspan(i, count), out);
        }
        i += count;
    }
    return {};
}

}  // namespace live::wire::rtp_payload
