#include "service/admission/referrer_policy.hpp"

#include <gtest/gtest.h>

#include "service/admission/vhosts_fixture.hpp"

namespace live::service::admission {
namespace {

using session::ClientKind;

struct ReferrerPolicyTest : testing::Test {
    ReferrerPolicyTest() {
        vhosts.main().refer = {.enabled = true, .all = {}, .publish = {"cast.example"}, .play = {"watch.example"}};
    }
    static session::ClientRequest client_from(const std::string& page, ClientKind kind = ClientKind::rtmp_play) {
        auto client = client_of(kind);
        client.page_url = page;
        return client;
    }
    FakeVhosts vhosts;
    const VhostPolicy hosts{vhosts};
    const ReferrerPolicy policy{hosts};
};

TEST_F(ReferrerPolicyTest, HasAListForEachRoleAndOneForBoth) {
    const auto client = client_from("http://www.watch.example/a");
    EXPECT_TRUE(policy.check_all(client).ok());
    EXPECT_TRUE(policy.check_play(client).ok());
    EXPECT_EQ(policy.check_publish(client).code(), Errc::denied);
    vhosts.main().refer.all = {"other.example"};
    EXPECT_EQ(policy.check_all(client).code(), Errc::denied);
    EXPECT_TRUE(policy.check_play(client).ok());
    vhosts.main().refer.enabled = false;
    EXPECT_TRUE(policy.check_all(client).ok());
}

TEST_F(ReferrerPolicyTest, AppliesToRtmpClientsOnly) {
    for (const auto kind :
         {ClientKind::rtmp_play, ClientKind::fmle_publish, ClientKind::flash_publish, ClientKind::haivision_publish})
        EXPECT_EQ(policy.check_play(client_from("http://evil.test/", kind)).code(), Errc::denied) << name_of(kind);
    for (const auto kind : {ClientKind::flv_play, ClientKind::hls_play, ClientKind::rtc_play, ClientKind::srt_play,
                            ClientKind::rtc_publish, ClientKind::srt_publish})
        EXPECT_TRUE(policy.check_play(client_from("http://evil.test/", kind)).ok()) << name_of(kind);
}

TEST_F(ReferrerPolicyTest, RefusesWithoutAVirtualHost) {
    vhosts.main().enabled = false;
    EXPECT_EQ(policy.check_all(client_from("", ClientKind::hls_play)).code(), Errc::denied);
    vhosts.clear();
    EXPECT_EQ(policy.check_all(client_from("", ClientKind::hls_play)).code(), Errc::not_found);
}

}  // namespace
}  // namespace live::service::admission
