#include "service/cluster/redis_commands.hpp"

#include <gtest/gtest.h>

namespace live::service::cluster {
namespace {

namespace cluster = engine::cluster;
using engine::redis::Reply;

Reply text(std::string words) { return {Reply::Kind::text, 0, std::move(words), {}}; }
Reply number(std::int64_t value) { return {Reply::Kind::number, value, {}, {}}; }
Reply list(std::vector<Reply> items) { return {Reply::Kind::list, 0, {}, std::move(items)}; }

const cluster::Command kBeat{1, cluster::Beat{{"a", 7, "h"}, std::chrono::seconds(8)}};
const cluster::Command kClaim{2, cluster::Claim{"/live/cam", {"a", 7, 3, 5}, false, true}};
const cluster::Command kWithdraw{3, cluster::Withdraw{"/live/cam", {"a", 7, 3, 5}}};
const cluster::Command kLook{4, cluster::StreamLookup{"/live/cam"}};
const cluster::Command kList{5, cluster::ListNodes{}};

std::string without_script(const cluster::Command& command) {
    std::string all;
    auto words = words_of(command);
    words.at(1).clear();
    for (const std::string& word : words)
        all += word + " ";
    return all;
}

// The scripts themselves are tested with a real server, in test/e2e/test_cluster.py.
TEST(RedisCommands, HaveKeysAndArguments) {
    EXPECT_EQ(without_script(kBeat), "EVAL  2 millrace:node:a millrace:nodes a 7|h|0|0|0||up|0|0| 8000 7 ");
    EXPECT_EQ(without_script(kClaim), "EVAL  1 millrace:own:/live/cam a 7 3 5 0 1 3600000 millrace: /live/cam millrace:events  ");
    cluster::Command is_signed = kClaim;
    std::get<cluster::Claim>(is_signed.what).own.mac = std::string(cluster::kMacBytes, 'f');
    EXPECT_NE(without_script(is_signed).find(" 5|" + std::string(cluster::kMacBytes, 'f') + " 0 1 "), std::string::npos);
    cluster::Command after_death = kClaim;
    std::get<cluster::Claim>(after_death.what).dead = cluster::NodeRun{"b", 9};
    EXPECT_TRUE(without_script(after_death).ends_with("millrace:events b|9 "));
    EXPECT_EQ(without_script(kWithdraw), "EVAL  1 millrace:own:/live/cam a 7 3 /live/cam millrace:events ");
    EXPECT_EQ(without_script(kLook), "EVAL  1 millrace:own:/live/cam millrace: ");
    EXPECT_EQ(without_script(kList), "EVAL  1 millrace:nodes millrace: 4095 64 ");
}

TEST(RedisCommands, ParseAnswers) {
    EXPECT_TRUE(std::get<cluster::BeatDone>(answer_of(kBeat, number(1))).was_known);
    EXPECT_FALSE(std::get<cluster::BeatDone>(answer_of(kBeat, number(0))).was_known);
    EXPECT_FALSE(std::get<cluster::BeatDone>(answer_of(kBeat, number(1))).is_shared);
    EXPECT_TRUE(std::get<cluster::BeatDone>(answer_of(kBeat, number(2))).is_shared);
    const auto granted = std::get<cluster::ClaimDone>(answer_of(kClaim, list({number(1), text("4")})));
    EXPECT_TRUE(granted.is_granted && granted.epoch == 4);
    const auto refused = std::get<cluster::ClaimDone>(answer_of(kClaim, list({number(0), text("b|1|9|0")})));
    EXPECT_TRUE(!refused.is_granted && refused.holder == "b|1|9|0");
    EXPECT_EQ(std::get<cluster::StreamLookupDone>(answer_of(kLook, list({text("o"), text("n")}))).node, "n");
    EXPECT_EQ(std::get<cluster::NodesDone>(answer_of(kList, list({text("a"), text("x"), text("b")}))).nodes.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<cluster::WithdrawDone>(answer_of(kWithdraw, number(0))));
}

TEST(RedisCommands, ReportMalformedAnswersAsRefusals) {
    const Reply wrong[] = {{},
                           text("x"),
                           list({}),
                           list({text("1"), text("2")}),
                           list({number(1), text("x")}),
                           list({number(1), text("-1")}),
                           {Reply::Kind::error, 0, "NOSCRIPT", {}}};
    for (const Reply& reply : wrong)
        for (const auto& command : {kBeat, kClaim, kWithdraw})
            EXPECT_TRUE(std::holds_alternative<cluster::Refusal>(answer_of(command, reply)));
    EXPECT_TRUE(std::holds_alternative<cluster::Refusal>(answer_of(kLook, list({text("x")}))));
    EXPECT_TRUE(std::holds_alternative<cluster::Refusal>(answer_of(kList, number(1))));
}

TEST(RedisCommands, ListStreamsInPages) {
    EXPECT_EQ(scan_words("7")[3], "7");
    EXPECT_EQ(scan_words("0")[4], "millrace:own:*");
    const auto page = MUST(parse_scan(list({text("17"), list({text("millrace:own:/live/a"), text("other"), number(3)})})));
    EXPECT_EQ(page.cursor, "17");
    EXPECT_EQ(page.streams, std::vector<std::string>{"/live/a"});
    for (const Reply& wrong : {Reply{}, list({text("0")}), list({text("0"), text("x")}), list({number(0), list({})})})
        EXPECT_EQ(parse_scan(wrong).code(), Errc::malformed);
    const auto owners = owner_words({"/live/a", "/live/b"});
    EXPECT_EQ(owners[2], "2");
    EXPECT_EQ(owners[3], "millrace:own:/live/a");
}

}  // namespace
}  // namespace live::service::cluster
