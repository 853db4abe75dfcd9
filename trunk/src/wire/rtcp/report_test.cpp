#include "wire/rtcp/report.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::rtcp {
namespace {

using Octets = std::vector<std::uint8_t>;

Packet only(Bytes bytes) {
    PacketReader reader(bytes);
    const auto packet = reader.next();
    EXPECT_TRUE(packet.ok() && packet->has_value());
    EXPECT_FALSE(reader.next().value().has_value());
    return **packet;
}

template <class T>
Octets written(const T& value) {
    ByteWriter out;
    write(out, value);
    return out.release();
}

const char* const kSenderReport =
    "81c8000c 00000001 0102030405060708 00000009 0000000a 0000000b"
    "00000002 80fffffe 00010203 00000004 00000005 00000006";
const char* const kReceiverReport = "81c90007 00000001 00000002 10000102 00010203 00000004 00000005 00000006";
const char* const kNames = "81ca0003 00000001 01046162 63640000";
const char* const kGoodbye = "82cb0002 00000001 00000002";
const char* const kNack = "81cd0004 00000001 00000002 fffe8003 00200000";
const char* const kPli = "81ce0002 00000001 00000002";
const char* const kFir = "84ce0004 00000001 00000000 00000002 07000000";
// 1,500,000 bit/s: 187,500 shifted by 3.
const char* const kRemb = "8fce0006 00000001 00000000 52454d42 020edc6c 00000002 00000003";

TEST(RtcpReport, SenderReportBothWays) {
    const auto bytes = hex(kSenderReport);
    const auto report = parse_sender_report(only(bytes));
    ASSERT_TRUE(report.ok()) << report.error().text();
    const SenderReport wanted{1, 0x0102030405060708U, 9, 10, 11, {{2, 0x80, -2, 0x10203, 4, 5, 6}}};
    EXPECT_EQ(*report, wanted);
    EXPECT_EQ(report->middle_of_ntp(), 0x03040506U);
    EXPECT_EQ(written(wanted), bytes);
}

TEST(RtcpReport, ReceiverReportBothWays) {
    const auto bytes = hex(kReceiverReport);
    const ReceiverReport wanted{1, {{2, 0x10, 0x102, 0x10203, 4, 5, 6}}};
    EXPECT_EQ(parse_receiver_report(only(bytes)).value(), wanted);
    EXPECT_EQ(written(wanted), bytes);
}

TEST(RtcpReport, LossIsClampedTo24Bits) {
    ReceiverReport report{1, {{}, {}}};
    report.blocks[0].lost = 0x1000000;
    report.blocks[1].lost = -0x1000000;
    const auto bytes = written(report);
    const auto again = parse_receiver_report(only(bytes));
    EXPECT_EQ(again->blocks[0].lost, 0x7FFFFF);
    EXPECT_EQ(again->blocks[1].lost, -0x800000);
}

TEST(RtcpReport, NamesBothWays) {
    const auto bytes = hex(kNames);
    EXPECT_EQ(parse_source_names(only(bytes)).value(), (std::vector<SourceName>{{1, "abcd"}}));
    EXPECT_EQ(written(SourceName{1, "abcd"}), bytes);
    for (std::size_t size : {0U, 1U, 2U, 3U, 5U, 255U}) {
        const std::string name(size, 'n');
        const auto some = written(SourceName{7, name});
        EXPECT_EQ(parse_source_names(only(some)).value(), (std::vector<SourceName>{{7, name}})) << size;
    }
}

TEST(RtcpReport, OtherItemsOfANameAreSkipped) {
    // NAME, then CNAME; a second chunk without items.
    const auto bytes = hex("82ca0005 00000001 02016101 016200 00 00000002 00000000");
    const auto names = parse_source_names(only(bytes));
    ASSERT_TRUE(names.ok()) << names.error().text();
    EXPECT_EQ((*names)[0], (SourceName{1, "b"}));
    EXPECT_EQ((*names)[1], (SourceName{2, ""}));
}

TEST(RtcpReport, GoodbyeBothWays) {
    EXPECT_EQ(parse_goodbye(only(hex(kGoodbye))).value(), (Goodbye{{1, 2}}));
    EXPECT_EQ(written(Goodbye{{1, 2}}), hex(kGoodbye));
}

TEST(RtcpReport, NackBothWays) {
    const auto bytes = hex(kNack);
    const auto nack = parse_nack(only(bytes));
    ASSERT_TRUE(nack.ok());
    EXPECT_EQ(nack->sequences, (std::vector<std::uint16_t>{0xFFFE, 0xFFFF, 0x0000, 0x000E, 0x0020}));
    EXPECT_EQ(written(*nack), bytes);
}

TEST(RtcpReport, NackEntriesHoldSeventeen) {
    Nack nack{1, 2, {}};
    for (std::uint16_t i = 0; i < 17; ++i)
        nack.sequences.push_back(static_cast<std::uint16_t>(65'530 + i));
    EXPECT_EQ(written(nack).size(), 16U);
    nack.sequences.push_back(static_cast<std::uint16_t>(65'530 + 17));
    EXPECT_EQ(written(nack).size(), 20U);
}

TEST(RtcpReport, PliAndFirBothWays) {
    EXPECT_EQ(parse_pli(only(hex(kPli))).value(), (Pli{1, 2}));
    EXPECT_EQ(written(Pli{1, 2}), hex(kPli));
    EXPECT_EQ(parse_fir(only(hex(kFir))).value(), (Fir{1, {{2, 7}}}));
    EXPECT_EQ(written(Fir{1, {{2, 7}}}), hex(kFir));
}

TEST(RtcpReport, RembBothWays) {
    EXPECT_EQ(parse_remb(only(hex(kRemb))).value(), (Remb{1, 1'500'000, {2, 3}}));
    EXPECT_EQ(written(Remb{1, 1'500'000, {2, 3}}), hex(kRemb));
    for (const std::uint64_t rate : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{262'143}, std::uint64_t{1} << 63}) {
        const auto bytes = written(Remb{1, rate, {}});
        EXPECT_EQ(parse_remb(only(bytes)).value().bits_per_second, rate);
    }
    const auto rounded = written(Remb{1, 262'145, {}});
    EXPECT_EQ(parse_remb(only(rounded)).value().bits_per_second, 262'144U);
}

TEST(RtcpReport, RembOfOthersOrTooLargeIsRefused) {
    EXPECT_EQ(parse_remb(only(hex("8fce0004 00000001 00000000 41424344 000edc6c"))).code(), Errc::unsupported);
    EXPECT_EQ(parse_remb(only(hex("8fce0004 00000001 00000000 52454d42 00ffffff"))).code(), Errc::malformed);
    EXPECT_EQ(parse_remb(only(hex("8fce0004 00000001 00000000 52454d42 01000001"))).code(), Errc::need_more);
}

TEST(RtcpReport, WalksACompound) {
    ByteWriter out;
    write(out, ReceiverReport{1, {}});
    write(out, SourceName{1, "c"});
    write(out, Pli{1, 2});
    const auto bytes = out.release();
    PacketReader reader(bytes);
    EXPECT_EQ(reader.next().value()->type, Type::receiver_report);
    EXPECT_EQ(reader.next().value()->type, Type::source_description);
    EXPECT_TRUE(reader.next().value()->is(Type::payload_feedback, kPliFormat));
    EXPECT_FALSE(reader.next().value().has_value());
}

TEST(RtcpReport, EveryTruncationIsRefused) {
    for (const char* text : {kSenderReport, kReceiverReport, kNames, kGoodbye, kNack, kPli, kFir, kRemb}) {
        const auto bytes = hex(text);
        for (std::size_t size = 1; size < bytes.size(); ++size)
            EXPECT_EQ(PacketReader(Bytes(bytes).first(size)).next().code(), Errc::need_more) << text << " at " << size;
        // The same with a matching length field: then the body is too short.
        for (std::size_t words = 0; words + 1 < bytes.size() / 4; ++words) {
            Octets cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(4 * (words + 1)));
            cut[3] = static_cast<std::uint8_t>(words);
            const Packet packet = only(cut);
            const bool refused = (packet.type == Type::sender_report && !parse_sender_report(packet).ok()) ||
                                 (packet.type == Type::receiver_report && !parse_receiver_report(packet).ok()) ||
                                 (packet.type == Type::source_description && !parse_source_names(packet).ok()) ||
                                 (packet.type == Type::goodbye && !parse_goodbye(packet).ok()) ||
                                 (packet.is(Type::payload_feedback, kPliFormat) && !parse_pli(packet).ok()) ||
                                 (packet.is(Type::payload_feedback, kFirFormat) && !parse_fir(packet).ok()) ||
                                 (packet.is(Type::payload_feedback, kApplicationFormat) && !parse_remb(packet).ok()) ||
                                 packet.type == Type::transport_feedback;
            // A FIR may end between its entries.
            EXPECT_TRUE(refused || (packet.is(Type::payload_feedback, kFirFormat) && words == 2)) << text << " of " << words;
        }
    }
}

TEST(RtcpReport, PaddingIsForTheLastInWholeWords) {
    EXPECT_EQ(parse_pli(only(hex("a1ce0003 00000001 00000002 00000004"))).value(), (Pli{1, 2}));
    for (const char* text :
         {"a1ce0003 00000001 00000002 00000000", "a1ce0003 00000001 00000002 00000003", "a1ce0003 00000001 00000002 00000010",
          "a1ce0000", "a1ce0003 00000001 00000002 00000004 81ce0002 00000001 00000002"}) {
        const auto bytes = hex(text);
        EXPECT_EQ(PacketReader(bytes).next().code(), Errc::malformed) << text;
    }
    EXPECT_EQ(PacketReader(hex("41ce0002 00000001 00000002")).next().code(), Errc::malformed) << "version";
}

TEST(RtcpReport, HasBounds) {
    Octets many;
    for (std::size_t i = 0; i <= kPacketsMax; ++i)
        many.insert(many.end(), {0x80, 203, 0, 0});
    PacketReader reader(many);
    for (std::size_t i = 0; i < kPacketsMax; ++i)
        EXPECT_TRUE(reader.next().ok());
    EXPECT_EQ(reader.next().code(), Errc::limit);

    const auto nack_of = [](std::size_t entries) { return Octets(8 + 4 * entries); };
    EXPECT_EQ(parse_nack({Type::transport_feedback, kNackFormat, nack_of(kNackEntriesMax)})->sequences.size(), kNackEntriesMax);
    const auto above = nack_of(kNackEntriesMax + 1);
    EXPECT_EQ(parse_nack({Type::transport_feedback, kNackFormat, above}).code(), Errc::limit);
    const Octets fir(8 + 8 * (kFirEntriesMax + 1));
    EXPECT_EQ(parse_fir({Type::payload_feedback, kFirFormat, fir}).code(), Errc::limit);
    EXPECT_TRUE(parse_fir({Type::payload_feedback, kFirFormat, Bytes(fir).first(fir.size() - 8)}).ok());
}

}  // namespace
}  // namespace live::wire::rtcp
