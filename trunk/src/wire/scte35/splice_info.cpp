#include "wire/scte35/splice_info.hpp"

#include <string>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "wire/ts/crc32.hpp"

namespace live::wire::scte35 {

namespace {

constexpr std::size_t kCrcBytes = 4;
constexpr std::size_t kLengthEnd = 3;  // bytes up to section_length, inclusive
constexpr std::size_t kAdjustmentAt = 4;
constexpr std::size_t kUpidBytesMax = 200;
constexpr std::uint16_t kUnknownLength = 0xFFF;  // splice_command_length of earlier editions
constexpr std::uint8_t kSegmentationTag = 0x02;
constexpr std::uint32_t kIdentifier = 0x4355'4549;  // "CUEI"

// 33 bits after seven others.
Result<std::uint64_t> read_ticks(ByteReader& in) {
    const std::uint64_t high = TRY(in.u8()) & 1U;
    return high << 32 | TRY(in.u32be());
}

void write_ticks(ByteWriter& out, std::uint8_t before, std::uint64_t ticks) {
    CHECK(ticks <= kTicksMask);
    out.u8(static_cast<std::uint8_t>(before | ticks >> 32)).u32be(static_cast<std::uint32_t>(ticks));
}

// 9.8.1.
Result<std::optional<std::uint64_t>> read_splice_time(ByteReader& in) {
    constexpr std::uint8_t kSpecified = 0x80;
    if ((TRY(in.peek_u8()) & kSpecified) == 0) {
        TRY(in.skip(1));
        return std::optional<std::uint64_t>();
    }
    return std::optional(TRY(read_ticks(in)));
}

void write_splice_time(ByteWriter& out, std::optional<std::uint64_t> ticks) {
    if (ticks)
        write_ticks(out, 0xFE, *ticks);
    else
        out.u8(0x7F);
}

// The times of the components; that of the first one counts.
Result<std::optional<std::uint64_t>> read_components(ByteReader& in, bool has_times) {
    std::optional<std::uint64_t> first;
    const std::uint8_t count = TRY(in.u8());
    for (unsigned i = 0; i < count; ++i) {
        TRY(in.skip(1));
        if (!has_times)
            continue;
        const auto time = TRY(read_splice_time(in));
        first = i == 0 ? time : first;
    }
    return first;
}

Result<SpliceInsert> read_insert(ByteReader& in) {
    enum Flags : std::uint8_t { kOut = 0x80, kProgram = 0x40, kDuration = 0x20, kImmediate = 0x10 };
    SpliceInsert insert;
    insert.event_id = TRY(in.u32be());
    insert.cancelled = (TRY(in.u8()) & 0x80U) != 0;
    if (insert.cancelled)
        return insert;
    const std::uint8_t flags = TRY(in.u8());
    insert.out_of_network = (flags & kOut) != 0;
    insert.immediate = (flags & kImmediate) != 0;
    if ((flags & kProgram) == 0)
        insert.pts = TRY(read_components(in, !insert.immediate));
    else if (!insert.immediate)
        insert.pts = TRY(read_splice_time(in));
    if ((flags & kDuration) != 0) {
        const bool auto_return = (TRY(in.peek_u8()) & 0x80U) != 0;
        insert.duration = BreakDuration{auto_return, TRY(read_ticks(in))};
    }
    insert.unique_program_id = TRY(in.u16be());
    insert.avail = TRY(in.u8());
    insert.avails_expected = TRY(in.u8());
    return insert;
}

void write_insert(ByteWriter& out, const SpliceInsert& insert) {
    out.u32be(insert.event_id).u8(insert.cancelled ? 0xFF : 0x7F);
    if (insert.cancelled)
        return;
    const bool is_immediate = insert.immediate || !insert.pts;
    out.u8(static_cast<std::uint8_t>((insert.out_of_network ? 0x80 : 0) | 0x40 | (insert.duration ? 0x20 : 0) |
                                     (is_immediate ? 0x10 : 0) | 0x0F));
    if (!is_immediate)
        write_splice_time(out, insert.pts);
    if (insert.duration)
        write_ticks(out, insert.duration->auto_return ? 0xFE : 0x7E, insert.duration->ticks);
    out.u16be(insert.unique_program_id).u8(insert.avail).u8(insert.avails_expected);
}

// After descriptor_length and the identifier.
Result<Segmentation> read_segmentation(ByteReader in) {
    enum Flags : std::uint8_t { kProgram = 0x80, kDuration = 0x40 };
    Segmentation segmentation;
    segmentation.event_id = TRY(in.u32be());
    segmentation.cancelled = (TRY(in.u8()) & 0x80U) != 0;
    if (segmentation.cancelled)
        return segmentation;
    const std::uint8_t flags = TRY(in.u8());
    segmentation.restrictions = flags & 0x3FU;
    if ((flags & kProgram) == 0) {
        constexpr std::size_t kComponentBytes = 6;
        TRY(in.skip(kComponentBytes * TRY(in.u8())));
    }
    if ((flags & kDuration) != 0) {
        const std::uint64_t high = TRY(in.u8());
        segmentation.ticks = high << 32 | TRY(in.u32be());
    }
    segmentation.upid_type = TRY(in.u8());
    const Bytes upid = TRY(in.take(TRY(in.u8())));
    segmentation.upid.assign(upid.begin(), upid.end());
    segmentation.type = TRY(in.u8());
    segmentation.segment = TRY(in.u8());
    segmentation.segments_expected = TRY(in.u8());
    return segmentation;
}

void write_segmentation(ByteWriter& out, const Segmentation& segmentation) {
    CHECK(segmentation.upid.size() <= kUpidBytesMax);
    ByteWriter body;
    body.u32be(kIdentifier).u32be(segmentation.event_id).u8(segmentation.cancelled ? 0xFF : 0x7F);
    if (!segmentation.cancelled) {
        body.u8(static_cast<std::uint8_t>(0x80 | (segmentation.ticks ? 0x40 : 0) | (segmentation.restrictions & 0x3FU)));
        if (segmentation.ticks)
            body.u8(static_cast<std::uint8_t>(*segmentation.ticks >> 32)).u32be(static_cast<std::uint32_t>(*segmentation.ticks));
        body.u8(segmentation.upid_type).u8(static_cast<std::uint8_t>(segmentation.upid.size())).bytes(segmentation.upid);
        body.u8(segmentation.type).u8(segmentation.segment).u8(segmentation.segments_expected);
    }
    out.u8(kSegmentationTag).u8(static_cast<std::uint8_t>(body.size())).bytes(body.written());
}

Result<std::vector<Segmentation>> read_descriptors(Bytes bytes) {
    std::vector<Segmentation> segmentations;
    ByteReader in(bytes);
    while (!in.at_end()) {
        const std::uint8_t tag = TRY(in.u8());
        ByteReader body(TRY(in.take(TRY(in.u8()))));
        if (tag != kSegmentationTag || segmentations.size() == kDescriptorsMax || TRY(body.u32be()) != kIdentifier)
            continue;
        segmentations.push_back(TRY(read_segmentation(body)));
    }
    return segmentations;
}

Result<void> read_command(ByteReader& in, SpliceInfo& info) {
    if (info.command == Command::splice_insert)
        info.insert = TRY(read_insert(in));
    else if (info.command == Command::time_signal)
        info.signal_pts = TRY(read_splice_time(in));
    return {};
}

// Commands of unknown length are read to find their end.
Result<void> read_command_and_descriptors(ByteReader& in, std::uint16_t length, SpliceInfo& info) {
    if (length != kUnknownLength) {
        ByteReader command(TRY(in.take(length)));
        TRY(read_command(command, info));
    } else {
        TRY(read_command(in, info));
    }
    const std::uint16_t bytes = TRY(in.u16be());
    info.segmentations = TRY(read_descriptors(TRY(in.take(bytes))));
    return {};
}

// A field that is missing within a complete section is an error in it.
Error in_section(const Error& error) {
    return error.code() == Errc::need_more ? Error(Errc::malformed, "the splice information is shorter than its lengths say")
                                           : Error(error);
}

bool begins_break(std::uint8_t type) {
    switch (type) {
        case 0x22:  // break
        case 0x30:  // provider advertisement
        case 0x32:  // distributor advertisement
        case 0x34:  // provider placement opportunity
        case 0x36:  // distributor placement opportunity
        case 0x38:  // provider overlay placement opportunity
        case 0x3A:  // distributor overlay placement opportunity
        case 0x44:  // provider advertisement block
        case 0x46:  // distributor advertisement block
            return true;
        default: return false;
    }
}

bool ends_break(std::uint8_t type) { return type % 2 == 1 && begins_break(static_cast<std::uint8_t>(type - 1)); }

}  // namespace

Result<SpliceInfo> parse_splice_info(Bytes section) {
    ByteReader head(section);
    if (TRY(head.u8()) != kTableId)
        return Error(Errc::malformed, "not a splice information section");
    const std::size_t length = TRY(head.u16be()) & 0xFFFU;
    if (length > kSectionBytesMax - kLengthEnd)
        return Error(Errc::malformed, "a splice information section of " + std::to_string(length) + " bytes");
    const Bytes body = TRY(head.take(length));
    if (length < kCrcBytes || ts::crc32_mpeg2(section.first(kLengthEnd + length)) != 0)
        return Error(Errc::malformed, "the splice information has a wrong checksum");
    ByteReader in(body.first(length - kCrcBytes));
    const auto read = [&in]() -> Result<SpliceInfo> {
        SpliceInfo info;
        if (TRY(in.u8()) != 0)
            return Error(Errc::unsupported, "splice information of an unknown protocol version");
        info.encrypted = (TRY(in.peek_u8()) & 0x80U) != 0;
        info.pts_adjustment = TRY(read_ticks(in));
        TRY(in.skip(1));  // cw_index
        const std::uint32_t packed = TRY(in.u24be());
        info.tier = static_cast<std::uint16_t>(packed >> 12);
        if (info.encrypted)
            return info;
        info.command = static_cast<Command>(TRY(in.u8()));
        TRY(read_command_and_descriptors(in, packed & 0xFFFU, info));
        return info;
    };
    auto info = read();
    if (!info.ok())
        return in_section(info.error());
    return info;
}

std::vector<std::uint8_t> write_splice_info(const SpliceInfo& info) {
    ByteWriter command;
    if (info.command == Command::splice_insert)
        write_insert(command, info.insert.value());
    else if (info.command == Command::time_signal)
        write_splice_time(command, info.signal_pts);
    else
        CHECK(info.command == Command::splice_null);
    ByteWriter descriptors;
    for (const Segmentation& segmentation : info.segmentations)
        write_segmentation(descriptors, segmentation);
    ByteWriter body;
    body.u8(0);
    write_ticks(body, 0, info.pts_adjustment);
    body.u8(0xFF).u24be(static_cast<std::uint32_t>(info.tier) << 12 | static_cast<std::uint32_t>(command.size()));
    body.u8(static_cast<std::uint8_t>(info.command)).bytes(command.written());
    body.u16be(static_cast<std::uint16_t>(descriptors.size())).bytes(descriptors.written());
    const std::size_t length = body.size() + kCrcBytes;
    CHECK(length <= kSectionBytesMax - kLengthEnd);
    ByteWriter out;
    out.u8(kTableId).u16be(static_cast<std::uint16_t>(0x3000 | length)).bytes(body.written());
    out.u32be(ts::crc32_mpeg2(out.written()));
    return out.release();
}

std::optional<std::uint64_t> splice_ticks(const SpliceInfo& info) {
    const auto pts = info.insert ? info.insert->pts : info.signal_pts;
    return pts ? std::optional((*pts + info.pts_adjustment) & kTicksMask) : std::nullopt;
}

std::vector<std::uint8_t> with_adjustment(Bytes section, std::uint64_t pts_adjustment) {
    const std::size_t length = kLengthEnd + ((std::size_t{section[1]} << 8 | section[2]) & 0xFFFU);
    CHECK(length <= section.size() && length > kAdjustmentAt + 5 + kCrcBytes);
    ByteWriter out;
    out.bytes(section.first(kAdjustmentAt));
    write_ticks(out, section[kAdjustmentAt] & 0xFEU, pts_adjustment & kTicksMask);
    out.bytes(section.subspan(kAdjustmentAt + 5, length - kAdjustmentAt - 5 - kCrcBytes));
    out.u32be(ts::crc32_mpeg2(out.written()));
    return out.release();
}

std::vector<Cue> cues_of(const SpliceInfo& info) {
    std::vector<Cue> cues;
    if (info.insert && !info.insert->cancelled) {
        const auto& duration = info.insert->duration;
        cues.push_back({info.insert->out_of_network ? CueKind::out : CueKind::in, info.insert->event_id,
                        duration ? std::optional(duration->ticks) : std::nullopt, duration && duration->auto_return});
    }
    for (const Segmentation& one : info.segmentations) {
        if (one.cancelled)
            continue;
        const CueKind kind = begins_break(one.type) ? CueKind::out : ends_break(one.type) ? CueKind::in : CueKind::other;
        cues.push_back({kind, one.event_id, one.ticks, false});
    }
    return cues;
}

}  // namespace live::wire::scte35
