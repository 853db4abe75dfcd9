#include "engine/gb28181/session_table.hpp"

#include <gtest/gtest.h>

#include "engine/gb28181/rtp_fixture.hpp"

namespace live::engine::gb28181 {
namespace {

TransportAddress device(std::uint8_t last, std::uint16_t port = 5'000) {
    TransportAddress address;
    address.ip.bytes[10] = address.ip.bytes[11] = 0xFF;
    address.ip.bytes[15] = last;
    address.port = port;
    return address;
}

Result<void> open(SessionTable& table, std::string id, std::uint32_t ssrc, Transport transport = Transport::tcp,
                  TimePoint now = kStart, Duration timeout = 10s) {
    return table.open(now, {.id = std::move(id), .ssrc = ssrc, .transport = transport}, timeout);
}

TEST(SessionTable, IdAndSsrcAreReserved) {
    SessionTable table;
    ASSERT_TRUE(open(table, "a", 1).ok());
    EXPECT_EQ(open(table, "a", 2).code(), Errc::conflict);
    EXPECT_EQ(open(table, "b", 1).code(), Errc::conflict);
    EXPECT_TRUE(open(table, "b", 2).ok());
    EXPECT_TRUE(table.close("a"));
    EXPECT_FALSE(table.close("a"));
    EXPECT_TRUE(open(table, "a", 1).ok());
}

TEST(SessionTable, SessionsWithoutADeviceExpire) {
    SessionTable table;
    EXPECT_FALSE(table.next_timeout().has_value());
    ASSERT_TRUE(open(table, "slow", 1).ok());
    ASSERT_TRUE(open(table, "half", 2, Transport::tcp, kStart, 500ms).ok());
    ASSERT_TRUE(open(table, "there", 3, Transport::tcp, kStart, 500ms).ok());
    EXPECT_EQ(table.next_timeout(), kStart + 500ms);
    EXPECT_TRUE(table.connect(3, Transport::tcp, device(1)).ok());
    EXPECT_TRUE(table.expire(kStart + 499ms).empty());
    EXPECT_EQ(table.expire(kStart + 500ms), std::vector<std::string>{"half"});
    EXPECT_TRUE(open(table, "half", 2).ok()) << "both are free again";
    EXPECT_EQ(table.expire(kStart + 1h).size(), 2u);
    EXPECT_EQ(table.all().size(), 1u);
    EXPECT_FALSE(table.next_timeout().has_value());
}

TEST(SessionTable, AnotherDeviceIsRefused) {
    SessionTable table;
    ASSERT_TRUE(open(table, "a", 1, Transport::udp).ok());
    EXPECT_EQ(table.connect(2, Transport::udp, device(1)).code(), Errc::not_found);
    EXPECT_EQ(table.connect(1, Transport::tcp, device(1)).code(), Errc::denied);
    const auto connected = table.connect(1, Transport::udp, device(1));
    ASSERT_TRUE(connected.ok());
    EXPECT_EQ((*connected)->id, "a");
    EXPECT_EQ(table.connect(1, Transport::udp, device(2)).code(), Errc::denied) << "another address";
    EXPECT_EQ(table.connect(1, Transport::udp, device(1, 6'000)).code(), Errc::denied) << "another port";
    EXPECT_TRUE(table.connect(1, Transport::udp, device(1)).ok());
    EXPECT_EQ(table.find(1U)->from, device(1));
}

TEST(SessionTable, TheFirstDeviceAtASessionsOwnPortDecidesItsSsrc) {
    SessionTable table;
    ASSERT_TRUE(table.open(kStart, {.id = "any", .transport = Transport::udp}, 10s).ok());
    ASSERT_TRUE(open(table, "b", 2).ok());
    EXPECT_EQ(table.connect_at("none", 7, device(1)).code(), Errc::not_found);
    EXPECT_EQ(table.connect_at("any", 2, device(1)).code(), Errc::denied) << "the SSRC of another session";
    ASSERT_TRUE(table.connect_at("any", 7, device(1)).ok());
    EXPECT_EQ(table.connect_at("any", 8, device(1)).code(), Errc::denied);
    EXPECT_EQ(table.connect_at("any", 7, device(2)).code(), Errc::denied);
    EXPECT_EQ(open(table, "c", 7).code(), Errc::conflict);
    EXPECT_TRUE(table.close("any"));
    EXPECT_TRUE(open(table, "c", 7).ok());
}

TEST(SessionTable, RefusesBadIdsAndMoreSessionsThanItsLimit) {
    SessionTable table;
    EXPECT_EQ(open(table, "", 1).code(), Errc::malformed);
    EXPECT_TRUE(open(table, std::string(SessionTable::kIdBytesMax, 'a'), 1).ok());
    EXPECT_EQ(open(table, std::string(SessionTable::kIdBytesMax + 1, 'a'), 2).code(), Errc::malformed);
    for (std::uint32_t i = 2; i <= SessionTable::kSessionsMax; ++i)
        ASSERT_TRUE(open(table, std::to_string(i), i).ok());
    EXPECT_EQ(open(table, "one more", 0).code(), Errc::limit);
    EXPECT_EQ(table.expire(kStart + 10s).size(), SessionTable::kSessionsMax);
    EXPECT_TRUE(open(table, "one more", 0).ok());
}

TEST(SessionTable, ReadsDecimalSsrcs) {
    EXPECT_EQ(parse_ssrc("47190001").value(), 47'190'001u);
    EXPECT_EQ(parse_ssrc("0100000001").value(), 100'000'001u);
    EXPECT_EQ(parse_ssrc("4294967295").value(), 0xFFFF'FFFFu);
    for (const std::string_view text : {"", "4294967296", "00000000001", "12a", "-1", "+1", " 1", "0x10"})
        EXPECT_EQ(parse_ssrc(text).code(), Errc::malformed) << text;
}

}  // namespace
}  // namespace live::engine::gb28181
