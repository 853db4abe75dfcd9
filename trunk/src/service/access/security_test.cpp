#include "service/access/security.hpp"

#include <gtest/gtest.h>

namespace live::service::access {
namespace {

using Rules = std::vector<std::vector<std::string>>;

// 0 when permitted, otherwise the number in the sentence.
int answer(const Rules& allow, const Rules& deny, Role role, std::string_view ip) {
    const auto checked = check_security({true, allow, deny}, role, ip);
    if (checked.ok())
        return 0;
    EXPECT_EQ(checked.code(), Errc::denied);
    const std::string& sentence = checked.error().sentence();
    return std::stoi(sentence.substr(sentence.rfind('(') + 1));
}

TEST(Security, DisabledPermitsAllClients) {
    EXPECT_TRUE(check_security({}, Role::publish, "10.0.0.7").ok());
    EXPECT_TRUE(check_security({false, {}, {{"publish", "all"}}}, Role::publish, "10.0.0.7").ok());
}

TEST(Security, WithoutRulesAllClientsAreRefused) {
    EXPECT_EQ(answer({}, {}, Role::play, "10.0.0.7"), 1052);
    EXPECT_EQ(answer({}, {}, Role::publish, "10.0.0.7"), 1052);
}

TEST(Security, ReportsWhetherAnyClientIsRefused) {
    const auto restricts_play = [](const SecurityOptions& options) { return restricts(options, Role::play); };
    EXPECT_FALSE(restricts_play({}));
    EXPECT_TRUE(restricts_play({true, {}, {}}));
    EXPECT_FALSE(restricts_play({true, {{"play", "all"}}, {}}));
    EXPECT_FALSE(restricts_play({true, {{"play", "all"}}, {{"publish", "all"}}}));
    EXPECT_FALSE(restricts_play({true, {}, {{"publish", "10.0.0.1"}}})) << "only deny rules permit the rest";
    EXPECT_TRUE(restricts_play({true, {}, {{"play", "10.0.0.1"}}}));
    EXPECT_TRUE(restricts_play({true, {{"play", "10.0.0.0/8"}}, {}}));
    EXPECT_TRUE(restricts_play({true, {{"publish", "all"}}, {}})) << "an allow list without players";
}

TEST(Security, DenyRulesApplyFirst) {
    const Rules both{{"play", "all"}};
    EXPECT_EQ(answer(both, both, Role::play, "10.0.0.7"), 1053);
    EXPECT_EQ(answer({{"play", "10.0.0.7"}}, {{"play", "10.0.0.0/8"}}, Role::play, "10.0.0.7"), 1053);
}

TEST(Security, OnlyDenyRulesPermitTheRest) {
    EXPECT_EQ(answer({}, {{"play", "10.0.0.7"}}, Role::play, "10.0.0.8"), 0);
    EXPECT_EQ(answer({}, {{"play", "10.0.0.7"}}, Role::play, "10.0.0.7"), 1053);
    EXPECT_EQ(answer({}, {{"play", "all"}}, Role::publish, "10.0.0.7"), 0);
}

TEST(Security, AnAllowRuleRefusesTheRest) {
    EXPECT_EQ(answer({{"play", "10.0.0.0/8"}}, {}, Role::play, "10.9.9.9"), 0);
    EXPECT_EQ(answer({{"play", "10.0.0.0/8"}}, {}, Role::play, "11.0.0.1"), 1054);
    EXPECT_EQ(answer({{"play", "all"}}, {}, Role::publish, "10.0.0.7"), 1054) << "an allow rule of the other kind counts too";
    EXPECT_EQ(answer({{"play", "all"}}, {{"publish", "10.0.0.1"}}, Role::publish, "10.0.0.7"), 1054);
}

TEST(Security, MatchesIpv4AndIpv6) {
    EXPECT_EQ(answer({}, {{"publish", "2001:db8::/32"}}, Role::publish, "2001:db8::9"), 1053);
    EXPECT_EQ(answer({}, {{"publish", "2001:db8::/32"}}, Role::publish, "10.0.0.7"), 0);
    EXPECT_EQ(answer({{"publish", "127.0.0.1"}}, {}, Role::publish, "::ffff:127.0.0.1"), 0);
}

TEST(Security, MalformedAddressMatchesOnlyAll) {
    EXPECT_EQ(answer({{"play", "0.0.0.0/0"}}, {}, Role::play, "somewhere"), 1054);
    EXPECT_EQ(answer({{"play", "all"}}, {}, Role::play, "somewhere"), 0);
}

TEST(Security, TheSentenceIsForTheClient) {
    EXPECT_EQ(check_security({true, {}, {{"publish", "all"}}}, Role::publish, "10.0.0.7").error().sentence(),
              "publish is not permitted from your address: a rule denies it (1053)");
}

TEST(Security, RulesAreValidatedWhenTheyAreLoaded) {
    const auto found = [](const std::vector<std::string>& rule) {
        return kSecurityCheck.check({.allow = {rule}, .deny = {}}, {.vhost = "v"}).error;
    };
    for (const std::vector<std::string>& rule :
         {std::vector<std::string>{"play", "all"}, {"publish", "10.0.0.7"}, {"play", "10.0.0.0/8"}, {"play", "::/0"}})
        EXPECT_EQ(found(rule), "");
    for (const std::vector<std::string>& rule : {std::vector<std::string>{},
                                                 {"play"},
                                                 {"all", "play"},
                                                 {"watch", "all"},
                                                 {"play", "10.0.0"},
                                                 {"play", "10.0.0.0/33"},
                                                 {"play", "all", "now"},
                                                 {"play", "example.com"}})
        EXPECT_TRUE(found(rule).starts_with("vhost v: security: found the rule \"")) << found(rule);
}

}  // namespace
}  // namespace live::service::access
