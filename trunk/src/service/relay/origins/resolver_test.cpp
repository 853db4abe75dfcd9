#include "service/relay/origins/resolver.hpp"

#include <gtest/gtest.h>

namespace live::service::relay {
namespace {

TEST(StaticResolver, KnowsServersInSettings) {
    ClusterOptions options;
    options.origin = {"192.0.2.1", "http://192.0.2.2:8080", "rtmps://[2001:db8::1]", "o.example:19350", "no origin!"};
    const StaticResolver resolver;
    EXPECT_TRUE(resolver.knows("192.0.2.1", 1935, options));
    EXPECT_TRUE(resolver.knows("192.0.2.2", 8080, options));
    EXPECT_TRUE(resolver.knows("2001:db8::1", 443, options));
    EXPECT_TRUE(resolver.knows("o.example", 19350, options));
    EXPECT_FALSE(resolver.knows("192.0.2.1", 1985, options)) << "another port";
    EXPECT_FALSE(resolver.knows("192.0.2.3", 1935, options));
    EXPECT_FALSE(resolver.knows("192.0.2.1", 1935, {}));
}

}  // namespace
}  // namespace live::service::relay
