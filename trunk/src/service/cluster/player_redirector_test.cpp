#include "service/cluster/player_redirector.hpp"

#include <gtest/gtest.h>

namespace live::service::cluster {
namespace {

using engine::cluster::NodeRecord;
using session::ClientKind;

session::ClientRequest client_of(ClientKind kind, const std::string& protocol) {
    session::ClientRequest client;
    client.kind = kind;
    client.protocol = protocol;
    return client;
}

session::ClientRequest node_of(const std::string& path, const std::string& node) {
    session::ClientRequest client = client_of(ClientKind::rtmp_play, "rtmp");
    client.claims = std::make_shared<session::RelayClaims>(session::RelayClaims{path, {}, {}, node});
    return client;
}

TEST(PlayerRedirector, RedirectsClientsWithPort) {
    EXPECT_EQ(port_for(client_of(ClientKind::rtmp_play, "rtmp")), &NodeRecord::rtmp_port);
    EXPECT_EQ(port_for(client_of(ClientKind::flv_play, "http-flv")), &NodeRecord::http_port);
    EXPECT_EQ(port_for(client_of(ClientKind::hls_play, "http-hls")), &NodeRecord::http_port);
    EXPECT_EQ(port_for(client_of(ClientKind::rtc_play, "whep")), &NodeRecord::api_port);
    EXPECT_EQ(port_for(client_of(ClientKind::rtc_publish, "whip")), &NodeRecord::api_port);
    for (const auto& stays :
         {client_of(ClientKind::rtc_play, "rtc"), client_of(ClientKind::flv_play, "ws-flv"),
          client_of(ClientKind::fmle_publish, "rtmp"), client_of(ClientKind::srt_play, "srt"), node_of("a", "n1")})
        EXPECT_FALSE(port_for(stays)) << stays.protocol;
    session::ClientRequest secure = client_of(ClientKind::rtmp_play, "rtmps");
    secure.is_secure = true;
    EXPECT_FALSE(port_for(secure));
}

TEST(PlayerRedirector, PullersNeedProofWithSecret) {
    session::StreamPlan plan;
    EXPECT_EQ(puller_of(node_of("a", "n1"), plan, Proof::not_needed), "n1");
    EXPECT_EQ(puller_of(node_of("a", ""), plan, Proof::not_needed), "") << "an edge outside the cluster";
    EXPECT_EQ(puller_of(node_of("", "n1"), plan, Proof::not_needed), "") << "a player";
    EXPECT_EQ(puller_of(client_of(ClientKind::rtmp_play, "rtmp"), plan, Proof::not_needed), "");
    EXPECT_EQ(puller_of(node_of("a", "n1"), plan, Proof::needed), "");
    plan.is_trusted_relay = true;
    EXPECT_EQ(puller_of(node_of("a", "n1"), plan, Proof::needed), "n1");
}

}  // namespace
}  // namespace live::service::cluster
