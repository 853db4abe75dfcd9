#include "session/srt/call/call_url.hpp"

#include <gtest/gtest.h>

namespace live::session::srt {
namespace {

TEST(CallUrl, IsReadWithItsParameters) {
    const CallUrl url =
        MUST(parse_call_url("srt://example.com:9000?streamid=#!::r=live/"
                            "cam,m=request&passphrase=ten%20letters%26&pbkeylen=32&latency=200&mode=caller&"
                            "kmrefreshrate=1000&kmpreannounce=100"));
    EXPECT_EQ(url.host, "example.com");
    EXPECT_EQ(url.port, 9000);
    EXPECT_EQ(url.stream_id, "#!::r=live/cam,m=request");
    EXPECT_EQ(url.passphrase, "ten letters&");
    EXPECT_EQ(url.key_bytes, 32U);
    EXPECT_EQ(url.latency, std::chrono::milliseconds(200));
    EXPECT_EQ(url.key_refresh_packets, 1'000U);
    EXPECT_EQ(url.key_announce_packets, 100U);
    EXPECT_EQ(url.label(), "srt://example.com:9000") << "secrets are not shown";
}

TEST(CallUrl, NeedsNothingButHostAndPort) {
    const CallUrl plain = MUST(parse_call_url("srt://192.0.2.7:10080"));
    EXPECT_EQ(plain, (CallUrl{.host = "192.0.2.7", .port = 10080, .stream_id = {}, .passphrase = {}, .latency = {}}));
    EXPECT_EQ(MUST(parse_call_url("srt://192.0.2.7:10080/")), plain);
    EXPECT_EQ(MUST(parse_call_url("srt://192.0.2.7:10080/?transtype=live&pkt_size=1316")), plain);
    EXPECT_EQ(MUST(parse_call_url("srt://[2001:db8::1]:10080")).label(), "srt://[2001:db8::1]:10080");
}

TEST(CallUrl, RefusesInvalidUrls) {
    for (const char* text : {"", "rtmp://h:1", "srt://", "srt://h", "srt://:10080", "srt://h:0", "srt://h:70000",
                             "srt://h:1?passphrase=short", "srt://h:1?pbkeylen=17", "srt://h:1?pbkeylen=", "srt://h:1?latency=x",
                             "srt://h:1?latency=200000", "srt://h:1?kmrefreshrate=many", "srt://a b:1"})
        EXPECT_EQ(parse_call_url(text).code(), Errc::malformed) << text;
    EXPECT_EQ(parse_call_url("srt://h:1?mode=listener").code(), Errc::unsupported);
    const std::string id(512, 'x');
    EXPECT_TRUE(parse_call_url("srt://h:1?streamid=" + id).ok());
    EXPECT_EQ(parse_call_url("srt://h:1?streamid=x" + id).code(), Errc::malformed);
    EXPECT_EQ(parse_call_url("srt://h:1?" + std::string(CallUrl::kBytesMax, 'x')).code(), Errc::limit);
    EXPECT_TRUE(parse_call_url("srt://h:1?latency=30000").ok());
    EXPECT_FALSE(parse_call_url("srt://h:1?latency=30001").ok());
}

TEST(CallUrl, EveryTruncationIsReadOrRefused) {
    const std::string whole = "srt://example.com:9000?streamid=#!::r=live/cam&passphrase=ten%20letters&pbkeylen=32&latency=200";
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        const auto url = parse_call_url(std::string_view(whole).substr(0, size));
        EXPECT_TRUE(!url.ok() || !url->host.empty());
    }
}

}  // namespace
}  // namespace live::session::srt
