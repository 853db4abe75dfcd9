#include "engine/ice/client.hpp"

#include <gtest/gtest.h>

#include "engine/crypto/hmac_sha1.hpp"

namespace live::engine::ice {
namespace {

using Octets = std::vector<std::uint8_t>;
using StunKind = wire::stun::Kind;
using wire::stun::MessageWriter;

const TransportAddress kServer{parse_ip("192.0.2.1").value(), 8'000};
const TransportAddress kStranger{parse_ip("192.0.2.9").value(), 8'000};
const std::string kOurs(24, 'o');

Client client_of(std::string local_pwd) {
    return Client({.remote = kServer,
                   .local_ufrag = "ours",
                   .local_pwd = std::move(local_pwd),
                   .remote_ufrag = "theirs",
                   .remote_pwd = std::string(24, 't')},
                  TimePoint(1h));
}

Octets check_signed_by(const std::string& key) {
    MessageWriter out(StunKind::request, {1, 2, 3});
    out.username("ours:theirs").ice_controlled(7).priority(5);
    EXPECT_TRUE(out.sign(as_bytes(key), crypto::hmac_sha1).ok());
    return out.fingerprint().release();
}

Octets answer_of(const Client& client, const Octets& datagram, const TransportAddress& from) {
    const auto message = wire::stun::parse_message(datagram);
    return client.answer(datagram, message.value(), from).value();
}

TEST(IceClient, AServerThatChecksIsAnsweredUnderOurPassword) {
    const Octets answer = answer_of(client_of(kOurs), check_signed_by(kOurs), kServer);
    const auto message = wire::stun::parse_message(answer);
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message->kind, StunKind::success);
    EXPECT_EQ(message->transaction, (wire::stun::TransactionId{1, 2, 3}));
    EXPECT_EQ(message->xor_mapped_address, kServer);
    EXPECT_TRUE(wire::stun::has_integrity(answer, *message, as_bytes(kOurs), crypto::hmac_sha1).value());
}

TEST(IceClient, AnswersOnlyItsServer) {
    EXPECT_TRUE(answer_of(client_of(kOurs), check_signed_by("guessed"), kServer).empty());
    EXPECT_TRUE(answer_of(client_of(kOurs), check_signed_by(kOurs), kStranger).empty());
    EXPECT_TRUE(answer_of(client_of(""), check_signed_by(""), kServer).empty());
    EXPECT_TRUE(answer_of(client_of(kOurs), answer_of(client_of(kOurs), check_signed_by(kOurs), kServer), kServer).empty());
}

}  // namespace
}  // namespace live::engine::ice
