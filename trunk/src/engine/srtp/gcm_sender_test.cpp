#include "engine/srtp/gcm_sender.hpp"

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "engine/srtp/session.hpp"

namespace live::engine::srtp {
namespace {

using Octets = std::vector<std::uint8_t>;

// RFC 7714, 16: the session key and salt, and the SRTP packet.
constexpr GcmSender::Key kKey{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr GcmSender::Salt kSalt{'Q', 'u', 'i', 'd', ' ', 'p', 'r', 'o', ' ', 'q', 'u', 'o'};
const Octets kHeader = hex("8040f17b 8041f8d3 5501a0b2");
constexpr std::string_view kText = "Gallia est omnis divisa in partes tres";
const Octets kSealed =
    hex("8040f17b 8041f8d3 5501a0b2"
        "f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf 8833"
        "899d7f27 beb16a91 52cf765e e4390cce");

Octets seal(GcmSender& sender, Bytes head, Bytes payload) {
    Octets out(head.size() + payload.size() + GcmSender::kTagBytes);
    const auto size = sender.seal(out, head, payload);
    EXPECT_TRUE(size.ok()) << size.error().text();
    out.resize(size.ok() ? *size : 0);
    return out;
}

Octets head(std::uint32_t ssrc, std::uint16_t sequence) {
    ByteWriter out;
    out.u8(0x80).u8(96).u16be(sequence).u32be(1'000).u32be(ssrc);
    return out.release();
}

// Both ciphers, if both are available.
using Library = GcmSender::Library;
class SrtpGcmSenderTest : public testing::TestWithParam<Library> {};
const auto kLibraries = testing::Values(Library::fastest, Library::openssl);
INSTANTIATE_TEST_SUITE_P(By, SrtpGcmSenderTest, kLibraries);

TEST_P(SrtpGcmSenderTest, SealsThePacketOfTheRfc) {
    auto sender = GcmSender::create(kKey, kSalt, GetParam()).value();
    EXPECT_EQ(seal(sender, kHeader, as_bytes(kText)), kSealed) << "RFC 7714, 16.1.1";
    EXPECT_EQ(seal(sender, kHeader, as_bytes(kText)), kSealed) << "and again";
}

TEST_P(SrtpGcmSenderTest, ProtectsAlikeForEverySplit) {
    auto sender = GcmSender::create(kKey, kSalt, GetParam()).value();
    Octets packet = kHeader;
    packet.insert(packet.end(), kText.begin(), kText.end());
    for (std::size_t cut = kHeader.size(); cut <= packet.size(); ++cut)
        EXPECT_EQ(seal(sender, Bytes(packet).first(cut), Bytes(packet).subspan(cut)), kSealed) << cut;
    Octets storage = packet;
    storage.resize(packet.size() + GcmSender::kTagBytes);
    ASSERT_TRUE(sender.seal(storage, Bytes(storage).first(packet.size()), {}).ok());
    EXPECT_EQ(storage, kSealed) << "in place";
}

TEST_P(SrtpGcmSenderTest, RejectsNonRtpAsMalformed) {
    auto sender = GcmSender::create(kKey, kSalt, GetParam()).value();
    Octets out(200);
    const auto code = [&](const Octets& packet) { return sender.seal(out, packet, {}).code(); };
    for (std::size_t size = 0; size < kHeader.size(); ++size)
        EXPECT_EQ(code(Octets(kHeader.begin(), kHeader.begin() + static_cast<std::ptrdiff_t>(size))), Errc::malformed) << size;
    Octets other = kHeader;
    other[0] = 0x40;
    EXPECT_EQ(code(other), Errc::malformed) << "version 1";
    other[0] = 0x81;
    EXPECT_EQ(code(other), Errc::malformed) << "a contributor that is not there";
    other[0] = 0x90;
    EXPECT_EQ(code(other), Errc::malformed) << "an extension that is not there";
    other.insert(other.end(), {0xBE, 0xDE, 0, 1, 1, 2, 3});
    EXPECT_EQ(code(other), Errc::malformed) << "half of one";
    other.push_back(4);
    EXPECT_TRUE(sender.seal(out, other, {}).ok());
}

// All lengths up to a full packet: the fast library has special code for many of them.
TEST(SrtpGcmSender, BothLibrariesProduceTheSameBytes) {
    auto fastest = GcmSender::create(kKey, kSalt, Library::fastest).value();
    auto openssl = GcmSender::create(kKey, kSalt, Library::openssl).value();
    Octets payload;
    for (std::uint16_t size = 0; size < 1'460; ++size) {
        const Octets header = head(7, size);
        EXPECT_EQ(seal(fastest, header, payload), seal(openssl, header, payload)) << size;
        Octets again = head(8, size);
        again.insert(again.end(), {1, 2});
        EXPECT_EQ(seal(fastest, again, payload), seal(openssl, again, payload)) << size;
        payload.push_back(static_cast<std::uint8_t>(size * 7));
    }
}

TEST_P(SrtpGcmSenderTest, TheKeysOfDtlsHaveOneLength) {
    for (const std::size_t size : {0U, 27U, 29U, 30U})
        EXPECT_EQ(GcmSender::create(Octets(size, 1), GetParam()).code(), Errc::malformed) << size;
    EXPECT_TRUE(GcmSender::create(Octets(28, 1), GetParam()).ok());
}

// Compares with the SRTP library under the same keys.
class SrtpGcmSenderAndLibrary : public SrtpGcmSenderTest {
protected:
    static Octets keys(std::uint8_t first) {
        Octets made;
        for (std::uint8_t i = 0; i < 28; ++i)
            made.push_back(static_cast<std::uint8_t>(first + i));
        return made;
    }
    void expect_opens(const Octets& header, std::string_view payload) {
        Octets packet = seal(sender, header, as_bytes(payload));
        const auto size = receiver->unprotect_rtp(packet);
        ASSERT_TRUE(size.ok()) << size.error().text();
        Octets plain = header;
        plain.insert(plain.end(), payload.begin(), payload.end());
        EXPECT_EQ(Octets(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(*size)), plain);
    }

    GcmSender sender = GcmSender::create(keys(1), GetParam()).value();
    std::unique_ptr<Session> receiver = Session::create({Profile::aead_aes_128_gcm, keys(100), keys(1)}).value();
};

INSTANTIATE_TEST_SUITE_P(By, SrtpGcmSenderAndLibrary, kLibraries);

TEST_P(SrtpGcmSenderAndLibrary, ThreeTurnsOfTheNumber) {
    for (std::uint32_t i = 0; i < 3 * 65'536; i += 97)
        expect_opens(head(7, static_cast<std::uint16_t>(30'000 + i)), "payload");
}

TEST_P(SrtpGcmSenderAndLibrary, EachStreamHasItsOwnTurns) {
    for (const std::uint16_t sequence : std::initializer_list<std::uint16_t>{65'534, 65'535, 0, 1}) {
        expect_opens(head(7, sequence), "picture");
        expect_opens(head(8, static_cast<std::uint16_t>(sequence + 40'000)), "audio");
    }
    // RTX: the first two payload bytes are the original sequence number.
    Octets again = head(9, 1);
    again.insert(again.end(), {0xFF, 0xFE});
    expect_opens(again, "picture");
}

TEST_P(SrtpGcmSenderAndLibrary, ExtensionsStayInTheClear) {
    Octets header = head(7, 1);
    header[0] = 0x90;
    header.insert(header.end(), {0xBE, 0xDE, 0, 1, 0x31, 1, 2, 0});
    expect_opens(header, "payload");
    expect_opens(head(7, 2), "");
}

TEST_P(SrtpGcmSenderAndLibrary, AgainBeforeATurnOfTheNumberIsTheSamePacket) {
    const Octets before = seal(sender, head(7, 65'535), as_bytes("a"));
    const Octets behind = seal(sender, head(7, 0), as_bytes("b"));
    EXPECT_EQ(seal(sender, head(7, 65'535), as_bytes("a")), before);
    EXPECT_EQ(seal(sender, head(7, 0), as_bytes("b")), behind);
}

TEST_P(SrtpGcmSenderAndLibrary, NothingIsBeforeTheFirstTurn) {
    static_cast<void>(seal(sender, head(7, 5), as_bytes("a")));
    Octets out(100);
    EXPECT_EQ(sender.seal(out, head(7, 65'535), {}).code(), Errc::malformed);
    EXPECT_TRUE(sender.seal(out, head(7, 0), {}).ok());
}

TEST_P(SrtpGcmSenderAndLibrary, StreamsAreBounded) {
    Octets out(100);
    for (std::uint32_t ssrc = 0; ssrc < GcmSender::kStreamsMax; ++ssrc)
        ASSERT_TRUE(sender.seal(out, head(ssrc, 1), {}).ok());
    EXPECT_EQ(sender.seal(out, head(99, 1), {}).code(), Errc::limit);
    EXPECT_TRUE(sender.seal(out, head(0, 2), {}).ok());
}

}  // namespace
}  // namespace live::engine::srtp
