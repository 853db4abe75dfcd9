#include "engine/srtp/session.hpp"

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"

namespace live::engine::srtp {
namespace {

using Octets = std::vector<std::uint8_t>;

Keys keys_of(Profile profile, std::uint8_t local, std::uint8_t remote) {
    const std::size_t size = profile == Profile::aead_aes_128_gcm ? 28 : 30;
    return {profile, Octets(size, local), Octets(size, remote)};
}

Octets rtp(std::uint16_t sequence, std::string_view payload = "payload") {
    ByteWriter out;
    out.u8(0x80).u8(96).u16be(sequence).u32be(1'000).u32be(7).text(payload);
    return out.release();
}
constexpr std::size_t kRtpHead = 12;
const Octets kRtcp = hex("81c80006 00000007 0102030405060708 00000009 0000000a 0000000b");

class Both : public testing::TestWithParam<Profile> {
protected:
    Octets sealed(const Octets& packet) {
        Octets storage(packet.size() + Session::kTrailerBytesMax);
        const auto size = a->protect_rtp(storage, Bytes(packet).first(kRtpHead), Bytes(packet).subspan(kRtpHead));
        EXPECT_TRUE(size.ok()) << size.error().text();
        storage.resize(size.ok() ? *size : 0);
        return storage;
    }
    Octets sealed_rtcp(const Octets& packet) {
        Octets storage = packet;
        storage.resize(packet.size() + Session::kTrailerBytesMax);
        storage.resize(a->protect_rtcp(storage, packet.size()).value());
        return storage;
    }

    std::unique_ptr<Session> a = Session::create(keys_of(GetParam(), 1, 2)).value();
    std::unique_ptr<Session> b = Session::create(keys_of(GetParam(), 2, 1)).value();
};

TEST_P(Both, UnprotectsProtectedPackets) {
    for (const std::uint16_t sequence : std::initializer_list<std::uint16_t>{65'534, 65'535, 0, 1}) {
        Octets packet = sealed(rtp(sequence));
        EXPECT_NE(Octets(packet.begin(), packet.begin() + 19), rtp(sequence));
        const auto size = b->unprotect_rtp(packet);
        ASSERT_TRUE(size.ok()) << sequence << ": " << size.error().text();
        packet.resize(*size);
        EXPECT_EQ(packet, rtp(sequence)) << "across the turn of the number too";
    }
    Octets report = sealed_rtcp(kRtcp);
    report.resize(b->unprotect_rtcp(report).value());
    EXPECT_EQ(report, kRtcp);
}

TEST_P(Both, AReplayIsRefused) {
    const Octets packet = sealed(rtp(1));
    Octets first = packet;
    Octets second = packet;
    EXPECT_TRUE(b->unprotect_rtp(first).ok());
    EXPECT_EQ(b->unprotect_rtp(second).code(), Errc::conflict);
    const Octets report = sealed_rtcp(kRtcp);
    Octets again = report;
    first = report;
    EXPECT_TRUE(b->unprotect_rtcp(first).ok());
    EXPECT_EQ(b->unprotect_rtcp(again).code(), Errc::conflict);
}

TEST_P(Both, LateIsFineWithinTheWindow) {
    Octets early = sealed(rtp(1'000));
    Octets too_early = sealed(rtp(1'001));
    for (std::uint16_t i = 1'002; i < 1'000 + Session::kReplayWindow; ++i) {
        Octets packet = sealed(rtp(i));
        ASSERT_TRUE(b->unprotect_rtp(packet).ok());
    }
    EXPECT_TRUE(b->unprotect_rtp(early).ok()) << "127 behind the newest";
    Octets newest = sealed(rtp(static_cast<std::uint16_t>(1'001 + Session::kReplayWindow)));
    ASSERT_TRUE(b->unprotect_rtp(newest).ok());
    EXPECT_EQ(b->unprotect_rtp(too_early).code(), Errc::conflict) << "128 behind";
}

TEST_P(Both, AnyChangedBitIsSeen) {
    const Octets packet = sealed(rtp(1));
    for (std::size_t bit = 0; bit < packet.size() * 8; ++bit) {
        Octets changed = packet;
        changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ 1U << bit % 8);
        EXPECT_FALSE(b->unprotect_rtp(changed).ok()) << "bit " << bit;
    }
    Octets good = packet;
    EXPECT_TRUE(b->unprotect_rtp(good).ok()) << "and none of them has spoiled the state";
}

TEST_P(Both, EveryTruncationIsRefused) {
    const Octets packet = sealed(rtp(1));
    for (std::size_t size = 0; size < packet.size(); ++size) {
        Octets cut(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(b->unprotect_rtp(cut).ok()) << size;
    }
    const Octets report = sealed_rtcp(kRtcp);
    for (std::size_t size = 0; size < report.size(); ++size) {
        Octets cut(report.begin(), report.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(b->unprotect_rtcp(cut).ok()) << size;
    }
}

TEST_P(Both, DecryptsNothingWithAnotherKey) {
    const auto c = Session::create(keys_of(GetParam(), 2, 3)).value();
    Octets packet = sealed(rtp(1));
    EXPECT_EQ(c->unprotect_rtp(packet).code(), Errc::denied);
    Octets report = sealed_rtcp(kRtcp);
    EXPECT_EQ(c->unprotect_rtcp(report).code(), Errc::denied);
}

TEST_P(Both, LimitsTheNumberOfReceivedStreams) {
    const auto packet_of = [&](std::uint32_t ssrc) {
        Octets packet = rtp(1);
        packet[11] = static_cast<std::uint8_t>(ssrc);
        // A separate session, because the number of sent streams has a lower limit.
        a = Session::create(keys_of(GetParam(), 1, 2)).value();
        return sealed(packet);
    };
    for (std::uint32_t ssrc = 0; ssrc < Session::kInboundStreamsMax; ++ssrc) {
        Octets packet = packet_of(ssrc);
        Octets changed = packet_of(100 + ssrc);
        changed.back() ^= 1;
        EXPECT_EQ(b->unprotect_rtp(changed).code(), Errc::denied) << "what is not authentic is not counted";
        EXPECT_TRUE(b->unprotect_rtp(packet).ok()) << ssrc;
    }
    Octets one_more = packet_of(200);
    EXPECT_EQ(b->unprotect_rtp(one_more).code(), Errc::limit);
    Octets report = kRtcp;
    report[7] = 201;
    report = sealed_rtcp(report);
    EXPECT_EQ(b->unprotect_rtcp(report).code(), Errc::limit);
    Octets known = kRtcp;
    known[7] = 3;
    known = sealed_rtcp(known);
    EXPECT_TRUE(b->unprotect_rtcp(known).ok()) << "who is known goes on";
}

TEST_P(Both, TheSamePacketMayBeSentAgain) {
    const Octets first = sealed(rtp(1));
    static_cast<void>(sealed(rtp(2)));
    EXPECT_EQ(sealed(rtp(1)), first) << "for a NACK without RTX";
}

TEST_P(Both, TooLongIsRefused) {
    const Octets packet = rtp(1);
    const Bytes head = Bytes(packet).first(kRtpHead);
    Octets storage(Session::kRtpBytesMax + 1 + Session::kTrailerBytesMax);
    const Octets payload(Session::kRtpBytesMax - kRtpHead + 1);
    EXPECT_EQ(a->protect_rtp(storage, head, payload).code(), Errc::limit);
    EXPECT_TRUE(a->protect_rtp(storage, head, Bytes(payload).first(payload.size() - 1)).ok());
}

TEST_P(Both, TooShortIsMalformed) {
    Octets storage(11 + Session::kTrailerBytesMax, 0x80);
    EXPECT_EQ(a->protect_rtp(storage, Octets(11, 0x80), {}).code(), Errc::malformed);
    EXPECT_EQ(a->protect_rtcp(storage, 7).code(), Errc::malformed);
}

INSTANTIATE_TEST_SUITE_P(Srtp, Both, testing::Values(Profile::aead_aes_128_gcm, Profile::aes128_cm_sha1_80));

TEST(SrtpSession, TheTrailerIsAsLongAsTheProfileSays) {
    for (const auto& [profile, trailer] : {std::pair{Profile::aead_aes_128_gcm, 16U}, {Profile::aes128_cm_sha1_80, 10U}}) {
        const auto session = Session::create(keys_of(profile, 1, 2)).value();
        const Octets packet = rtp(1);
        Octets storage(packet.size() + Session::kTrailerBytesMax);
        EXPECT_EQ(session->protect_rtp(storage, packet, {}).value(), packet.size() + trailer);
    }
}

}  // namespace
}  // namespace live::engine::srtp
