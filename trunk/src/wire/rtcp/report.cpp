#include "wire/rtcp/report.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::rtcp {

namespace {

constexpr std::uint8_t kItemEnd = 0;
constexpr std::uint8_t kItemCname = 1;
constexpr std::uint32_t kRembName = 0x52454D42;  // "REMB"
constexpr unsigned kRembMantissaBits = 18;
constexpr unsigned kNackSpan = 16;  // packets after the first one of an entry

std::int32_t signed_24(std::uint32_t value) { return static_cast<std::int32_t>(value & 0x800000U ? value | 0xFF000000U : value); }

Result<std::vector<ReportBlock>> parse_blocks(ByteReader& in, std::size_t count) {
    std::vector<ReportBlock> blocks;
    blocks.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        ReportBlock block;
        block.ssrc = TRY(in.u32be());
        block.fraction_lost = TRY(in.u8());
        block.lost = signed_24(TRY(in.u24be()));
        block.highest_sequence = TRY(in.u32be());
        block.jitter = TRY(in.u32be());
        block.last_sender_report = TRY(in.u32be());
        block.delay_since = TRY(in.u32be());
        blocks.push_back(block);
    }
    return blocks;
}

void write_blocks(ByteWriter& out, const std::vector<ReportBlock>& blocks) {
    for (const ReportBlock& block : blocks) {
        const std::int32_t lost = std::clamp(block.lost, -0x800000, 0x7FFFFF);
        out.u32be(block.ssrc).u8(block.fraction_lost).u24be(static_cast<std::uint32_t>(lost) & 0xFFFFFFU);
        out.u32be(block.highest_sequence).u32be(block.jitter).u32be(block.last_sender_report).u32be(block.delay_since);
    }
}

// The items of one chunk, including the end mark and padding to a 32-bit boundary (RFC 3550, 6.5).
Result<std::string_view> parse_items(ByteReader& in) {
    std::string_view cname;
    while (true) {
        const auto item = TRY(in.u8());
        if (item == kItemEnd)
            break;
        const std::size_t size = TRY(in.u8());
        const Bytes text = TRY(in.take(size));
        if (item == kItemCname)
            cname = as_text(text);
    }
    TRY(in.skip((4 - in.position() % 4) % 4));
    return cname;
}

}  // namespace

Result<SenderReport> parse_sender_report(const Packet& packet) {
    ByteReader in(packet.body);
    SenderReport report;
    report.ssrc = TRY(in.u32be());
    report.ntp = TRY(in.u64be());
    report.rtp_time = TRY(in.u32be());
    report.packets = TRY(in.u32be());
    report.payload_bytes = TRY(in.u32be());
    report.blocks = TRY(parse_blocks(in, packet.count));
    return report;
}

Result<ReceiverReport> parse_receiver_report(const Packet& packet) {
    ByteReader in(packet.body);
    ReceiverReport report;
    report.ssrc = TRY(in.u32be());
    report.blocks = TRY(parse_blocks(in, packet.count));
    return report;
}

Result<std::vector<SourceName>> parse_source_names(const Packet& packet) {
    ByteReader in(packet.body);
    std::vector<SourceName> names;
    for (std::size_t i = 0; i < packet.count; ++i) {
        const auto ssrc = TRY(in.u32be());
        names.push_back({ssrc, TRY(parse_items(in))});
    }
    return names;
}

Result<Goodbye> parse_goodbye(const Packet& packet) {
    ByteReader in(packet.body);
    Goodbye goodbye;
    for (std::size_t i = 0; i < packet.count; ++i)
        goodbye.ssrcs.push_back(TRY(in.u32be()));
    return goodbye;
}

Result<Nack> parse_nack(const Packet& packet) {
    ByteReader in(packet.body);
    Nack nack;
    nack.sender_ssrc = TRY(in.u32be());
    nack.media_ssrc = TRY(in.u32be());
    if (in.remaining() / 4 > kNackEntriesMax)
        return Error(Errc::limit, "RTCP: a NACK of " + std::to_string(in.remaining() / 4) + " entries");
    while (!in.at_end()) {
        const unsigned first = TRY(in.u16be());
        const unsigned others = TRY(in.u16be());
        nack.sequences.push_back(static_cast<std::uint16_t>(first));
        for (unsigned bit = 0; bit < kNackSpan; ++bit)
            if ((others >> bit & 1U) != 0)
                nack.sequences.push_back(static_cast<std::uint16_t>(first + bit + 1));
    }
    return nack;
}

Result<Pli> parse_pli(const Packet& packet) {
    ByteReader in(packet.body);
    Pli pli;
    pli.sender_ssrc = TRY(in.u32be());
    pli.media_ssrc = TRY(in.u32be());
    return pli;
}

Result<Fir> parse_fir(const Packet& packet) {
    ByteReader in(packet.body);
    Fir fir;
    fir.sender_ssrc = TRY(in.u32be());
    TRY(in.skip(4));  // media source SSRC, unused: RFC 5104, 4.3.1.2
    if (in.remaining() / 8 > kFirEntriesMax)
        return Error(Errc::limit, "RTCP: a FIR of " + std::to_string(in.remaining() / 8) + " entries");
    while (!in.at_end()) {
        FirEntry entry;
        entry.ssrc = TRY(in.u32be());
        entry.sequence = TRY(in.u8());
        TRY(in.skip(3));
        fir.entries.push_back(entry);
    }
    return fir;
}

Result<Remb> parse_remb(const Packet& packet) {
    ByteReader in(packet.body);
    Remb remb;
    remb.sender_ssrc = TRY(in.u32be());
    TRY(in.skip(4));  // media source SSRC, unused
    if (TRY(in.u32be()) != kRembName)
        return Error(Errc::unsupported, "RTCP: an application's feedback that is not REMB");
    const std::size_t count = TRY(in.u8());
    const std::uint32_t rate = TRY(in.u24be());
    const unsigned exponent = rate >> kRembMantissaBits;
    const std::uint64_t mantissa = rate & ((1U << kRembMantissaBits) - 1);
    if (mantissa << exponent >> exponent != mantissa)
        return Error(Errc::malformed, "RTCP: the rate of a REMB exceeds 64 bits");
    remb.bits_per_second = mantissa << exponent;
    if (in.remaining() / 4 < count)
        return Error(Errc::need_more, "RTCP: a REMB with fewer SSRCs than it announces");
    for (std::size_t i = 0; i < count; ++i)
        remb.ssrcs.push_back(TRY(in.u32be()));
    return remb;
}

void write(ByteWriter& out, const SenderReport& report) {
    write_packet(out, Type::sender_report, report.blocks.size(), [&] {
        out.u32be(report.ssrc).u64be(report.ntp).u32be(report.rtp_time).u32be(report.packets).u32be(report.payload_bytes);
        write_blocks(out, report.blocks);
    });
}

void write(ByteWriter& out, const ReceiverReport& report) {
    write_packet(out, Type::receiver_report, report.blocks.size(), [&] {
        out.u32be(report.ssrc);
        write_blocks(out, report.blocks);
    });
}

void write(ByteWriter& out, const SourceName& name) {
    CHECK(name.cname.size() <= 0xFF);
    write_packet(out, Type::source_description, 1, [&] {
        out.u32be(name.ssrc).u8(kItemCname).u8(static_cast<std::uint8_t>(name.cname.size())).text(name.cname);
        // At least one end mark, then padding to a 32-bit boundary.
        out.zeros(4 - (name.cname.size() + 2) % 4);
    });
}

void write(ByteWriter& out, const Goodbye& goodbye) {
    write_packet(out, Type::goodbye, goodbye.ssrcs.size(), [&] {
        for (const std::uint32_t ssrc : goodbye.ssrcs)
            out.u32be(ssrc);
    });
}

void write(ByteWriter& out, const Nack& nack) {
    write_packet(out, Type::transport_feedback, kNackFormat, [&] {
        out.u32be(nack.sender_ssrc).u32be(nack.media_ssrc);
        std::size_t entries = 0;
        for (std::size_t i = 0; i < nack.sequences.size(); ++entries) {
            CHECK(entries < kNackEntriesMax);
            const std::uint16_t first = nack.sequences[i++];
            unsigned others = 0;
            for (; i < nack.sequences.size(); ++i) {
                const auto distance = static_cast<std::uint16_t>(nack.sequences[i] - first);
                if (distance == 0 || distance > kNackSpan)
                    break;
                others |= 1U << (distance - 1);
            }
            out.u16be(first).u16be(static_cast<std::uint16_t>(others));
        }
    });
}

void write(ByteWriter& out, const Pli& pli) {
    write_packet(out, Type::payload_feedback, kPliFormat, [&] { out.u32be(pli.sender_ssrc).u32be(pli.media_ssrc); });
}

void write(ByteWriter& out, const Fir& fir) {
    CHECK(fir.entries.size() <= kFirEntriesMax);
    write_packet(out, Type::payload_feedback, kFirFormat, [&] {
        out.u32be(fir.sender_ssrc).u32be(0);
        for (const FirEntry& entry : fir.entries)
            out.u32be(entry.ssrc).u8(entry.sequence).u24be(0);
    });
}

void write(ByteWriter& out, const Remb& remb) {
    CHECK(remb.ssrcs.size() <= kRembSsrcsMax);
    const auto bits = static_cast<unsigned>(std::bit_width(remb.bits_per_second));
    const unsigned exponent = bits - std::min(bits, kRembMantissaBits);
    write_packet(out, Type::payload_feedback, kApplicationFormat, [&] {
        out.u32be(remb.sender_ssrc).u32be(0).u32be(kRembName).u8(static_cast<std::uint8_t>(remb.ssrcs.size()));
        out.u24be(exponent << kRembMantissaBits | static_cast<std::uint32_t>(remb.bits_per_second >> exponent));
        for (const std::uint32_t ssrc : remb.ssrcs)
            out.u32be(ssrc);
    });
}

}  // namespace live::wire::rtcp
