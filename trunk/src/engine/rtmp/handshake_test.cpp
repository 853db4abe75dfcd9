#include "engine/rtmp/handshake.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace live::engine::rtmp {

using Octets = std::vector<std::uint8_t>;

namespace {

constexpr TimePoint kNow{std::chrono::milliseconds(0x01020304)};

// A block whose digest offset bytes and content are derived from the seed.
Octets random_block(unsigned seed) {
    std::mt19937 random(seed);
    Octets block(kHandshakeBlockBytes);
    for (std::uint8_t& byte : block)
        byte = static_cast<std::uint8_t>(random());
    return block;
}

Octets client_hello(unsigned seed, std::optional<Schema> schema) {
    Octets hello{3};
    Octets c1 = random_block(seed);
    for (std::size_t i = 4; i < 8; ++i)
        c1[i] = schema ? 9 : 0;
    if (schema) {
        EXPECT_TRUE(embed_digest(c1, *schema, Signer::client).ok());
    }
    hello.insert(hello.end(), c1.begin(), c1.end());
    return hello;
}

struct Answer {
    Octets output;
    Octets left;
    Result<bool> done = false;
};

Answer feed(ServerHandshake& server, Bytes input) {
    ByteWriter out;
    Answer answer;
    answer.done = server.handle_bytes(kNow, input, out);
    answer.output = out.release();
    answer.left.assign(input.begin(), input.end());
    return answer;
}

TEST(Handshake, ASimpleClientGetsItsBlockBack) {
    const Octets hello = client_hello(1, std::nullopt);
    ServerHandshake server(7);
    const Answer answer = feed(server, hello);
    ASSERT_TRUE(answer.done.ok());
    EXPECT_FALSE(*answer.done);
    EXPECT_EQ(server.form(), HandshakeForm::simple);
    ASSERT_EQ(answer.output.size(), 1 + 2 * kHandshakeBlockBytes);
    const Bytes output(answer.output);
    EXPECT_EQ(output[0], 3);
    const Bytes s1 = output.subspan(1, kHandshakeBlockBytes);
    EXPECT_EQ(Octets(s1.begin(), s1.begin() + 8), (Octets{1, 2, 3, 4, 0, 0, 0, 0}));
    const Bytes s2 = output.subspan(1 + kHandshakeBlockBytes);
    EXPECT_TRUE(std::equal(s2.begin(), s2.end(), hello.begin() + 1));
}

TEST(Handshake, ASignedClientGetsASignedAnswerInItsOwnSchema) {
    for (const Schema schema : {Schema::key_first, Schema::digest_first}) {
        for (unsigned seed = 0; seed < 20; ++seed) {
            const Octets hello = client_hello(seed, schema);
            ServerHandshake server(seed);
            const Answer answer = feed(server, hello);
            EXPECT_EQ(server.form(), HandshakeForm::complex);
            const Bytes output(answer.output);
            ASSERT_EQ(output.size(), 1 + 2 * kHandshakeBlockBytes);
            const auto s1 = MUST(find_digest(output.subspan(1, kHandshakeBlockBytes), Signer::server));
            ASSERT_TRUE(s1);
            EXPECT_EQ(s1->schema, schema);
            const auto c1 = MUST(find_digest(Bytes(hello).subspan(1), Signer::client));
            ASSERT_TRUE(c1);
            EXPECT_TRUE(MUST(is_answer(output.subspan(1 + kHandshakeBlockBytes), c1->digest, Signer::server)));
        }
    }
}

TEST(Handshake, AVersionWithoutASignatureIsSimple) {
    Octets hello = client_hello(3, std::nullopt);
    hello[5] = 9;
    ServerHandshake server(1);
    EXPECT_EQ(feed(server, hello).output.size(), 1 + 2 * kHandshakeBlockBytes);
    EXPECT_EQ(server.form(), HandshakeForm::simple);
}

TEST(Handshake, OneWrongBitIsNoSignature) {
    Octets hello = client_hello(4, Schema::digest_first);
    hello[1000] ^= 1;
    EXPECT_FALSE(MUST(find_digest(Bytes(hello).subspan(1), Signer::client)));
}

TEST(Handshake, TheDigestStaysInsideItsHalfAtTheLargestOffset) {
    Octets block(kHandshakeBlockBytes, 0xFF);
    EXPECT_EQ(digest_offset(block, Schema::digest_first), 8U + 4 + 1020 % 728);
    EXPECT_EQ(digest_offset(block, Schema::key_first), 8U + 764 + 4 + 1020 % 728);
    // 727 is the largest remainder.
    const Octets largest{255, 255, 217, 0};
    std::copy(largest.begin(), largest.end(), block.begin() + 8);
    EXPECT_EQ(digest_offset(block, Schema::digest_first) + kDigestBytes, 8U + 764 - 1);
    std::copy(largest.begin(), largest.end(), block.begin() + 8 + 764);
    EXPECT_EQ(digest_offset(block, Schema::key_first) + kDigestBytes, kHandshakeBlockBytes - 1);
}

TEST(Handshake, RefusesOtherProtocolsByTheFirstByte) {
    ServerHandshake http(1);
    const Answer get = feed(http, as_bytes("GET / HTTP/1.1\r\n"));
    ASSERT_FALSE(get.done.ok());
    EXPECT_EQ(get.done.error().text(), "malformed: the first byte is 71, RTMP begins with 3");
    ServerHandshake encrypted(1);
    EXPECT_EQ(feed(encrypted, Octets{6}).done.code(), Errc::unsupported);
}

TEST(Handshake, ResumesAfterACutAtAnyByte) {
    Octets all = client_hello(5, Schema::key_first);
    const Octets c2 = random_block(6);
    all.insert(all.end(), c2.begin(), c2.end());
    const Octets chunks{0x03, 1, 2, 3};
    all.insert(all.end(), chunks.begin(), chunks.end());
    for (std::size_t cut = 0; cut <= all.size(); ++cut) {
        SCOPED_TRACE("cut at " + std::to_string(cut));
        ServerHandshake server(1);
        const Answer first = feed(server, Bytes(all).first(cut));
        ASSERT_TRUE(first.done.ok());
        EXPECT_EQ(*first.done, cut >= 1 + 2 * kHandshakeBlockBytes);
        EXPECT_EQ(first.output.empty(), cut < 1 + kHandshakeBlockBytes);
        const Answer second = feed(server, Bytes(all).subspan(cut));
        ASSERT_TRUE(second.done.ok());
        EXPECT_TRUE(*second.done);
        EXPECT_EQ(first.output.size() + second.output.size(), 1 + 2 * kHandshakeBlockBytes);
        EXPECT_EQ(first.left.size() + second.left.size(), chunks.size());
    }
}

// Joins both ends and passes at most `step` bytes at a time.
struct Pair {
    explicit Pair(HandshakeForm wanted) : client(11, wanted) {}

    void run(std::size_t step) {
        ByteWriter to_server;
        ByteWriter to_client;
        ASSERT_TRUE(client.start(kNow, to_server).ok());
        std::size_t server_at = 0;
        std::size_t client_at = 0;
        while (!(server_done && client_done)) {
            Bytes input = to_server.written().subspan(server_at);
            input = input.first(std::min(step, input.size()));
            server_at += input.size();
            server_done = MUST(server.handle_bytes(kNow, input, to_client));
            Bytes answer = to_client.written().subspan(client_at);
            answer = answer.first(std::min(step, answer.size()));
            client_at += answer.size();
            client_done = MUST(client.handle_bytes(kNow, answer, to_server));
            ASSERT_LT(++rounds, 20'000);
        }
        EXPECT_EQ(server_at, 1 + 2 * kHandshakeBlockBytes);
        EXPECT_EQ(client_at, 1 + 2 * kHandshakeBlockBytes);
    }

    ServerHandshake server{12};
    ClientHandshake client;
    bool server_done = false;
    bool client_done = false;
    int rounds = 0;
};

TEST(Handshake, BothEndsAgreeOnTheSameForm) {
    for (const HandshakeForm form : {HandshakeForm::simple, HandshakeForm::complex}) {
        for (const std::size_t step : {1UL, 2UL, 7UL, 1536UL, 1537UL, 5000UL}) {
            Pair pair(form);
            pair.run(step);
            EXPECT_EQ(pair.server.form(), form);
            EXPECT_EQ(pair.client.form(), form);
        }
    }
}

TEST(Handshake, AClientThatWantsToSignTakesAnUnsignedServer) {
    ClientHandshake client(1, HandshakeForm::complex);
    ByteWriter out;
    ASSERT_TRUE(client.start(kNow, out).ok());
    Octets answer{3};
    Octets s1 = random_block(2);
    answer.insert(answer.end(), s1.begin(), s1.end());
    answer.insert(answer.end(), kHandshakeBlockBytes, 0);
    Bytes input(answer);
    EXPECT_TRUE(MUST(client.handle_bytes(kNow, input, out)));
    EXPECT_EQ(client.form(), HandshakeForm::simple);
    const Bytes c2 = out.written().subspan(1 + kHandshakeBlockBytes);
    EXPECT_TRUE(std::equal(c2.begin(), c2.end(), s1.begin()));
}

TEST(Handshake, TheSeedDecidesTheRandomBytes) {
    ByteWriter one;
    ByteWriter same;
    ByteWriter other;
    ASSERT_TRUE(ClientHandshake(1, HandshakeForm::simple).start(kNow, one).ok());
    ASSERT_TRUE(ClientHandshake(1, HandshakeForm::simple).start(kNow, same).ok());
    ASSERT_TRUE(ClientHandshake(2, HandshakeForm::simple).start(kNow, other).ok());
    EXPECT_TRUE(std::equal(one.written().begin(), one.written().end(), same.written().begin()));
    EXPECT_FALSE(std::equal(one.written().begin(), one.written().end(), other.written().begin()));
}

}  // namespace
}  // namespace live::engine::rtmp
