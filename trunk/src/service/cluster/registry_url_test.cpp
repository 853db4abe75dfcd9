#include "service/cluster/registry_url.hpp"

#include <gtest/gtest.h>

namespace live::service::cluster {
namespace {

TEST(RegistryUrl, ParsesEveryForm) {
    EXPECT_EQ(MUST(parse_registry_url("redis://a.example")), (RegistryUrl{false, {{"a.example", 6379}}}));
    EXPECT_EQ(MUST(parse_registry_url("redis://192.0.2.1:7000/")), (RegistryUrl{false, {{"192.0.2.1", 7000}}}));
    EXPECT_EQ(MUST(parse_registry_url("rediss://u:p%40x@[2001:db8::1]:7000/3")),
              (RegistryUrl{true, {{"2001:db8::1", 7000}}, "", "u", "p@x", 3}));
    EXPECT_EQ(MUST(parse_registry_url("redis://:p@h")), (RegistryUrl{false, {{"h", 6379}}, "", "", "p"}));
    EXPECT_EQ(MUST(parse_registry_url("redis+sentinel://:p@a,b:1/main/2")),
              (RegistryUrl{false, {{"a", 26379}, {"b", 1}}, "main", "", "p", 2}));
}

TEST(RegistryUrl, RejectsMalformedText) {
    for (const char* text :
         {"", "redis", "redis://", "http://h", "redis://h:0", "redis://h/x", "redis://h/99999999999", "redis://a,b",
          "redis://u@h", "redis://u:@h", "redis://u:%4@h", "redis://u:%zz@h", "redis+sentinel://a", "redis+sentinel://a/",
          "redis+sentinel://a,/m", "redis+sentinel://a/m/x", "redis://h h"})
        EXPECT_EQ(parse_registry_url(text).code(), Errc::malformed) << text;
    std::string many = "redis+sentinel://h";
    for (std::size_t i = 0; i < RegistryUrl::kPlacesMax; ++i)
        many += ",h";
    EXPECT_FALSE(parse_registry_url(many + "/m").ok());
}

TEST(RegistryUrl, LabelHasNoPassword) {
    EXPECT_EQ(MUST(parse_registry_url("rediss://u:p@h/3")).label(), "rediss://h:6379/3");
    EXPECT_EQ(MUST(parse_registry_url("redis+sentinel://:p@a,b:1/m")).label(), "redis+sentinel://a:26379,b:1/m");
}

TEST(RegistryUrl, ParsesSentinelAnswer) {
    EXPECT_EQ(MUST(parse_master("2001:db8::1", "7000")), (RegistryPlace{"2001:db8::1", 7000}));
    EXPECT_FALSE(parse_master("h:1", "7000").ok());
    EXPECT_FALSE(parse_master("h", "70000").ok());
    EXPECT_FALSE(parse_master("", "1").ok());
}

}  // namespace
}  // namespace live::service::cluster
