#include "engine/srtp/gcm_control.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "engine/srtp/session.hpp"

namespace live::engine::srtp {
namespace {

using Octets = std::vector<std::uint8_t>;

// RFC 7714, 17: the session key and salt, the RTCP packet, and the SRTCP packet with index 0x5d4.
const GcmKeys kRfcKeys{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                       {'Q', 'u', 'i', 'd', ' ', 'p', 'r', 'o', ' ', 'q', 'u', 'o'}};
const Octets kReport =
    hex("81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61"
        "deadbeef deadbeef deadbeef deadbeef deadbeef");
const Octets kSealedReport =
    hex("81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda"
        "4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4");

Octets protected_by(GcmControl& control, const Octets& packet) {
    Octets storage = packet;
    storage.resize(packet.size() + GcmControl::kTrailerBytes);
    EXPECT_EQ(control.protect(storage, packet.size()).value(), storage.size());
    return storage;
}

Octets report_of(std::uint8_t ssrc) {
    Octets report = kReport;
    report[7] = ssrc;
    return report;
}

TEST(SrtpGcmControl, OpensThePacketOfTheRfc) {
    GcmControl control(kRfcKeys, kRfcKeys);
    Octets packet = kSealedReport;
    const auto size = control.unprotect(packet);
    ASSERT_TRUE(size.ok()) << size.error().text();
    packet.resize(*size);
    EXPECT_EQ(packet, kReport);
}

TEST(SrtpGcmControl, SealsThePacketOfTheRfc) {
    GcmControl control(kRfcKeys, kRfcKeys);
    for (int index = 0; index < 0x5d4; ++index)
        static_cast<void>(protected_by(control, kReport));
    EXPECT_EQ(protected_by(control, kReport), kSealedReport);
}

TEST(SrtpGcmControl, RefusesReplaysAndEveryChangedBit) {
    GcmControl sender(kRfcKeys, kRfcKeys);
    GcmControl receiver(kRfcKeys, kRfcKeys);
    const Octets packet = protected_by(sender, kReport);
    for (std::size_t bit = 0; bit < packet.size() * 8; ++bit) {
        Octets changed = packet;
        changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ 1U << bit % 8);
        EXPECT_FALSE(receiver.unprotect(changed).ok()) << "bit " << bit;
    }
    for (std::size_t size = 0; size < packet.size(); ++size) {
        Octets cut(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(receiver.unprotect(cut).ok()) << size;
    }
    Octets first = packet;
    Octets again = packet;
    EXPECT_TRUE(receiver.unprotect(first).ok()) << "forgeries leave the state as it was";
    EXPECT_EQ(receiver.unprotect(again).code(), Errc::conflict);
    Octets clear = protected_by(sender, kReport);
    clear[clear.size() - 4] &= 0x7F;
    EXPECT_EQ(receiver.unprotect(clear).code(), Errc::denied) << "not encrypted";
}

TEST(SrtpGcmControl, LimitsTheStreams) {
    GcmControl receiver(kRfcKeys, kRfcKeys);
    for (std::uint8_t ssrc = 0; ssrc < GcmControl::kReceivedStreamsMax; ++ssrc) {
        GcmControl sender(kRfcKeys, kRfcKeys);
        Octets packet = protected_by(sender, report_of(ssrc));
        EXPECT_TRUE(receiver.unprotect(packet).ok());
    }
    GcmControl sender(kRfcKeys, kRfcKeys);
    Octets surplus = protected_by(sender, report_of(200));
    EXPECT_EQ(receiver.unprotect(surplus).code(), Errc::limit);
    for (std::uint8_t ssrc = 0; ssrc < GcmControl::kSentStreamsMax - 1; ++ssrc)
        static_cast<void>(protected_by(sender, report_of(ssrc)));
    Octets storage = report_of(100);
    storage.resize(storage.size() + GcmControl::kTrailerBytes);
    EXPECT_EQ(sender.protect(storage, kReport.size()).code(), Errc::limit);
    EXPECT_EQ(sender.protect(storage, 7).code(), Errc::malformed);
}

TEST(SrtpGcmControl, InteroperatesWithTheLibrary) {
    const Keys ours{Profile::aead_aes_128_gcm, Octets(28, 1), Octets(28, 2)};
    const Keys theirs{ours.profile, ours.remote, ours.local};
    const auto player = Session::create(ours, Session::kReplayWindow, Session::Receives::rtcp).value();
    const auto library = Session::create(theirs).value();
    for (int i = 0; i < 3; ++i) {
        for (const auto& [from, to] : {std::pair{player.get(), library.get()}, std::pair{library.get(), player.get()}}) {
            Octets packet = kReport;
            packet.resize(kReport.size() + Session::kTrailerBytesMax);
            packet.resize(from->protect_rtcp(packet, kReport.size()).value());
            const auto size = to->unprotect_rtcp(packet);
            ASSERT_TRUE(size.ok()) << size.error().text();
            packet.resize(*size);
            EXPECT_EQ(packet, kReport);
        }
    }
    Octets rtp = hex("8060000100000000000000070102030405060708090a0b0c0d0e0f10111213141516");
    EXPECT_EQ(player->unprotect_rtp(rtp).code(), Errc::unsupported);
}

// Against a set of all indexes received.
TEST(SrtpReplayWindow, AcceptsEachIndexOfTheWindowOnce) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::minstd_rand random(seed);
        ReplayWindow window;
        std::set<std::uint32_t> seen;
        std::uint32_t around = 1'000;
        for (int step = 0; step < 2'000; ++step) {
            around += static_cast<std::uint32_t>(random() % 100 == 0 ? random() % 300 : random() % 3);
            const std::uint32_t index = around - static_cast<std::uint32_t>(random() % std::min(around, 160U));
            const bool is_old = !seen.empty() && *seen.rbegin() >= ReplayWindow::kPackets + index;
            const bool is_new = !seen.contains(index) && !is_old;
            ASSERT_EQ(window.accepts(index), is_new) << "seed " << seed << ", step " << step << ", index " << index;
            if (!is_new)
                continue;
            window.add(index);
            seen.insert(index);
        }
    }
}

}  // namespace
}  // namespace live::engine::srtp
