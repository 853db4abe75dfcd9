#include "bench/measure/delay_stamp.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"

namespace live::bench {
namespace {

// Our own UUID, without a zero byte: the stamp needs no emulation prevention.
constexpr std::array<std::uint8_t, 16> kUuid = {0x6C, 0x69, 0x76, 0x65, 0x2D, 0x62, 0x65, 0x6E,
                                                0x63, 0x68, 0x2D, 0x73, 0x74, 0x61, 0x6D, 0x70};
constexpr std::size_t kDigits = 16;  // hexadecimal
constexpr std::string_view kMessageName = "liveBenchStamp";

constexpr std::size_t kTagHeaderBytes = 5;  // classic header, AVC packet type, composition time
constexpr std::uint8_t kAvc = 7;
constexpr std::uint8_t kFrames = 1;
constexpr std::uint8_t kNalSei = 6;
constexpr std::uint8_t kNalDelimiter = 9;
constexpr std::uint8_t kUserData = 5;
constexpr std::uint8_t kAggregate = 24;  // STAP-A
constexpr std::uint8_t kTypeMask = 0x1F;
constexpr std::size_t kLengthBytes = 4;  // before a NAL unit
constexpr std::size_t kSeiBytes = 3 + kUuid.size() + kDigits + 1;
// A delimiter is a type and a frame type; it must stay the first NAL unit (H.264, 7.4.1.2.3).
constexpr std::size_t kDelimiterBytes = 4 + 2;

bool is_avc_frames(Bytes body) { return body.size() > kTagHeaderBytes && (body[0] & 0x8F) == kAvc && body[1] == kFrames; }

// Where the stamp is or belongs: after the tag's header and a delimiter.
std::size_t place_of_stamp(Bytes body) {
    const Bytes nal = body.subspan(kTagHeaderBytes);
    const bool has_delimiter = nal.size() >= kDelimiterBytes && nal[0] == 0 && nal[1] == 0 && nal[2] == 0 && nal[3] == 2 &&
                               (nal[4] & 0x1F) == kNalDelimiter;
    return kTagHeaderBytes + (has_delimiter ? kDelimiterBytes : 0);
}

std::optional<SystemMicros> stamp_of_unit(Bytes unit) {
    constexpr std::size_t kUuidAt = 3;
    if (unit.size() < kUuidAt + kUuid.size() + kDigits || unit[0] != kNalSei ||
        !std::ranges::equal(unit.subspan(kUuidAt, kUuid.size()), kUuid))
        return std::nullopt;
    const std::string_view digits = as_text(unit.subspan(kUuidAt + kUuid.size(), kDigits));
    std::uint64_t micros = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), micros, 16);
    if (failure != std::errc() || end != digits.data() + digits.size() || micros > INT64_MAX)
        return std::nullopt;
    return SystemMicros(static_cast<std::int64_t>(micros));
}

}  // namespace

std::vector<std::uint8_t> stamp_unit(SystemMicros now) {
    std::array<char, kDigits> digits;
    digits.fill('0');
    std::array<char, kDigits> text{};
    const auto end = std::to_chars(text.begin(), text.end(), static_cast<std::uint64_t>(now.count()), 16).ptr;
    std::copy(text.begin(), end, digits.end() - (end - text.begin()));

    ByteWriter out;
    out.u8(kNalSei).u8(kUserData).u8(kUuid.size() + kDigits).bytes(kUuid).text({digits.data(), digits.size()}).u8(0x80);
    return out.release();
}

std::optional<std::vector<std::uint8_t>> stamped_video(Bytes body, SystemMicros now) {
    if (!is_avc_frames(body))
        return std::nullopt;
    const std::size_t place = place_of_stamp(body);
    ByteWriter out;
    out.bytes(body.first(place)).u32be(kSeiBytes).bytes(stamp_unit(now)).bytes(body.subspan(place));
    return out.release();
}

bool has_long_nal_lengths(Bytes body) {
    constexpr std::size_t kLengthAt = kTagHeaderBytes + 4;  // lengthSizeMinusOne of the AVCDecoderConfigurationRecord
    return body.size() > kLengthAt && (body[0] & 0x8F) == kAvc && body[1] == 0 && (body[kLengthAt] & 3) == 3;
}

std::vector<std::uint8_t> stamp_message(SystemMicros now) {
    ByteWriter out;
    out.u8(2).u16be(kMessageName.size()).text(kMessageName).u8(0).f64be(static_cast<double>(now.count()));
    return out.release();
}

std::optional<SystemMicros> find_video_stamp(Bytes head) {
    if (!is_avc_frames(head))
        return std::nullopt;
    const Bytes sei = head.subspan(place_of_stamp(head));
    return sei.size() < kLengthBytes ? std::nullopt : stamp_of_unit(sei.subspan(kLengthBytes));
}

std::optional<SystemMicros> find_packet_stamp(Bytes payload) {
    if (payload.empty())
        return std::nullopt;
    if ((payload[0] & kTypeMask) != kAggregate)
        return stamp_of_unit(payload);
    ByteReader in(payload.subspan(1));
    while (!in.at_end()) {
        const auto length = in.u16be();
        if (!length.ok())
            return std::nullopt;
        const auto unit = in.take(*length);
        if (!unit.ok())
            return std::nullopt;
        if (const auto stamp = stamp_of_unit(*unit))
            return stamp;
    }
    return std::nullopt;
}

std::optional<SystemMicros> find_data_stamp(Bytes head) {
    ByteReader in(head);
    const auto marker = in.u8();
    const auto length = in.u16be();
    if (!marker.ok() || *marker != 2 || !length.ok() || *length != kMessageName.size())
        return std::nullopt;
    const auto name = in.take(*length);
    const auto kind = in.u8();
    const auto micros = in.f64be();
    if (!name.ok() || as_text(*name) != kMessageName || !kind.ok() || *kind != 0 || !micros.ok())
        return std::nullopt;
    if (!(*micros >= 0 && *micros < 9e15))
        return std::nullopt;
    return SystemMicros(static_cast<std::int64_t>(*micros));
}

}  // namespace live::bench
