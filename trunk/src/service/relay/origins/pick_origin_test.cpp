#include "service/relay/origins/pick_origin.hpp"

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"

namespace live::service::relay {
namespace {

std::vector<Origin> parsed(const std::vector<std::string>& texts, PullProtocol protocol) {
    std::vector<Origin> origins;
    for (const std::string& text : texts)
        origins.push_back(parse_origin(text, protocol).value());
    return origins;
}

std::vector<std::string> usable(OriginUse use, const ClusterOptions& options) {
    std::vector<std::string> names;
    for (const Origin& origin : usable_origins(parsed(options.origin, options.protocol), use, options))
        names.push_back(origin.text());
    return names;
}

using Names = std::vector<std::string>;

TEST(UsableOrigins, AreAllForPullWithFixedProtocol) {
    ClusterOptions options;
    options.origin = {"a", "http://b", "https://c"};
    EXPECT_EQ(usable(OriginUse::pull, options), (Names{"rtmp://a:1935", "http://b:80", "https://c:443"}));
    options.protocol = PullProtocol::flv;
    EXPECT_EQ(usable(OriginUse::pull, options), (Names{"http://a:80", "http://b:80", "https://c:443"}));
}

TEST(UsableOrigins, HaveClientsProtocolIfAvailable) {
    ClusterOptions options;
    options.follow_client = true;
    options.origin = {"rtmp://a", "http://b", "https://c"};
    EXPECT_EQ(usable(OriginUse::pull, options), (Names{"rtmp://a:1935"}));
    options.protocol = PullProtocol::flvs;
    EXPECT_EQ(usable(OriginUse::pull, options), (Names{"http://b:80", "https://c:443"}));
    options.origin = {"rtmp://a"};
    EXPECT_EQ(usable(OriginUse::pull, options), (Names{"rtmp://a:1935"}));
}

TEST(UsableOrigins, AreNotHttpForPush) {
    ClusterOptions options;
    options.origin = {"rtmps://a", "http://b", "c"};
    EXPECT_EQ(usable(OriginUse::push, options), (Names{"rtmps://a:443", "rtmp://c:1935"}));
}

class OneAnswer final : public Resolver {
public:
    Location find(const std::string&, const ClusterOptions& options, io::Deadline) override {
        protocol = options.protocol;
        return answer;
    }
    Location answer;
    PullProtocol protocol = PullProtocol::flvs;
};

TEST(FindOrigins, ReturnsUsableOriginsOrReason) {
    OneAnswer resolver;
    ClusterOptions options;
    const auto find = [&](OriginUse use) { return find_origins(resolver, "/live/cam", use, options, io::Deadline::never()); };
    resolver.answer = Unknown{"the service is away", std::chrono::milliseconds(700)};
    EXPECT_EQ(std::get<RetryLater>(find(OriginUse::pull)).wait, std::chrono::milliseconds(700));
    resolver.answer = Nowhere{"nobody has it"};
    EXPECT_EQ(std::get<RetryLater>(find(OriginUse::pull)).why, "nobody has it");
    resolver.answer = Located{{{"h", 80, Scheme::http}}};
    EXPECT_EQ(names_of(std::get<std::vector<Origin>>(find(OriginUse::pull))), (Names{"http://h:80"}));
    options.protocol = PullProtocol::flv;
    EXPECT_TRUE(std::holds_alternative<RetryLater>(find(OriginUse::push)));
    EXPECT_EQ(resolver.protocol, PullProtocol::rtmp) << "an origin without a scheme is RTMP for a push";
}

TEST(PickOrigin, ChoosesByHealth) {
    const auto loop = MUST(io::Loop::create());
    OneAnswer resolver;
    OriginHealth health;
    const auto pick = [&] { return pick_origin(resolver, health, "/live/cam", {}, {}, io::Deadline::never()); };
    resolver.answer = Located{{{"h", 1935, Scheme::rtmp}}};
    EXPECT_EQ(std::get<Origin>(pick()).text(), "rtmp://h:1935");
    health.report_down("rtmp://h:1935", "gone", io::now(), 0);
    const auto later = pick();
    EXPECT_GT(std::get<RetryLater>(later).wait, Duration::zero());
    EXPECT_TRUE(std::get<RetryLater>(later).why.empty());
}

}  // namespace
}  // namespace live::service::relay
