#include "wire/rtcp/transport_feedback.hpp"

#include <random>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::rtcp {
namespace {

using Octets = std::vector<std::uint8_t>;

PacketStatus lost() { return {}; }
PacketStatus after(std::int16_t ticks) { return {true, ticks}; }

Result<TransportFeedback> parse(Bytes bytes) {
    PacketReader reader(bytes);
    const auto packet = reader.next();
    if (!packet.ok())
        return Error(packet.error());
    EXPECT_TRUE((*packet)->is(Type::transport_feedback, kTransportWideFormat));
    return parse_transport_feedback(**packet);
}

Octets written_feedback(const TransportFeedback& feedback) {
    ByteWriter out;
    write(out, feedback);
    return out.release();
}

TransportFeedback of(std::vector<PacketStatus> packets) { return {1, 2, 0xFFF0, -3, 5, std::move(packets)}; }

struct Case {
    const char* name;
    TransportFeedback feedback;
    Octets bytes;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> table = {
        {"one packet", of({after(4)}), hex("8fcd0005 00000001 00000002 fff00001 fffffd05 20010400")},
        {"a vector of one bit", of({after(1), lost(), after(2)}), hex("8fcd0005 00000001 00000002 fff00003 fffffd05 a8000102")},
        {"a vector of two bits", of({after(1), lost(), after(-1)}),
         hex("8fcd0006 00000001 00000002 fff00003 fffffd05 d20001ff ff000000")},
        {"a run of lost ones, then one", of([] {
             std::vector<PacketStatus> packets(20, lost());
             packets.push_back(after(255));
             return packets;
         }()),
         hex("8fcd0006 00000001 00000002 fff00015 fffffd05 00142001 ff000000")},
        {"large deltas", of({after(256), after(-32'768)}), hex("8fcd0006 00000001 00000002 fff00002 fffffd05 40020100 80000000")},
    };
    return table;
}

TEST(TransportFeedback, ReadsAndWritesEveryVector) {
    for (const Case& wanted : cases()) {
        const auto feedback = parse(wanted.bytes);
        ASSERT_TRUE(feedback.ok()) << wanted.name << ": " << feedback.error().text();
        EXPECT_EQ(*feedback, wanted.feedback) << wanted.name;
        EXPECT_EQ(written_feedback(wanted.feedback), wanted.bytes) << wanted.name;
    }
}

TEST(TransportFeedback, ACutBodyNeedsMore) {
    for (const Case& wanted : cases()) {
        const Bytes body = Bytes(wanted.bytes).subspan(4);
        // Trailing zeros are not part of the content.
        std::size_t needed = 16 + 2;
        while (!parse_transport_feedback({Type::transport_feedback, kTransportWideFormat, body.first(needed)}).ok())
            ASSERT_LT(needed++, body.size()) << wanted.name;
        for (std::size_t size = 0; size < needed; ++size)
            EXPECT_EQ(parse_transport_feedback({Type::transport_feedback, kTransportWideFormat, body.first(size)}).code(),
                      Errc::need_more)
                << wanted.name << " at " << size;
    }
}

TEST(TransportFeedback, WrittenValuesReadBack) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const auto loss = random() % 100;
        const auto large = random() % 100;
        TransportFeedback feedback = of({});
        const std::size_t count = 1 + random() % 300;
        while (feedback.packets.size() < count) {
            if (random() % 100 < loss)
                feedback.packets.push_back(lost());
            else if (random() % 100 < large)
                feedback.packets.push_back(after(static_cast<std::int16_t>(random())));
            else
                feedback.packets.push_back(after(static_cast<std::int16_t>(random() % 256)));
        }
        const auto again = parse(written_feedback(feedback));
        ASSERT_TRUE(again.ok()) << seed << ": " << again.error().text();
        EXPECT_EQ(*again, feedback) << seed;
    }
}

TEST(TransportFeedback, TheSymbolWithoutDeltaIsAPacketThatArrived) {
    const auto feedback = parse(hex("8fcd0005 00000001 00000002 fff00002 fffffd05 60020000"));
    ASSERT_TRUE(feedback.ok());
    EXPECT_EQ(feedback->packets, (std::vector<PacketStatus>{{true, std::nullopt}, {true, std::nullopt}}));
}

TEST(TransportFeedback, RefusesReportsWithoutPackets) {
    EXPECT_EQ(parse(hex("8fcd0005 00000001 00000002 fff00000 fffffd05 20010400")).code(), Errc::malformed) << "no packets";
    EXPECT_EQ(parse(hex("8fcd0005 00000001 00000002 fff00001 fffffd05 20000400")).code(), Errc::malformed) << "a run of none";
}

TEST(TransportFeedback, LimitsTheReportedPackets) {
    const TransportFeedback most = of(std::vector<PacketStatus>(kFeedbackPacketsMax, lost()));
    Octets bytes = written_feedback(most);
    EXPECT_EQ(parse(bytes).value(), most);
    bytes[14] = static_cast<std::uint8_t>((kFeedbackPacketsMax + 1) >> 8);
    bytes[15] = static_cast<std::uint8_t>(kFeedbackPacketsMax + 1);
    EXPECT_EQ(parse(bytes).code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::rtcp
