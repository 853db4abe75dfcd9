#include "base/net/endpoint.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

std::string all(std::string_view text) {
    const auto endpoints = parse_endpoint(text);
    if (!endpoints.ok())
        return "error";
    std::string out;
    for (const Endpoint& endpoint : *endpoints)
        out += (out.empty() ? "" : " ") + endpoint.text();
    return out;
}

TEST(Endpoint, APortAloneMeansBothFamilies) { EXPECT_EQ(all("1935"), "0.0.0.0:1935 [::]:1935"); }

TEST(Endpoint, AnAddressMeansOneEndpoint) {
    EXPECT_EQ(all("127.0.0.1:1935"), "127.0.0.1:1935");
    EXPECT_EQ(all("[::1]:65535"), "[::1]:65535");
    EXPECT_EQ(all("[::]:1"), "[::]:1");
}

TEST(Endpoint, RefusesInvalidPortsAndAddresses) {
    for (const char* text :
         {"", "0", "65536", "-1", "19 35", "1935x", ":1935", "a.b:1935", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:99999",
          "::1:1935", "[::1]", "[127.0.0.1]:80", "[]:80", "[:80", "127.0.0.1]:80", "256.0.0.1:80"})
        EXPECT_EQ(all(text), "error") << text;
}

TEST(Endpoint, RecognisesLoopback) {
    for (const char* text : {"127.0.0.1:1", "127.8.8.8:1", "[::1]:1"})
        EXPECT_TRUE(MUST(parse_endpoint(text)).front().is_loopback()) << text;
    for (const char* text : {"0.0.0.0:1", "128.0.0.1:1", "12.7.0.1:1", "[::]:1", "[::2]:1"})
        EXPECT_FALSE(MUST(parse_endpoint(text)).front().is_loopback()) << text;
}

}  // namespace
}  // namespace live
