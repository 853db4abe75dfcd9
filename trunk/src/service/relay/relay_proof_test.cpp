#include "service/relay/relay_proof.hpp"

#include <gtest/gtest.h>

namespace live::service::relay {
namespace {

constexpr std::int64_t kSecondNow = 1'800'000'000;
const RelayedRequest kRequest{RelayedRequest::Role::play, "v", "live", "cam", "vid-1"};

std::string proof(std::string_view nonce = "n1", std::int64_t at = kSecondNow) {
    return MUST(make_relay_proof("secret", kRequest, at, nonce));
}

TEST(RelayProof, IsValidOnce) {
    RelayProofs proofs;
    EXPECT_TRUE(proofs.check(proof(), "secret", kRequest, kSecondNow).ok());
    EXPECT_EQ(proofs.check(proof(), "secret", kRequest, kSecondNow).code(), Errc::denied);
    EXPECT_TRUE(proofs.check(proof("n2"), "secret", kRequest, kSecondNow).ok());
}

TEST(RelayProof, IsValidForOneRequest) {
    RelayProofs proofs;
    EXPECT_EQ(proofs.check(proof(), "other", kRequest, kSecondNow).code(), Errc::denied);
    EXPECT_EQ(proofs.check(proof(), "", kRequest, kSecondNow).code(), Errc::denied);
    for (const RelayedRequest& other : {RelayedRequest{RelayedRequest::Role::publish, "v", "live", "cam", "vid-1"},
                                        RelayedRequest{RelayedRequest::Role::play, "w", "live", "cam", "vid-1"},
                                        RelayedRequest{RelayedRequest::Role::play, "v", "live2", "cam", "vid-1"},
                                        RelayedRequest{RelayedRequest::Role::play, "v", "live", "cam2", "vid-1"},
                                        RelayedRequest{RelayedRequest::Role::play, "v", "live", "cam", "vid-2"}})
        EXPECT_EQ(proofs.check(proof(), "secret", other, kSecondNow).code(), Errc::denied);
    EXPECT_EQ(proofs.size(), 0U) << "a wrong proof uses up no nonce";
}

TEST(RelayProof, IsValidForHalfAMinute) {
    constexpr auto kWindow = RelayProofs::kWindowSeconds;
    RelayProofs proofs;
    EXPECT_TRUE(proofs.check(proof("a", kSecondNow - kWindow), "secret", kRequest, kSecondNow).ok());
    EXPECT_TRUE(proofs.check(proof("b", kSecondNow + kWindow), "secret", kRequest, kSecondNow).ok());
    EXPECT_EQ(proofs.check(proof("c", kSecondNow - kWindow - 1), "secret", kRequest, kSecondNow).code(), Errc::denied);
    EXPECT_EQ(proofs.check(proof("d", kSecondNow + kWindow + 1), "secret", kRequest, kSecondNow).code(), Errc::denied);
}

TEST(RelayProof, IsRefusedAfterAnyChange) {
    const std::string good = proof();
    for (std::size_t i = 0; i < good.size(); ++i) {
        RelayProofs proofs;
        std::string changed = good;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(proofs.check(changed, "secret", kRequest, kSecondNow).ok()) << changed;
        EXPECT_FALSE(proofs.check(good.substr(0, i), "secret", kRequest, kSecondNow).ok()) << i;
    }
    RelayProofs proofs;
    EXPECT_FALSE(proofs.check(proof(std::string(RelayProofs::kNonceBytesMax + 1, 'n')), "secret", kRequest, kSecondNow).ok());
}

TEST(RelayProof, BoundsTheTableOfNonces) {
    RelayProofs proofs;
    for (std::size_t i = 0; i < RelayProofs::kNoncesMax; ++i)
        ASSERT_TRUE(proofs.check(proof(std::to_string(i)), "secret", kRequest, kSecondNow).ok());
    EXPECT_EQ(proofs.check(proof("more"), "secret", kRequest, kSecondNow).code(), Errc::limit);
    const std::int64_t later = kSecondNow + RelayProofs::kWindowSeconds + 1;
    EXPECT_TRUE(proofs.check(proof("more", later), "secret", kRequest, later).ok());
    EXPECT_EQ(proofs.size(), 1U);
}

}  // namespace
}  // namespace live::service::relay
