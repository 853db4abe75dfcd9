#include "settings/admission.hpp"

#include <gtest/gtest.h>

#include "io/fibers/wait_fixture.hpp"
#include "service/relay/relay_clock.hpp"

namespace live::settings {
namespace {

using service::relay::RelayedRequest;
using session::ClientKind;

struct AdmissionRelayTest : ::testing::Test {
    static Settings settings() {
        Settings made;
        made.vhosts.resize(2);
        made.vhosts[0].name = kDefaultVhost;
        made.vhosts[1].name = "protected";
        for (Vhost& vhost : made.vhosts)
            vhost.cluster.secret = "open-sesame";
        return made;
    }
    static session::ClientRequest player(std::string vhost, session::RelayClaims claims) {
        session::ClientRequest request;
        request.id = "c" + claims.proof;
        request.kind = ClientKind::rtmp_play;
        request.vhost = std::move(vhost);
        request.app = "live";
        request.stream = "cam";
        request.claims = std::make_shared<const session::RelayClaims>(std::move(claims));
        return request;
    }
    // A relay has a proof for the virtual host `proved` and requests `asked`.
    bool is_trusted(std::string_view proved, const std::string& asked) {
        const auto proof = service::relay::proof_for({RelayedRequest::Role::play, proved, "live", "cam", "vid-1"}, "open-sesame");
        return is_trusted_with(proof, asked);
    }
    bool is_trusted_with(const std::string& proof, const std::string& asked) {
        const auto served = admission.play(player(asked, {"vid-1", proof, {}}), io::Deadline::after(io::kSoon)).served();
        return served.ok() && std::get<session::StreamPlan>(*served).is_trusted_relay;
    }

    CurrentSettings current{settings()};
    Admission admission{current};
};

TEST_F(AdmissionRelayTest, AProofIsForOneVirtualHost) {
    EXPECT_TRUE(is_trusted("open", "open"));
    EXPECT_FALSE(is_trusted("open", "other")) << "the same one serves it";
    EXPECT_FALSE(is_trusted("open", "protected"));
}

// As the version before made it, for any virtual host.
TEST_F(AdmissionRelayTest, AnOlderProofIsNone) {
    auto proof = service::relay::proof_for({RelayedRequest::Role::play, "open", "live", "cam", "vid-1"}, "open-sesame");
    proof.front() = '1';
    EXPECT_FALSE(is_trusted_with(proof, "open"));
}

TEST_F(AdmissionRelayTest, AnotherWorkerGetsTheStreamThatItHasAdmittedItsClientTo) {
    const auto play = [&](const std::string& vhost, std::string url) {
        auto request = player(vhost, {"vid-1", {}, {}});
        session::RelayClaims claims = *request.claims;
        claims.url = std::move(url);
        request.claims = std::make_shared<const session::RelayClaims>(std::move(claims));
        request.is_sibling = true;
        return admission.play(request, io::Deadline::after(io::kSoon)).served();
    };
    EXPECT_TRUE(play(std::string(kDefaultVhost), "/live/cam").ok());
    EXPECT_EQ(play("protected", "/live/cam").code(), Errc::denied);
    EXPECT_TRUE(play("protected", "protected/live/cam").ok());
    EXPECT_EQ(play(std::string(kDefaultVhost), "/live/cam2").code(), Errc::denied);
    EXPECT_TRUE(play(std::string(kDefaultVhost), "").ok()) << "a worker of an older program";
}

}  // namespace
}  // namespace live::settings
